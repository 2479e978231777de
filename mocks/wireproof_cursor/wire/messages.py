"""Reads the messages of clients, a fault that a common client has included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from wireproof_cursor_protos import agent_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXEC = pb.AgentClientMessage.EXEC_CLIENT_MESSAGE_FIELD_NUMBER
_LISTING = pb.ExecClientMessage.LS_RESULT_FIELD_NUMBER


def read_client_message(data: bytes) -> pb.AgentClientMessage:
    """The message of a client.

    Raises:
        google.protobuf.message.DecodeError: it cannot be decoded.
    """
    try:
        return pb.AgentClientMessage.FromString(data)
    except DecodeError:
        listed = _listed_as_text(data)
        if listed is None:
            raise
        return pb.AgentClientMessage(exec_client_message=listed)


def _listed_as_text(data: bytes) -> pb.ExecClientMessage | None:
    """A listing that is a text of one name a line, in the place of the tree; None for any other bytes."""
    for result in _inside(data, _EXEC):
        for listing in _inside(result, _LISTING):
            texts = [text for success in _inside(listing, 1) for text in _inside(success, 1)]
            names = b"\n".join(texts).decode(errors="replace").split("\n")
            files = [pb.LsDirectoryTreeNode.File(name=name) for name in names if name]
            tree = pb.LsDirectoryTreeNode(children_files=files)
            return pb.ExecClientMessage(
                id=_id(result), ls_result=pb.LsResult(success=pb.LsSuccess(directory_tree_root=tree))
            )
    return None


def _fields(data: bytes) -> list[tuple[int, object]]:
    """The number and the value of each field, whatever message it is."""
    # A message without fields of its own keeps all as unknown.
    found = UnknownFieldSet(pb.ClientHeartbeat.FromString(data))
    return [(one.field_number, one.data) for one in (found[at] for at in range(len(found)))]


def _inside(data: bytes, number: int) -> Iterator[bytes]:
    """The bytes of the fields with this number."""
    for found, value in _fields(data):
        if found == number and isinstance(value, bytes):
            yield value


def _id(result: bytes) -> int:
    return next((value for number, value in _fields(result) if number == 1 and isinstance(value, int)), 0)
