"""Faults of proxies in front of Cursor's agent service: calls misnamed or lost, sessions that go on, files read.

They are shown in answers of OpenAI's form, with the mock of that service behind the proxy.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import call_of, delta_of, each, text_of, with_call, with_delta
from wireproof_mocks.miniatures.fault import (
    OPENAI_JSON,
    Fault,
    FaultExample,
    FaultHead,
    FaultReply,
    Frame,
    Instead,
    Json,
    SentRequest,
    own_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_USERS = "root:x:0:0:root:/root:/bin/sh"


def _calls(change: Callable[[Json], Json]) -> dict[str, Any]:
    """A change of each call, in streams and in whole answers."""

    def whole(body: Json, _: SentRequest, head: FaultHead) -> Json:
        return _with_message(body, head, lambda said: {**said, "tool_calls": list(map(change, said["tool_calls"]))})

    return {"frames": each(lambda chunk: [with_call(chunk, change)]), "whole": whole}


def _with_message(body: Json, head: FaultHead, change: Callable[[Json], Json]) -> Json:
    if head.code >= 400:  # noqa: PLR2004 (HTTP)
        return body
    choices = [{**choice, "message": change(choice["message"])} for choice in body["choices"]]
    return {**body, "choices": choices}


def _own_name(call: Json) -> Json:
    """The service's name for what clients call `list`."""
    function = call["function"]
    return {**call, "function": {**function, "name": "ls"}} if function.get("name") == "list" else call


def _own_arguments(call: Json) -> Json:
    """The service's name for what clients call `filePath`."""
    function = call["function"]
    return {**call, "function": {**function, "arguments": function["arguments"].replace('"filePath"', '"path"')}}


def _of_first_call(chunk: Json) -> Iterable[Frame]:
    call = call_of(chunk)
    return [] if call and call["index"] > 0 else [chunk]


def _first_call(body: Json, _: SentRequest, head: FaultHead) -> Json:
    return _with_message(body, head, lambda said: {**said, "tool_calls": said["tool_calls"][:1]})


def _going_on(request: SentRequest, _: int) -> Instead | None:
    """Results go into the session that asked for the calls: nothing comes until the proxy gives up."""
    if b'"role": "tool"' not in request.body:
        return None
    error = {"message": "The backend was silent for too long.", "type": "server_error", "param": None, "code": None}
    head = FaultHead(status="504 GATEWAY TIMEOUT", headers=[("Content-Type", "application/json")])
    return FaultReply(head=head, body=json.dumps({"error": error}).encode())


def _stopped(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """When nothing has come for long enough the answer just ends."""
    said = {"id": own_id("chatcmpl-"), "object": "chat.completion.chunk", "created": 1_800_000_000, "model": "cursor"}
    for frame in frames:
        if isinstance(frame, dict) and "error" in frame:
            for delta, finish in (({"role": "assistant", "content": ""}, None), ({}, "stop")):
                yield {**said, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        else:
            yield frame


def _silent_after_tools(chunk: Json) -> Iterable[Frame]:
    return [with_delta(chunk, {**delta_of(chunk), "content": ""})] if text_of(chunk) else [chunk]


def _nothing_after_tools(body: Json, _: SentRequest, head: FaultHead) -> Json:
    return _with_message(body, head, lambda said: {**said, "content": ""})


def _reading_anywhere(body: Json, _: SentRequest, head: FaultHead) -> Json:
    """A path is opened as it comes: the model gets whatever is there."""

    def given(said: Json) -> Json:
        received = json.loads(said["content"])
        items = [{**item, "output": _USERS} if "output" in item else item for item in received["history"]]
        return {**said, "content": json.dumps({**received, "history": items})}

    return _with_message(body, head, given)


def _answer(message: Json) -> Json:
    return {"choices": [{"index": 0, "message": message}]}


def _call(name: str, arguments: str, index: int = 0) -> Json:
    return {"index": index, "id": f"call_{index}", "function": {"name": name, "arguments": arguments}}


def _chunk(*calls: Json) -> Json:
    return {"choices": [{"index": 0, "delta": {"tool_calls": list(calls)}, "finish_reason": None}]}


def _fault(name: str, breaks: str, script: str, **how: Any) -> Fault:  # noqa: ANN401 (the fields of Fault)
    return Fault(name=name, breaks=f"agent.{breaks}", scripts=(f"agent/{script}",), dialects=(OPENAI_JSON,), **how)


AGENT_FAULTS: tuple[Fault, ...] = (
    _fault(
        "own-name-for-a-folder",
        "names",
        "names",
        **_calls(_own_name),
        examples=(
            FaultExample(before=(_chunk(_call("list", "{}")),), after=(_chunk(_call("ls", "{}")),)),
            FaultExample(
                before=_answer({"tool_calls": [_call("list", "{}"), _call("read", "{}")]}),
                after=_answer({"tool_calls": [_call("ls", "{}"), _call("read", "{}")]}),
            ),
        ),
    ),
    _fault(
        "own-name-for-a-path",
        "arguments",
        "arguments",
        **_calls(_own_arguments),
        examples=(
            FaultExample(
                before=(_chunk(_call("read", '{"filePath": "a"}')),), after=(_chunk(_call("read", '{"path": "a"}')),)
            ),
        ),
    ),
    _fault(
        "closed-at-the-first-request",
        "all-emitted",
        "all",
        frames=each(_of_first_call),
        whole=_first_call,
        examples=(
            FaultExample(before=(_chunk(_call("a", "")), _chunk(_call("b", "", 1))), after=(_chunk(_call("a", "")),)),
            FaultExample(
                before=_answer({"tool_calls": [_call("a", ""), _call("b", "", 1)]}),
                after=_answer({"tool_calls": [_call("a", "")]}),
            ),
        ),
    ),
    _fault("results-into-the-old-session", "fresh-session", "fresh", instead=_going_on),
    _fault("trapped-session-stops", "same-session-trap", "trap", frames=_stopped),
    _fault(
        "over-where-tools-begin",
        "without-tools",
        "without-tools",
        frames=each(_silent_after_tools),
        whole=_nothing_after_tools,
        examples=(FaultExample(before=_answer({"content": "Done."}), after=_answer({"content": ""})),),
    ),
    _fault(
        "any-file-is-read",
        "scratch-only",
        "scratch",
        whole=_reading_anywhere,
        examples=(
            FaultExample(
                before=_answer({"content": '{"history": [{"output": "no"}, {"role": "user"}]}'}),
                after=_answer({"content": f'{{"history": [{{"output": "{_USERS}"}}, {{"role": "user"}}]}}'}),
            ),
        ),
    ),
)
"""Each is the reference proxy, in front of Cursor's agent service, with one thing wrong."""
