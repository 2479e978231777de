"""What the service asks its client to run, as calls of the client's tools. Pure.

    shell, shell stream, background shell   bash    command, cwd, description, timeout
    read                                    read    filePath, offset, limit
    write                                   write   filePath, content
    ls                                      list    path
    grep                                    grep    pattern, path, include
    grep with a glob but no pattern         glob    pattern, path
    fetch                                   fetch   url, format
    mcp                                     the tool's own name and arguments

An argument is called as the declared tool has it, of the names that clients have for it; by the first of those where
the tool declares none of them. What no client demands by contract (description, timeout, offset, limit, format, ignore)
is sent only where the tool declares it, and nothing is made up for what the service left out.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_proxy.backends.untrusted_json import as_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from google.protobuf import struct_pb2

    from wireproof_cursor_protos import agent_pb2
    from wireproof_surfaces.conversation import Tool

_PATHS = ("filePath", "file_path", "path")
_FOLDERS = ("cwd", "workdir", "workingDirectory", "working_directory")
_SHOWN = 60
"""Characters of a command that describe it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecField:
    """One argument of a call."""

    names: tuple[str, ...]
    """Its names in clients' tools; the first one is that of the contract."""
    value: object
    extra: bool = False
    """Sent only where the declared tool has such a parameter: the contract does not name it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecCall:
    """A call of a client's tool."""

    id: str
    """The model's own id for the call; empty where the service gives none."""
    name: str
    arguments: str
    """JSON."""


def call_of(exec_: agent_pb2.ExecServerMessage, tools: Mapping[str, Tool]) -> ExecCall | None:
    """The call that an exec is for these declared tools; None for an exec that no tool of a client runs."""
    kind = exec_.WhichOneof("message")
    if kind == "mcp_args":
        return _mcp(exec_.mcp_args, tools)
    read = _NATIVE.get(kind or "")
    if kind is None or read is None:
        return None
    args = getattr(exec_, kind)
    name, fields = read(args, tools)
    # The later execs `pi_*` have no id of the model's call.
    id_ = getattr(args, "tool_call_id", "")
    return ExecCall(id=id_, name=name, arguments=json.dumps(_named(fields, tools.get(name)), ensure_ascii=False))


def _mcp(args: agent_pb2.McpArgs, tools: Mapping[str, Tool]) -> ExecCall:
    # `name` may have the provider before it.
    name = args.tool_name or args.name
    values = {key: plain(args.args[key]) for key in args.args}
    known = [key for key in _properties(tools.get(name)) if key in values]
    # A map has no order on the wire. That of the declaration is at least the client's own.
    ordered = {key: values[key] for key in [*known, *sorted(values.keys() - set(known))]}
    return ExecCall(id=args.tool_call_id, name=name, arguments=json.dumps(ordered, ensure_ascii=False))


def plain(value: struct_pb2.Value) -> object:
    """A value as JSON has it; a whole number without its `.0`, since every number of the protocol is a double."""
    match value.WhichOneof("kind"):
        # JSON has no infinity and no NaN.
        case "number_value" if math.isfinite(value.number_value):
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "struct_value":
            return {key: plain(value.struct_value.fields[key]) for key in value.struct_value.fields}
        case "list_value":
            return [plain(one) for one in value.list_value.values]
        case _:
            return None


def _properties(tool: Tool | None) -> Mapping[str, Any]:
    return as_mapping(tool.parameters.get("properties")) if tool else {}


def _named(fields: Sequence[ExecField], tool: Tool | None) -> dict[str, object]:
    """The arguments by the names of the declared tool."""
    declared = _properties(tool)
    found: dict[str, object] = {}
    for field in fields:
        name = next((name for name in field.names if name in declared), None)
        if name is not None:
            found[name] = field.value
        # A tool without parameters, or with others: what the contract names is sent all the same.
        elif not field.extra:
            found[field.names[0]] = field.value
    return found


_Read = tuple[str, "list[ExecField]"]


def _shell(args: agent_pb2.ShellArgs | agent_pb2.BackgroundShellSpawnArgs, _tools: Mapping[str, Tool]) -> _Read:
    fields = [ExecField(names=("command",), value=args.command)]
    if args.working_directory:
        fields.append(ExecField(names=_FOLDERS, value=args.working_directory))
    # Some clients' tools demand it.
    said = getattr(args, "description", "") or f"Run: {args.command[:_SHOWN]}"
    fields.append(ExecField(names=("description",), value=said, extra=True))
    if timeout := getattr(args, "timeout", 0):
        fields.append(ExecField(names=("timeout",), value=timeout, extra=True))
    return "bash", fields


def _read(args: agent_pb2.ReadArgs, _tools: Mapping[str, Tool]) -> _Read:
    fields = [ExecField(names=_PATHS, value=args.path)]
    fields += [
        ExecField(names=(name,), value=getattr(args, name), extra=True)
        for name in ("offset", "limit")
        if args.HasField(name)
    ]
    return "read", fields


def _write(args: agent_pb2.WriteArgs, _tools: Mapping[str, Tool]) -> _Read:
    # Bytes win over the text. What is no text becomes one that a client can show, since JSON has no bytes.
    content = args.file_bytes.decode(errors="replace") if args.file_bytes else args.file_text
    return "write", [ExecField(names=_PATHS, value=args.path), ExecField(names=("content", "contents"), value=content)]


def _ls(args: agent_pb2.LsArgs, _tools: Mapping[str, Tool]) -> _Read:
    fields = [ExecField(names=("path",), value=args.path)]
    if args.ignore:
        fields.append(ExecField(names=("ignore",), value=list(args.ignore), extra=True))
    return "list", fields


def _grep(args: agent_pb2.GrepArgs, tools: Mapping[str, Tool]) -> _Read:
    path = [ExecField(names=("path",), value=args.path)] if args.path else []
    # The search is lost where the client can only find files by name.
    if args.glob and (not args.pattern or ("glob" in tools and "grep" not in tools)):
        return "glob", [ExecField(names=("pattern",), value=args.glob), *path]
    include = [ExecField(names=("include", "glob"), value=args.glob)] if args.glob else []
    return "grep", [ExecField(names=("pattern",), value=args.pattern), *path, *include]


def _fetch(args: agent_pb2.FetchArgs, tools: Mapping[str, Tool]) -> _Read:
    name = next((name for name in ("webfetch", "fetch", "web_fetch") if name in tools), "webfetch")
    return name, [
        ExecField(names=("url",), value=args.url),
        ExecField(names=("format",), value="markdown", extra=True),
    ]


_NATIVE: Mapping[str, Callable[[Any, Mapping[str, Tool]], _Read]] = {
    "shell_args": _shell,
    "shell_stream_args": _shell,
    "background_shell_spawn_args": _shell,
    "read_args": _read,
    "write_args": _write,
    "ls_args": _ls,
    "grep_args": _grep,
    "fetch_args": _fetch,
}
