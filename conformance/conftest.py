"""Exchanges made by hand for tests: the bytes of a response to a real scenario, read as the judge reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from wireproof.model.dialect import Dialect, Surface
from wireproof.model.scenario import ConversationScenario, Form, Mode, Scenario
from wireproof.model.target import Backend, Target
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.reading.exchange import Exchange, read
from wireproof.reading.expected import Expected, ExpectedCall, ExpectedFailure
from wireproof.reading.right_answers import answers_to
from wireproof.requests.conversation import prepare
from wireproof.scenarios import CONVERSATIONS, SCENARIOS
from wireproof.wire import textual

Frame = bytes | str | Mapping[str, Any]
Headers = Mapping[str, str]
Make = Callable[..., Exchange]

NAMED = {scenario.name: scenario for scenario in SCENARIOS}
CONVERSED = {scenario.name: scenario for scenario in CONVERSATIONS}
OPENAI = (Dialect.OPENAI_JSON,)
TARGET = Target(base_url="http://127.0.0.1:1/v1", model="codex", api_key="k", keepalive=0.5, dialects=OPENAI)
LIVE = Target(base_url="http://127.0.0.1:1/v1", model="codex", api_key="k", backend=Backend.LIVE, dialects=OPENAI)
DONE = b"data: [DONE]\n\n"
REFUSAL = b'{"error": {"message": "The backend failed.", "type": "server_error", "param": null, "code": null}}'
AS_STREAM = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
    "Connection": "keep-alive",
}
AS_JSON = {"Content-Type": "application/json"}
_IDS = {
    Surface.CHAT: re.compile(rb'("id": "chatcmpl-[12])"'),
    Surface.RESPONSES: re.compile(rb'("id": "resp_1)"'),
    Surface.MESSAGES: re.compile(rb'("id": "msg_1)"'),
}
"""Surface → the id of the answers that are made here, and none that a test has changed."""


@dataclass(frozen=True, kw_only=True)
class How:
    """How a response came: to which exchange, and with what around its body."""

    status: int | None = 200
    headers: Headers
    end: End = End.COMPLETE
    number: int = 0
    target: Target = TARGET
    live: bool = False
    dialect: Dialect = Dialect.OPENAI_JSON


def _exchange(name: str | Scenario, mode: Mode, pieces: Sequence[bytes], how: How) -> Exchange:
    scenario = NAMED[name] if isinstance(name, str) else name
    form = Form(how.dialect, mode)
    # No two answers of a run have one id.
    own = f'-{scenario.name}-{how.number}-{form.dialect}-{mode}"'.encode()
    pieces = [_IDS[how.dialect.spec.surface].sub(lambda id_: id_[1] + own, piece) for piece in pieces]
    transcript = _transcript(scenario, form, pieces, how)
    turn, wanted = None, tuple[Expected, ...]()
    if isinstance(scenario, ConversationScenario):
        turn, wanted = scenario.turns[how.number], () if how.live else answers_to(scenario, how.number, form)
    return Exchange(
        scenario=scenario,
        number=how.number,
        turn=turn,
        form=form,
        target=LIVE if how.live else how.target,
        transcript=transcript,
        reading=read(transcript, form) if turn else None,
        wanted=wanted,
    )


def _transcript(scenario: Scenario, form: Form, pieces: Sequence[bytes], how: How) -> Transcript:
    body = b""
    if isinstance(scenario, ConversationScenario):
        body = prepare(scenario, scenario.turns[0], form=form, model="codex", nonce="n", history=()).body
    return Transcript(
        method="POST",
        url=TARGET.url("/chat/completions"),
        request_headers=(),
        request_body=body,
        status=how.status,
        headers=tuple(how.headers.items()),
        pieces=tuple(Piece(at=0.1 * number, data=data) for number, data in enumerate(pieces)),
        end=how.end,
        seconds=1.25,
    )


# Bytes


def _frame(frame: Frame) -> bytes:
    """Bytes as they are; a text as a delta of content; else a delta, whose `finish` is the finish_reason.

    The `choice` of a delta is the index of its choice.
    """
    if isinstance(frame, bytes):
        return frame
    delta = {"content": frame} if isinstance(frame, str) else dict(frame)
    finish, choice = delta.pop("finish", None), delta.pop("choice", 0)
    return _chunk(choices=[{"index": choice, "delta": delta, "finish_reason": finish}])


def _chunk(**members: object) -> bytes:
    envelope = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "codex"}
    return b"data: " + json.dumps({**envelope, **members}, ensure_ascii=False).encode() + b"\n\n"


def _counts(usage: Sequence[int]) -> dict[str, int]:
    prompt, completion, *total = usage
    made = total[0] if total else prompt + completion
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": made}


def _usage_chunk(*usage: int) -> bytes:
    return _chunk(choices=[], usage=_counts(usage))


def _opened(index: int, call_id: str, name: str, arguments: str = "") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]}


def _completion(
    content: str | None = None,
    finish: str | None = "stop",
    *,
    calls: Sequence[tuple[str, str, str]] = (),
    usage: Sequence[int] | None = None,
) -> dict[str, Any]:
    return {
        "id": "chatcmpl-2",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "codex",
        "choices": [_entry(0, content, finish, _tool_calls(calls))],
        **({"usage": _counts(usage)} if usage else {}),
    }


def _entry(index: int, content: str | None, finish: str | None, calls: Mapping[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "refusal": None, **calls}
    return {"index": index, "message": message, "finish_reason": finish, "logprobs": None}


def _tool_calls(calls: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    made = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return {"tool_calls": made} if made else {}


# Responses


def _response(status: str = "completed", output: Sequence[Mapping[str, Any]] = (), **members: object) -> dict[str, Any]:
    """A response object; usage and reasons are `members`."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": status,
        "model": "codex",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **members,
    }


