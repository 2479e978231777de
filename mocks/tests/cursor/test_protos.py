"""The compiled messages are those of the .proto files."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import FileDescriptor
from grpc_tools import protoc  # type: ignore[import-untyped]

import wireproof_cursor_protos
from wireproof_cursor_protos import agent_pb2, aiserver_pb2

FOLDER = Path(wireproof_cursor_protos.__file__).parent
PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def compiled(name: str, into: Path) -> descriptor_pb2.FileDescriptorProto:
    """A .proto file as the compiler that is installed reads it."""
    includes = [f"-I{FOLDER.parent}", f"-I{Path(protoc.__file__).parent / '_proto'}"]
    found = into / "found.binpb"
    assert protoc.main(["protoc", *includes, "--include_imports", f"--descriptor_set_out={found}", name]) == 0
    file = descriptor_pb2.FileDescriptorSet.FromString(found.read_bytes()).file[-1]
    without_json_names(file.message_type)
    return file


def without_json_names(messages: Iterable[descriptor_pb2.DescriptorProto]) -> None:
    """The compiler derives them from the names, and leaves them out of what it writes for Python."""
    for message in messages:
        for field in message.field:
            field.ClearField("json_name")
        without_json_names(message.nested_type)


@pytest.mark.parametrize("kept", [agent_pb2.DESCRIPTOR, aiserver_pb2.DESCRIPTOR], ids=lambda file: file.package)
def test_the_compiled_messages_are_those_of_the_proto_file(kept: FileDescriptor, tmp_path: Path) -> None:
    checked_in = descriptor_pb2.FileDescriptorProto()
    kept.CopyToProto(checked_in)
    assert compiled(kept.name, tmp_path) == checked_in


@pytest.mark.parametrize("kept", [agent_pb2, aiserver_pb2], ids=lambda module: module.__name__.rpartition(".")[2])
def test_they_run_on_the_oldest_protobuf_that_is_allowed(kept: ModuleType) -> None:
    # They are refused by one that is older than the one that they were compiled for.
    (version,) = re.findall(r"^# Protobuf Python Version: (\S+)$", Path(kept.__file__ or "").read_text(), re.MULTILINE)
    allowed = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]["cursor"]
    assert f"protobuf>={version},<8" in allowed
