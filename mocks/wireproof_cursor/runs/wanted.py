"""What requests to the client want: for each step that is a tool call, the request and what is announced of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value

from wireproof_cursor.wire.protobuf import field
from wireproof_cursor_protos import agent_pb2 as pb
from wireproof_scripts.json_text import parse_json
from wireproof_scripts.steps import cursor as steps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_cursor.runs.conversation import DeclaredTool
    from wireproof_scripts.steps import Call
    from wireproof_scripts.steps.cursor import Exec

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What one request wants of the client."""

    message: pb.ExecServerMessage
    """The request, without its number."""
    name: str
    """The tool, as the history names it."""
    arguments: str = "{}"
    """Its arguments as JSON, for the history."""
    call_id: str = ""
    """The id of the tool call; empty for a request that is not a tool call."""
    call: pb.ToolCall | None = None
    """What is announced; None if nothing is."""


def mcp(call: Call, tool: DeclaredTool | None) -> Wanted:
    """A call of a tool that the client declares; of one that it does not, the client has to say so."""
    args = {key: ParseDict(value, Value()) for key, value in parse_json(call.arguments).items()}
    wanted = pb.McpArgs(
        name=tool.definition.name if tool else call.name,
        args=args,
        tool_call_id=call.id,
        provider_identifier=tool.definition.provider_identifier if tool else "",
        tool_name=call.name,
    )
    return Wanted(
        call_id=call.id,
        name=call.name,
        arguments=call.arguments,
        message=pb.ExecServerMessage(mcp_args=wanted),
        call=pb.ToolCall(mcp_tool_call=pb.McpToolCall(args=wanted)),
    )


def context() -> Wanted:
    """The request for the context of the client, which holds its tools."""
    message = pb.ExecServerMessage(request_context_args=pb.RequestContextArgs())
    return Wanted(name="request_context", message=message)


def unknown(step: steps.UnknownExec) -> Wanted:
    """A request that no client can know."""
    return Wanted(name="unknown", message=pb.ExecServerMessage.FromString(field(step.number, b"")))


def own_tool(step: Exec) -> Wanted:
    """A call of one of the service's own tools."""
    message, call = _REQUESTS[type(step)](step)
    args = {name: getattr(step, name) for name in step.__slots__ if name != "id"}
    return Wanted(
        call_id=step.id,
        name=type(step).__name__.lower(),
        arguments=json.dumps(args, ensure_ascii=False),
        message=message,
        call=call,
    )


_Request = tuple[pb.ExecServerMessage, pb.ToolCall | None]


def _request(kind: str, step: Exec, tool: str = "", announced: Json | None = None, **args: object) -> _Request:
    """A request with these arguments, and its announcement: as another tool or with other arguments, if they are given.

    A member that is None is left out.
    """
    given = {**args, "tool_call_id": step.id}
    message = pb.ExecServerMessage(**{f"{kind}_args": given})  # type: ignore[arg-type]
    return message, pb.ToolCall(**{f"{tool or kind}_tool_call": {"args": announced or given}})  # type: ignore[arg-type]


def _shell(step: steps.Shell) -> _Request:
    kind = "shell_stream" if step.stream else "shell"
    return _request(kind, step, "shell", command=step.command, working_directory=step.cwd, timeout=step.timeout)


def _read(step: steps.Read) -> _Request:
    args: Json = {"path": step.path, "offset": step.offset, "limit": step.limit}
    return _request("read", step, announced=args, **args)


def _write(step: steps.Write) -> _Request:
    args = pb.WriteArgs(path=step.path, tool_call_id=step.id, return_file_content_after_write=True)
    if step.as_bytes:
        args.file_bytes = step.text.encode()
    else:
        args.file_text = step.text
    # The service announces an edit, at which some clients answer its requests by themselves: that is not played.
    return pb.ExecServerMessage(write_args=args), None


def _grep(step: steps.Grep) -> _Request:
    return _request(
        "grep",
        step,
        pattern=step.pattern,
        path=step.path or None,
        glob=step.glob or None,
        output_mode=step.mode,
        case_insensitive=step.ignore_case or None,
    )


def _glob(step: steps.Glob) -> _Request:
    announced = {"target_directory": step.path, "glob_pattern": step.pattern}
    args: Json = {"path": step.path or None, "glob": step.pattern, "output_mode": "files_with_matches"}
    return _request("grep", step, "glob", announced, **args)


_REQUESTS: Mapping[type[Exec], Callable[[Any], _Request]] = {
    steps.Shell: _shell,
    steps.Read: _read,
    steps.Write: _write,
    steps.Delete: lambda step: _request("delete", step, path=step.path),
    steps.Ls: lambda step: _request("ls", step, path=step.path, ignore=step.ignore),
    steps.Grep: _grep,
    steps.Glob: _glob,
    steps.Fetch: lambda step: _request("fetch", step, url=step.url),
}


def with_result(call: pb.ToolCall, result: pb.ExecClientMessage | None) -> pb.ToolCall:
    """What is announced when a call is over: with its result, where it has the type of the announcement."""
    kind = result.WhichOneof("message") if result is not None else None
    if kind is None:
        return call
    over = pb.ToolCall()
    over.CopyFrom(call)
    announced, given = getattr(over, str(over.WhichOneof("tool"))), getattr(result, kind)
    match given:
        case pb.ReadResult() if isinstance(announced, pb.ReadToolCall) and given.HasField("success"):
            found = given.success
            announced.result.success.MergeFrom(
                pb.ReadToolSuccess(content=found.content, total_lines=max(found.total_lines, 0), path=found.path)
            )
        case pb.McpResult() if isinstance(announced, pb.McpToolCall) and given.HasField("success"):
            announced.result.success.CopyFrom(given.success)
        case _ if announced.DESCRIPTOR.fields_by_name["result"].message_type is given.DESCRIPTOR:
            announced.result.CopyFrom(given)
    return over
