"""What the client is asked to run: requests by number, and their results.

Requests are numbered from 1. A request ends with its result and a `stream_close`, which not every client sends.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from google.protobuf.json_format import MessageToDict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from google.protobuf.message import Message

    from wireproof_cursor.runs.wanted import Wanted
    from wireproof_cursor_protos import agent_pb2 as pb

Json = dict[str, Any]


@dataclass(kw_only=True, slots=True)
class Exec:
    """One request."""

    number: int
    wanted: Wanted
    late: bool = False
    """The model does not wait for it."""
    result: pb.ExecClientMessage | None = None
    """The client's result; None before there is one."""
    thrown: str | None = None
    """Why the client could not run it; None if it did not say so."""
    closed: bool = False
    """Whether the client has sent `stream_close`."""
    printed: str = ""
    """What a stream of a shell has printed so far."""

    @property
    def answered(self) -> bool:
        """Whether the client has answered."""
        return self.result is not None or self.thrown is not None

    @property
    def output(self) -> str:
        """The result as text, as the model gets it."""
        if self.result is None:
            return f"Error: {self.thrown}"
        return self.printed or result_text(self.result)


class Execs:
    """The requests of one run."""

    def __init__(self) -> None:
        self._all: dict[int, Exec] = {}

    @property
    def open(self) -> list[Exec]:
        """Those that are not answered."""
        return [one for one in self._all.values() if not one.answered]

    @property
    def done(self) -> list[Exec]:
        """Those that are answered, by number."""
        return [one for one in self._all.values() if one.answered]

    @property
    def awaited(self) -> bool:
        """Whether the model waits for a result."""
        return any(not one.late for one in self.open)

    @property
    def unclosed(self) -> list[int]:
        """The numbers of those that were answered and not closed."""
        return [one.number for one in self._all.values() if one.result is not None and not one.closed]

    def number(self, number: int) -> Exec:
        """The request with this number."""
        return self._all[number]

    def abort(self) -> list[int]:
        """Take back the requests that are not answered; their numbers."""
        taken_back = self.open
        for one in taken_back:
            one.thrown = "the request was taken back"
        return [one.number for one in taken_back]

    def ask(self, wanted: Wanted, *, late: bool = False) -> Exec:
        """Number a request."""
        one = Exec(number=len(self._all) + 1, wanted=wanted, late=late)
        wanted.message.id = one.number
        wanted.message.exec_id = f"exec-{one.number}"
        self._all[one.number] = one
        return one

    def answered(self, answer: pb.ExecClientMessage) -> Iterator[str]:
        """Take a result; what is wrong with it."""
        one = self._all.get(answer.id)
        kind = answer.WhichOneof("message")
        if one is None:
            yield f"exec_client_message {answer.id}: no request has that id"
        elif one.answered:
            yield f"exec_client_message {answer.id}: the request was answered already"
        elif kind is None:
            yield f"exec_client_message {answer.id} holds no result"
        else:
            yield from self._take(one, answer, kind)

    def _take(self, one: Exec, answer: pb.ExecClientMessage, kind: str) -> Iterator[str]:
        asked = str(one.wanted.message.WhichOneof("message"))
        if kind not in _results(asked):
            yield f"exec_client_message {answer.id} answers {asked} with {kind}"
        if answer.exec_id and answer.exec_id != one.wanted.message.exec_id:
            yield f"exec_client_message {answer.id} has the exec_id {answer.exec_id!r} of another request"
        if kind == "shell_stream" and not _ends(answer.shell_stream):
            one.printed += answer.shell_stream.stdout.data + answer.shell_stream.stderr.data
            return
        result = getattr(answer, kind)
        if kind != "shell_stream" and result.WhichOneof("result") is None:
            yield f"exec_client_message {answer.id}: the {kind} says nothing"
        one.result = answer

    def controlled(self, control: pb.ExecClientControlMessage) -> str:
        """Take a control message; what is wrong with it, "" if nothing is."""
        kind = control.WhichOneof("message")
        if kind is None:
            return "exec_client_control_message holds nothing"
        given = getattr(control, kind)
        one = self._all.get(given.id)
        if one is None:
            return f"{kind} {given.id}: no request has that id"
        match kind:
            case "throw":
                one.thrown = control.throw.error or "the client could not run it"
            case "stream_close" if one.closed:
                return f"stream_close {given.id}: the request was closed already"
            case "stream_close":
                one.closed = True
                if not one.answered:
                    one.thrown = "the client closed the request without a result"
                    return f"stream_close {given.id} comes before the result"
        return ""


def _results(asked: str) -> frozenset[str]:
    """The results that answer a request."""
    plain = f"{asked.removesuffix('_args')}_result"
    # Some clients answer a stream of a shell with the result of a shell.
    return frozenset({"shell_stream", "shell_result"} if asked == "shell_stream_args" else {plain})


def _ends(stream: pb.ShellStream) -> bool:
    return stream.WhichOneof("event") in {"exit", "rejected", "permission_denied", "backgrounded"}


def result_text(answer: pb.ExecClientMessage) -> str:
    """The result as text, for the model."""
    kind = str(answer.WhichOneof("message"))
    return _TEXTS.get(kind, _as_json)(getattr(answer, kind))


def _as_json(result: Message) -> str:
    return json.dumps(MessageToDict(result, preserving_proto_field_name=True), ensure_ascii=False)


def _mcp_text(result: pb.McpResult) -> str:
    if not result.HasField("success"):
        return _as_json(result)
    return "\n".join(item.text.text for item in result.success.content if item.HasField("text"))


def _read_text(result: pb.ReadResult) -> str:
    return result.success.content if result.HasField("success") else _as_json(result)


def _shell_text(result: pb.ShellResult) -> str:
    ended = result.success if result.HasField("success") else result.failure if result.HasField("failure") else None
    return f"{ended.stdout}{ended.stderr}" if ended is not None else _as_json(result)


def _ls_text(result: pb.LsResult) -> str:
    if not result.HasField("success"):
        return _as_json(result)
    root = result.success.directory_tree_root
    return "\n".join([*(f"{one.abs_path}/" for one in root.children_dirs), *(one.name for one in root.children_files)])


_TEXTS: Mapping[str, Callable[[Any], str]] = {
    "mcp_result": _mcp_text,
    "ls_result": _ls_text,
    "read_result": _read_text,
    "shell_result": _shell_text,
}