def _message_item(text: str, index: int = 0) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": f"msg_{index}", "role": "assistant", "status": "completed", "content": [part]}


def _call_item(call_id: str, name: str, arguments: str, index: int = 0) -> dict[str, Any]:
    named = {"id": f"fc_{index}", "call_id": call_id, "name": name}
    return {"type": "function_call", **named, "arguments": arguments, "status": "completed"}


def _item_events(index: int, item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The events of one item; its text or arguments are one delta, if there are any."""
    place = {"item_id": item["id"], "output_index": index}
    if item["type"] == "message":
        part = item["content"][0]
        begun, text = {**item, "status": "in_progress", "content": []}, part["text"]
        place |= {"content_index": 0}
        inner = [
            {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
            *([{"type": "response.output_text.delta", **place, "delta": text, "logprobs": []}] if text else []),
            {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
            {"type": "response.content_part.done", **place, "part": part},
        ]
    else:
        begun, text = {**item, "status": "in_progress", "arguments": ""}, item["arguments"]
        stem = "response.function_call_arguments"
        inner = [
            *([{"type": f"{stem}.delta", **place, "delta": text}] if text else []),
            {"type": f"{stem}.done", **place, "arguments": text},
        ]
    added = {"type": "response.output_item.added", "output_index": index, "item": begun}
    return [added, *inner, {"type": "response.output_item.done", "output_index": index, "item": dict(item)}]


def _response_events(response: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The events of a response, without their numbers."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None, "error": None}
    begun["incomplete_details"] = None
    items = [event for index, item in enumerate(response["output"]) for event in _item_events(index, item)]
    return [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        *items,
        {"type": f"response.{response['status']}", "response": dict(response)},
    ]


def _event_frames(events: Sequence[Mapping[str, Any] | bytes]) -> list[bytes]:
    """Events as frames, numbered where they bear no number; bytes as they are."""
    frames, number = [], 0
    for event in events:
        if isinstance(event, bytes):
            frames.append(event)
            continue
        data = json.dumps({"sequence_number": number, **event}, ensure_ascii=False)
        frames.append(f"event: {event['type']}\ndata: {data}\n\n".encode())
        number += 1
    return frames


_ENDS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "length": ("incomplete", {"incomplete_details": {"reason": "max_output_tokens"}}),
    "content_filter": ("incomplete", {"incomplete_details": {"reason": "content_filter"}}),
}


def _right_response(wanted: Expected, name: str, number: int) -> dict[str, Any]:
    """The right response to a turn of a scenario; it repeats what the request set."""
    texts = [_message_item(wanted.text)] if wanted.text else []
    calls = [_call_item(*call, len(texts) + number) for number, call in enumerate(_named(wanted.calls))]
    status, members = _ENDS.get(wanted.finish or "", ("completed", {}))
    if wanted.failure is ExpectedFailure.AFTER_TEXT:
        status, members = "failed", {"error": {"code": "server_error", "message": "The backend failed."}}
    prompt, completion = _reported([wanted])
    usage = {
        "input_tokens": prompt,
        "input_tokens_details": {
            "cached_tokens": wanted.usage.cached if wanted.usage else 0,
            "cache_write_tokens": 0,
        },
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": wanted.usage.reasoning if wanted.usage else 0},
        "total_tokens": prompt + completion,
    }
    asked = CONVERSED[name].added(CONVERSED[name].turns[number])
    repeated = {member: asked[member] for member in asked.keys() & _REPEATED}
    tools = [{"type": "function", "strict": False, **tool["function"]} for tool in CONVERSED[name].tools]
    return _response(status, [*texts, *calls], usage=usage, tools=tools, **members, **repeated)


_REPEATED = {"instructions", "max_output_tokens", "metadata", "parallel_tool_calls", "temperature", "top_p"}


# Messages


_WORDS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
"""Finish reason → stop reason."""
_FAILED_EVENT: dict[str, Any] = {"type": "error", "error": {"type": "api_error", "message": "The backend failed."}}


def _message_error(status: int, message: str = "The backend failed.") -> bytes:
    """The body of an error with this status."""
    type_ = {400: "invalid_request_error", 429: "rate_limit_error"}.get(status, "api_error")
    return json.dumps({"type": "error", "error": {"type": type_, "message": message}}).encode()


def _right_message(wanted: Expected, calls: Sequence[tuple[str, str, str]], counts: tuple[int, int]) -> dict[str, Any]:
    """The message of a right answer: its calls are (id, name, arguments)."""
    texts = [{"type": "text", "text": wanted.text}] if wanted.text else []
    uses = [
        {"type": "tool_use", "id": id_, "name": name, "input": json.loads(arguments or "{}")}
        for id_, name, arguments in calls
    ]
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "codex", "content": [*texts, *uses],
        "stop_reason": "stop_sequence" if wanted.stop else _WORDS[wanted.finish or "stop"],
        "stop_sequence": wanted.stop or None, "usage": _message_usage(*counts),
    }  # fmt: skip


def _message_events(
    whole: Mapping[str, Any], failure: ExpectedFailure = ExpectedFailure.NONE
) -> Iterator[dict[str, Any]]:
    """The events of a message; of one that fails late, what came before and the error."""
    unended: dict[str, Any] = {"content": [], "stop_reason": None, "stop_sequence": None}
    begun = {**whole, **unended, "usage": {**whole["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(whole["content"]):
        yield from _block_events(index, block)
    if failure in {ExpectedFailure.AFTER_TEXT, ExpectedFailure.IN_CALL}:
        yield _FAILED_EVENT
        return
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": whole["stop_sequence"]}
    yield {"type": "message_delta", "delta": ended, "usage": whole["usage"]}
    yield {"type": "message_stop"}


def _block_events(index: int, block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    begun: dict[str, Any]
    if block["type"] == "text":
        begun, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        begun = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"], ensure_ascii=False)}
    yield {"type": "content_block_start", "index": index, "content_block": begun}
    yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _named_frames(said: Iterable[Mapping[str, Any]]) -> list[bytes]:
    """Events as frames."""
    return [f"event: {one['type']}\ndata: {json.dumps(one, ensure_ascii=False)}\n\n".encode() for one in said]


def _message_usage(prompt: int, completion: int) -> dict[str, Any]:
    cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {"input_tokens": prompt, "output_tokens": completion, **cached}


# The right answers


def _arguments(call: ExpectedCall) -> str:
    """The arguments of a call: the model's own, or what a block says as compact JSON (contract §9)."""
    block = textual.read_block(call.block)
    if call.exact or block is None:
        return call.arguments
    members = (f"{json.dumps(key)}:{_meant(value)}" for key, value in block.arguments.items())
    return "{" + ",".join(members) + "}"


def _meant(value: str) -> str:
    """The JSON that the text of an element means; numbers keep their spelling."""
    try:
        meant = json.loads(value)
    except ValueError:
        meant = value
    if isinstance(meant, dict | list):
        return json.dumps(meant, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(value, ensure_ascii=False) if isinstance(meant, str) else value


def _named(calls: Sequence[ExpectedCall]) -> list[tuple[str, str, str]]:
    return [(call.id or f"call_{number}", call.name, _arguments(call)) for number, call in enumerate(calls)]


def _legacy(calls: Sequence[ExpectedCall]) -> dict[str, Any]:
    return {"function_call": {"name": calls[0].name, "arguments": _arguments(calls[0])}} if calls else {}


def _deltas(wanted: Expected, dialect: Dialect) -> list[Frame]:
    """The deltas of one choice between its role and what ends it."""
    frames: list[Frame] = [wanted.text] if wanted.text else []
    if dialect.spec.functions:
        return [*frames, *([_legacy(wanted.calls)] if wanted.calls else [])]
    for index, call in enumerate(_named(wanted.calls)):
        frames.append(_opened(index, *call))
        frames += [("\n" if index else "") + block for block in wanted.blocks[index : index + 1]]
    return frames


def _of_choice(index: int, frame: Frame) -> Frame:
    """A delta of another choice than the first."""
    if isinstance(frame, bytes):
        return frame
    return {**({"content": frame} if isinstance(frame, str) else frame), "choice": index}


def _message(index: int, wanted: Expected, dialect: Dialect) -> dict[str, Any]:
    """One choice of a whole answer."""
    content = "\n".join(wanted.blocks) or (None if wanted.calls else wanted.text)
    calls = _legacy(wanted.calls) if dialect.spec.functions else _tool_calls(_named(wanted.calls))
    return _entry(index, content, wanted.finish, calls)


def _reported(wanted: Sequence[Expected]) -> tuple[int, int]:
    """The counts of an answer; any will do where the backend reports none."""
    counts = [one.usage for one in wanted if one.usage]
    return (sum(one.input for one in counts), sum(one.output for one in counts)) if counts else (11, 7)


# Fixtures


@pytest.fixture(scope="session")
def stream() -> Make:
    """A streamed answer to a scenario: its frames, between the role and [DONE] unless it is `bare`; see `How`."""

    def exchange(name: str | Scenario, *frames: Frame, bare: bool = False, **how: Any) -> Exchange:  # noqa: ANN401 (see How)
        all_frames = frames if bare else ({"role": "assistant", "content": ""}, *frames, DONE)
        return _exchange(name, Mode.STREAM, [_frame(one) for one in all_frames], How(**{"headers": AS_STREAM, **how}))

    return exchange


@pytest.fixture(scope="session")
def whole() -> Make:
    """A whole answer to a scenario: `_completion` makes its body, members of which may `change`; see `How`."""

    def exchange(
        name: str | Scenario,
        *members: str | None,
        change: Mapping[str, Any] | None = None,
        calls: Sequence[tuple[str, str, str]] = (),
        usage: Sequence[int] | None = (11, 7),
        **how: Any,  # noqa: ANN401 (see How)
    ) -> Exchange:
        said = {**_completion(*members, calls=calls, usage=usage), **(change or {})}
        body = json.dumps(said, ensure_ascii=False).encode()
        return _exchange(name, Mode.WHOLE, [body], How(**{"headers": AS_JSON, **how}))

    return exchange


@pytest.fixture(scope="session")
def response() -> Callable[..., dict[str, Any]]:
    """A response object: status, output items, members."""
    return _response


@pytest.fixture(scope="session")
def message_item() -> Callable[..., dict[str, Any]]:
    """An output item of text: text, number."""
    return _message_item


@pytest.fixture(scope="session")
def call_item() -> Callable[..., dict[str, Any]]:
    """An output item of a call: call_id, name, arguments, number."""
    return _call_item


@pytest.fixture(scope="session")
def response_events() -> Callable[..., list[dict[str, Any]]]:
    """The events of a response."""
    return _response_events


@pytest.fixture(scope="session")
def event_frames() -> Callable[..., list[bytes]]:
    """Events as frames."""
    return _event_frames


@pytest.fixture(scope="session")
def plain() -> Make:
    """A whole response of any bytes; to a plain request, too."""

    def exchange(name: str, status: int | None, body: bytes = b"", **how: Any) -> Exchange:  # noqa: ANN401 (see How)
        return _exchange(name, Mode.WHOLE, [body], How(**{"headers": AS_JSON, **how}, status=status))

    return exchange


@pytest.fixture(scope="session")
def error_body() -> Callable[..., bytes]:
    """The envelope of an error, with members changed."""

    def body(**change: object) -> bytes:
        right = {"message": "No.", "type": "invalid_request_error", "param": None, "code": None}
        return json.dumps({"error": {**right, **change}}).encode()

    return body


@pytest.fixture(scope="session")
def call() -> Callable[..., Mapping[str, Any]]:
    """The delta that opens a call: index, id, name, arguments."""
    return _opened


@pytest.fixture(scope="session")
def fragment() -> Callable[..., Mapping[str, Any]]:
    """The delta that goes on with a call: index, text."""
    return lambda index, text: {"tool_calls": [{"index": index, "function": {"arguments": text}}]}


@pytest.fixture(scope="session")
def usage_chunk() -> Callable[..., bytes]:
    """The usage chunk of a stream: prompt, completion, and their sum unless it is given."""
    return _usage_chunk


@pytest.fixture(scope="session")
def error_frame() -> bytes:
    """The error frame of a stream."""
    return b"data: " + REFUSAL + b"\n\n"


def _failure(name: str) -> int:
    """The status of a backend's failure: its own limit of requests is one of the proxy's."""
    return 429 if "http.error.rate-limit" in CONVERSED[name].exercises else 502


def _unmet(scenario: ConversationScenario, surface: Surface) -> bytes:
    """The refusal of what a scenario demands and a backend does not do."""
    if surface is Surface.MESSAGES:
        return _message_error(400, f"{scenario.refusable}: No.")
    error = {"message": "No.", "type": "invalid_request_error", "param": scenario.refusable, "code": None}
    return json.dumps({"error": error}).encode()


def _refusal(status: int, surface: Surface) -> bytes:
    """The error of a backend that failed, in the form of a surface."""
    return _message_error(status) if surface is Surface.MESSAGES else REFUSAL


@pytest.fixture(scope="session")
def right_stream(stream: Make, error_frame: bytes) -> Make:
    """The right streamed answer to a turn of a scenario that the mock backend answers."""

    def exchange(name: str, number: int = 0, *, dialect: Dialect = Dialect.OPENAI_JSON, **how: Any) -> Exchange:  # noqa: ANN401 (see How)
        wanted = answers_to(CONVERSED[name], number, Form(dialect, Mode.STREAM))
        if wanted[0].failure in {ExpectedFailure.BEFORE_OUTPUT, ExpectedFailure.SILENT}:
            how = {"status": _failure(name), "headers": AS_JSON, **how}
            refusal = _refusal(_failure(name), dialect.spec.surface)
            return stream(name, refusal, bare=True, number=number, dialect=dialect, **how)
        if wanted[0].failure is ExpectedFailure.UNMET:
            how = {"status": 400, "headers": AS_JSON, **how}
            return stream(
                name, _unmet(CONVERSED[name], dialect.spec.surface), bare=True, number=number, dialect=dialect, **how
            )
        if dialect.spec.surface is Surface.RESPONSES:
            events = _event_frames(_response_events(_right_response(wanted[0], name, number)))
            return stream(name, *events, bare=True, number=number, dialect=dialect, **how)
        if dialect.spec.surface is Surface.MESSAGES:
            said = _right_message(wanted[0], _named(wanted[0].calls), _reported(wanted))
            events = _named_frames(_message_events(said, wanted[0].failure))
            return stream(name, *events, bare=True, number=number, dialect=dialect, **how)
        frames: list[Frame] = []
        for index, one in enumerate(wanted):
            begun = [{"role": "assistant"}] if index else []
            of_choice = [*begun, *_deltas(one, dialect), *([{"finish": one.finish}] if one.finish else [error_frame])]
            frames += [_of_choice(index, frame) for frame in of_choice]
        if CONVERSED[name].usage and wanted[0].usage:
            frames.append(_usage_chunk(*_reported(wanted)))
        return stream(name, *frames, number=number, dialect=dialect, **how)

    return exchange


@pytest.fixture(scope="session")
def right_whole(whole: Make, plain: Make) -> Make:
    """The right whole answer to a turn of a scenario that the mock backend answers."""

    def exchange(name: str, number: int = 0, *, dialect: Dialect = Dialect.OPENAI_JSON, **how: Any) -> Exchange:  # noqa: ANN401 (see How)
        wanted = answers_to(CONVERSED[name], number, Form(dialect, Mode.WHOLE))
        if wanted[0].failure in {ExpectedFailure.BEFORE_OUTPUT, ExpectedFailure.SILENT}:
            refusal = _refusal(_failure(name), dialect.spec.surface)
            return plain(name, _failure(name), refusal, number=number, dialect=dialect, **how)
        if wanted[0].failure is ExpectedFailure.UNMET:
            return plain(
                name, 400, _unmet(CONVERSED[name], dialect.spec.surface), number=number, dialect=dialect, **how
            )
        if dialect.spec.surface is Surface.RESPONSES:
            body = json.dumps(_right_response(wanted[0], name, number), ensure_ascii=False).encode()
            return plain(name, 200, body, number=number, dialect=dialect, **how)
        if dialect.spec.surface is Surface.MESSAGES:
            said = _right_message(wanted[0], _named(wanted[0].calls), _reported(wanted))
            return plain(
                name, 200, json.dumps(said, ensure_ascii=False).encode(), number=number, dialect=dialect, **how
            )
        choices = [_message(index, one, dialect) for index, one in enumerate(wanted)]
        usage = _reported(wanted)
        return whole(name, change={"choices": choices}, usage=usage, number=number, dialect=dialect, **how)

    return exchange
