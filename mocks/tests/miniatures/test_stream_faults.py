from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_mocks.miniatures.fault import DONE, FaultHead, SentRequest
from wireproof_mocks.miniatures.rewriting import written
from wireproof_mocks.miniatures.stream_faults import STREAM_FAULTS

if TYPE_CHECKING:
    from collections.abc import Callable

ENVELOPE = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 100, "model": "codex"}
USAGE = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
GUESSED = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
SILENT = b": keep-alive\n\n"
ERROR_FRAME: dict[str, dict[str, Any]] = {
    "error": {"message": "No.", "type": "server_error", "param": None, "code": None}
}
ASKED = SentRequest(method="POST", path="/v1/chat/completions", body=b'{"stream": true}', key="Bearer k")


def chunk(delta: Any, finish: str | None = None) -> dict[str, Any]:
    return {**ENVELOPE, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}


def say(text: str) -> dict[str, Any]:
    return chunk({"content": text})


def opens(**changes: Any) -> dict[str, Any]:
    call = {"index": 0, "id": "call_a", "type": "function", "function": {"name": "readNote", "arguments": ""}}
    return chunk({"tool_calls": [{k: v for k, v in (call | changes).items() if v is not None}]})


def arguments(text: str, **more: Any) -> dict[str, Any]:
    return chunk({"tool_calls": [{"index": 0, "function": {"arguments": text}, **more}]})


def counts(usage: Any) -> dict[str, Any]:
    return {**ENVELOPE, "choices": [], "usage": usage}


def asked(frame: dict[str, Any]) -> dict[str, Any]:
    """A chunk as it is when the client has asked for usage."""
    return {**frame, "usage": None}


ROLE = chunk({"role": "assistant", "content": ""})
END, CALLED = chunk({}, "stop"), chunk({}, "tool_calls")
ONE, ROO, TWO = asked(say("One ")), asked(say("\N{KANGAROO}")), asked(say(" two"))
TEXT: list[Any] = [asked(ROLE), ONE, SILENT, ROO, ROO, TWO, asked(END), counts(USAGE), DONE]
CALL: list[Any] = [ROLE, say("Let me"), opens(), arguments('{"a": '), arguments("1.50}"), CALLED, DONE]
FAILED: list[Any] = [ROLE, say("Half"), ERROR_FRAME, DONE]
STREAMS = {"text": TEXT, "call": CALL, "failed": FAILED}


def everywhere(change: Any) -> dict[str, list[Any]]:
    """A change of every chunk."""
    return {
        name: [change(f) if isinstance(f, dict) and "error" not in f else f for f in frames]
        for name, frames in STREAMS.items()
    }


def numbered(member: str, value: Any) -> dict[str, list[Any]]:
    return {
        name: [{**f, member: value(n)} if isinstance(f, dict) and "error" not in f else f for n, f in enumerate(frames)]
        for name, frames in STREAMS.items()
    }


def every_json(change: Any) -> dict[str, list[Any]]:
    return {name: [change(f) if isinstance(f, dict) else f for f in frames] for name, frames in STREAMS.items()}


def halves_of_the_kangaroo() -> list[str]:
    return [json.dumps(asked(say(half))) for half in ("\ud83e", "\udd98")]


def with_role(frame: dict[str, Any]) -> dict[str, Any]:
    delta = frame["choices"][0]["delta"] if frame["choices"] else {}
    return {**chunk({"role": "assistant", **delta}), **usage_of(frame)} if delta else frame


def usage_of(frame: dict[str, Any]) -> dict[str, Any]:
    return {"usage": frame["usage"]} if "usage" in frame else {}


SPOILED: dict[str, dict[str, list[Any]]] = {
    "event-lines": every_json(lambda f: b"event: message\n" + written(f)),
    "single-newlines": every_json(lambda f: written(f)[:-1]),
    "python-instead-of-json": every_json(str),
    "buffers-everything": {name: [b"".join(map(written, frames))] for name, frames in STREAMS.items()},
    "one-frame-behind": {"text": [TEXT[0], SILENT, ONE, *TEXT[3:]]},
    "extra-member": everywhere(lambda f: {**f, "provider": "mine"}),
    "no-object": everywhere(lambda f: {k: v for k, v in f.items() if k != "object"}),
    "id-per-chunk": numbered("id", lambda n: f"chatcmpl-1{n}"),
    "created-per-chunk": numbered("created", lambda n: 100 + n),
    "model-per-chunk": numbered("model", lambda n: f"codex{n}"),
    "no-role": {name: frames[1:] for name, frames in STREAMS.items()},
    "role-everywhere": everywhere(with_role),
    "content-beside-call": {
        "call": [*CALL[:2], chunk({**opens()["choices"][0]["delta"], "content": "Calling."}), *CALL[3:]]
    },
    "last-text-lost": {"text": [*TEXT[:5], *TEXT[6:]], "failed": [ROLE, *FAILED[2:]]},
    "repeats-swallowed": {"text": [*TEXT[:4], *TEXT[5:]]},
    "text-trimmed": {"text": [TEXT[0], asked(say("One")), *TEXT[2:5], asked(say("two")), *TEXT[6:]]},
    "characters-torn": {"text": [*TEXT[:3], *[asked(say("\ufffd\ufffd"))] * 2, *TEXT[5:]]},
    "surrogates-cut": {"text": [*TEXT[:3], *halves_of_the_kangaroo() * 2, *TEXT[5:]]},
    "call-without-id": {"call": [*CALL[:2], opens(id=None), *CALL[3:]]},
    "call-without-type": {"call": [*CALL[:2], opens(type=None), *CALL[3:]]},
    "call-without-index": {
        "call": [
            *CALL[:2],
            opens(index=None),
            *(chunk({"tool_calls": [{"function": {"arguments": text}}]}) for text in ('{"a": ', "1.50}")),
            *CALL[5:],
        ]
    },
    "call-without-name": {"call": [*CALL[:2], opens(function={"arguments": ""}), *CALL[3:]]},
    "call-name-lowered": {"call": [*CALL[:2], opens(function={"name": "readnote", "arguments": ""}), *CALL[3:]]},
    "third-call-counted-as-second": {},
    "call-id-repeated": {
        "call": [
            *CALL[:3],
            *(arguments(text, id="call_a", type="function") for text in ('{"a": ', "1.50}")),
            *CALL[5:],
        ]
    },
    "empty-call-deltas": {"call": [*CALL[:4], arguments(""), CALL[4], arguments(""), *CALL[5:]]},
    "cumulative-arguments": {
        "call": [*CALL[:3], *map(arguments, ('{"a', '{"a": ', '{"a": 1.', '{"a": 1.50}')), *CALL[5:]]
    },
    "arguments-reserialised": {"call": [*CALL[:3], arguments('{"a": 1.5}'), *CALL[5:]]},
    "text-after-call": {"call": [*CALL[:5], say("I have called the tool."), *CALL[5:]]},
    "finish-twice": {"text": [*TEXT[:7], *TEXT[6:]], "call": [*CALL[:6], *CALL[5:]]},
    "finish-lost": {"text": [*TEXT[:6], *TEXT[7:]], "call": [*CALL[:5], DONE]},
    "finish-with-content": {"text": [*TEXT[:5], asked(chunk(TWO["choices"][0]["delta"], "stop")), *TEXT[7:]]},
    "call-finishes-as-stop": {"call": [*CALL[:5], END, DONE]},
    "length-finishes-as-stop": {},
    "text-after-finish": {
        "text": [*TEXT[:7], asked(say("One more thing.")), *TEXT[7:]],
        "call": [*CALL[:6], say("One more thing."), DONE],
    },
    "usage-lost": {"text": [*TEXT[:7], DONE]},
    "usage-unasked": {"call": [*CALL[:6], counts(GUESSED), DONE]},
    "usage-guessed": {"text": [*TEXT[:7], counts(GUESSED), DONE]},
    "usage-with-choices": {"text": [*TEXT[:6], {**END, "usage": USAGE}, DONE]},
    "no-done": {name: frames[:-1] for name, frames in STREAMS.items()},
    "done-twice": {name: [*frames, DONE] for name, frames in STREAMS.items()},
    "text-after-done": {
        "text": [*TEXT, {**say("Post scriptum."), "usage": USAGE}],
        "call": [*CALL, say("Post scriptum.")],
        "failed": [*FAILED, say("Post scriptum.")],
    },
    "error-hushed-up": {"failed": [*FAILED[:2], END, DONE]},
    "half-a-call-finished": {"failed": [*FAILED[:2], END, DONE]},
    "finish-after-error": {"failed": [*FAILED[:3], END, DONE]},
    "error-frame-without-type": {
        "failed": [*FAILED[:2], {"error": {k: v for k, v in ERROR_FRAME["error"].items() if k != "type"}}, *FAILED[3:]]
    },
    "error-frame-with-a-number": {
        "failed": [*FAILED[:2], {"error": {**ERROR_FRAME["error"], "code": 500}}, *FAILED[3:]]
    },
    "error-after-call-sent": {},
    "no-keepalive": {"text": [*TEXT[:2], b"", *TEXT[3:]]},
    "keepalive-is-empty-data": {"text": [*TEXT[:2], b"data:\n\n", *TEXT[3:]]},
    "keepalive-is-ping-event": {"text": [*TEXT[:2], b"event: ping\n\n", *TEXT[3:]]},
    "angle-bracket-at-the-end-lost": {"text": [*TEXT[:5], *TEXT[6:]], "failed": [ROLE, *FAILED[2:]]},
    "arguments-cut-at-64-kib": {},
    "arguments-cut-at-half-a-mebibyte": {},
    "arguments-repaired": {"call": [*CALL[:5], arguments('"}'), *CALL[5:]]},
    "own-call-ids": {"call": [*CALL[:2], opens(id="call_of_the_stream_call_a"), *CALL[3:]]},
}
"""Fault → stream → its frames then; a stream that is not named stays as it is."""
OTHERWISE = {
    "no-accel-buffering-header", "no-cache-control", "policy-ignored-burst", "policy-ignored-first", "body-left-open",
    "error-as-stream", "departure-ignored", "header-burst-ignored", "header-first-ignored",
}  # fmt: skip
"""Faults that change no frame; `body_open` and `deaf` are the middleware's."""
FAULTS = {fault.name: fault for fault in STREAM_FAULTS}


def with_delta_of(delta: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"index": 0, "logprobs": None, "delta": delta, "finish_reason": None}]}


def with_function(made: dict[str, Any]) -> dict[str, Any]:
    return with_delta_of({"function_call": made})


def with_tool(call: dict[str, Any]) -> dict[str, Any]:
    return with_delta_of({"tool_calls": [{"index": 0, **call}]})


EXAMPLES: list[tuple[str, Any, Any]] = [
    ("extra-member", ({"choices": []}, DONE), ({"choices": [], "provider": "mine"}, DONE)),
    ("choices-null-in-the-first-chunk", ({"choices": []}, DONE), ({"choices": None}, {"choices": []}, DONE)),
    ("one-id-for-all-streams", ({"id": "chatcmpl-7"}, DONE), ({"id": "chatcmpl-1"}, DONE)),
    (
        "no-role",
        (with_delta_of({"role": "assistant", "function_call": {"name": "f", "arguments": ""}}),),
        (with_function({"name": "f", "arguments": ""}),),
    ),
    ("no-role", (with_delta_of({"role": "assistant", "content": ""}),), ()),
    (
        "functions-called-as-tools",
        tuple(with_function(made) for made in ({"name": "f", "arguments": ""}, {"arguments": "{}"})),
        (
            with_tool({"id": "call_1", "type": "function", "function": {"name": "f", "arguments": ""}}),
            with_tool({"function": {"arguments": "{}"}}),
        ),
    ),
    ("length-copied-beside-chunks", (DONE,), (b"e\r\ndata: [DONE]\n\n\r\n", b"0\r\n\r\n")),
    (
        "usage-without-details",
        ({"choices": [], "usage": {"total_tokens": 8, "prompt_tokens_details": {}}},),
        ({"choices": [], "usage": {"total_tokens": 8}},),
    ),
    (
        "usage-in-every-chunk",
        ({"choices": [7], "usage": None}, {"choices": [7]}, DONE),
        (
            {"choices": [7], "usage": {"prompt_tokens": 11, "completion_tokens": 0, "total_tokens": 11}},
            {"choices": [7]},
            DONE,
        ),
    ),
    ("keepalive-only-once", (b": a\n\n", b": b\n\n", DONE), (b": a\n\n", b"", DONE)),
]
"""What faults make of samples."""


@pytest.mark.parametrize(("name", "before", "after"), EXAMPLES, ids=[name for name, *_ in EXAMPLES])
def test_a_fault_does_what_its_example_shows(name: str, before: Any, after: Any, made: Callable[..., Any]) -> None:
    assert before != after
    assert made(name, before) == after


def spoil(name: str, frames: list[Any], request: SentRequest = ASKED) -> list[Any]:
    change = FAULTS[name].frames
    assert change is not None
    return list(change(frames, request))


def test_every_fault_stands_in_one_of_the_tables_or_has_examples() -> None:
    shown = {name for name, *_ in EXAMPLES}
    assert set(SPOILED) | OTHERWISE | {"silence-is-an-answer"} | shown == set(FAULTS)
    assert FAULTS["angle-bracket-at-the-end-lost"].frames is FAULTS["last-text-lost"].frames
    assert {name for name, fault in FAULTS.items() if fault.frames is None} == OTHERWISE


@pytest.mark.each("stream", list(STREAMS))
@pytest.mark.parametrize("name", list(SPOILED))
def test_a_fault_changes_what_it_says_and_nothing_else(name: str, stream: str) -> None:
    before = json.dumps(STREAMS[stream], default=repr)
    assert spoil(name, STREAMS[stream]) == SPOILED[name].get(stream, STREAMS[stream])
    assert json.dumps(STREAMS[stream], default=repr) == before, "the proxy's own frames are not touched"


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_other_finish_reasons_become_stop(reason: str) -> None:
    assert spoil("length-finishes-as-stop", [chunk({}, reason), DONE]) == [END, DONE]
    assert spoil("call-finishes-as-stop", [chunk({}, reason), DONE]) == [chunk({}, reason), DONE]


def test_the_failure_after_a_call_is_sent_where_the_script_fails() -> None:
    request = SentRequest(method="POST", path="/", body=b"[[wireproof:fail/after-call#1]]", key="")
    *before, sent, done = spoil("error-after-call-sent", CALL, request)
    assert before == CALL[:5]
    assert sent["error"]["type"] == "server_error"
    assert done == DONE


def test_arguments_are_repaired_once_though_the_finish_comes_twice() -> None:
    assert spoil("arguments-repaired", [opens(), CALLED, CALLED]) == [opens(), arguments('"}'), CALLED, CALLED]


def test_behind_a_failure_and_an_end_nothing_comes_that_another_fault_has_put_there() -> None:
    request = SentRequest(method="POST", path="/", body=b"[[wireproof:fail/after-call#1]]", key="")
    *_, sent, done = spoil("error-after-call-sent", [*CALL[:-1], say("More."), DONE], request)
    assert (list(sent), done) == (["error"], DONE)
    hushed = spoil("half-a-call-finished", spoil("finish-after-error", [ROLE, ERROR_FRAME, DONE]))
    assert hushed == [ROLE, END, DONE]


@pytest.mark.parametrize("name", ["error-hushed-up", "half-a-call-finished", "finish-after-error", "text-after-done"])
def test_where_no_chunk_came_before_there_is_nothing_to_copy(name: str) -> None:
    assert spoil(name, [ERROR_FRAME, DONE]) == [ERROR_FRAME, DONE]


def test_silence_becomes_an_empty_answer() -> None:
    *said, done = spoil("silence-is-an-answer", [b": keep-alive\n\n", ERROR_FRAME, DONE])
    assert (said[0], done) == (b": keep-alive\n\n", DONE)
    assert [frame["choices"][0]["finish_reason"] for frame in said[1:]] == [None, "stop"]
    assert {frame["object"] for frame in said[1:]} == {"chat.completion.chunk"}


def test_usage_that_comes_without_a_finish_is_lost_with_it() -> None:
    assert spoil("usage-with-choices", [counts(USAGE), DONE]) == [DONE]


def test_a_stream_that_breaks_off_loses_the_text_that_was_last_but_no_finish() -> None:
    assert spoil("last-text-lost", [say("a"), say("b")]) == [say("a")]
    assert spoil("usage-with-choices", [END]) == [END]


def test_a_role_beside_text_leaves_the_text() -> None:
    assert spoil("no-role", [chunk({"role": "assistant", "content": "Hi"})]) == [say("Hi")]


def test_one_behind_asks_for_the_next_frame_before_it_gives_one() -> None:
    taken: list[int] = []

    def source() -> Any:
        for number, frame in enumerate(CALL):
            taken.append(number)
            yield frame

    change = FAULTS["one-frame-behind"].frames
    assert change is not None
    assert next(change(source(), ASKED)) == CALL[0]
    assert taken == [0, 1]


@pytest.mark.parametrize(
    ("name", "gone"), [("no-accel-buffering-header", "X-Accel-Buffering"), ("no-cache-control", "Cache-Control")]
)
def test_a_header_is_dropped_from_streams_alone(name: str, gone: str) -> None:
    change = FAULTS[name].head
    assert change is not None
    headers = [("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no"), ("Cache-Control", "no-cache")]
    kept = [(key, value) for key, value in headers if key != gone]
    assert change(FaultHead(status="200 OK", headers=headers), ASKED) == FaultHead(status="200 OK", headers=kept)
    whole = FaultHead(status="200 OK", headers=[("Content-Type", "application/json"), *headers[1:]])
    assert change(whole, ASKED) == whole


@pytest.mark.parametrize("policy", ["burst", "first"])
def test_the_header_of_one_policy_is_not_received(policy: str) -> None:
    change = FAULTS[f"header-{policy}-ignored"].environ
    assert change is not None
    for asked in ("burst", "first", None):
        environ = {} if asked is None else {"HTTP_X_PROXY_STOP_AFTER_TOOLS": asked}
        received = {} if asked == policy else dict(environ)
        change(environ)
        assert environ == received


def test_calls_are_counted_to_the_second() -> None:
    third = [opens(index=2), chunk({"tool_calls": [{"index": 2, "function": {"arguments": "{}"}}]})]
    second = [opens(index=1), chunk({"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]})]
    assert spoil("third-call-counted-as-second", third) == second


@pytest.mark.parametrize(("name", "parallel"), [("policy-ignored-burst", True), ("policy-ignored-first", False)])
def test_the_policy_is_ignored_in_streams_alone(name: str, *, parallel: bool) -> None:
    change = FAULTS[name].request
    assert change is not None
    for said in ({}, {"parallel_tool_calls": True}, {"parallel_tool_calls": False}):
        assert change({"stream": True, **said}) == {"stream": True, "parallel_tool_calls": parallel}
        assert change({**said}) == said


@pytest.mark.parametrize(
    ("status", "body", "then"),
    [
        ("502 Bad Gateway", b'{"stream": true}', "200 OK"),
        ("502 Bad Gateway", b"{}", "502 Bad Gateway"),
        ("400 Bad Request", b'{"stream": true}', "400 Bad Request"),
    ],
)
def test_a_failure_of_the_backend_becomes_a_stream(status: str, body: bytes, then: str) -> None:
    fault = FAULTS["error-as-stream"]
    request = SentRequest(method="POST", path="/v1/chat/completions", body=body, key="")
    assert fault.head is not None
    assert fault.head(FaultHead(status=status, headers=[]), request).status == then
    assert fault.salvage is not None
    assert fault.salvage(ERROR_FRAME) == [ERROR_FRAME, DONE]


def test_departures_and_ends_are_the_business_of_the_middleware() -> None:
    assert [name for name, fault in FAULTS.items() if fault.ignores_disconnect] == ["departure-ignored"]
    assert [name for name, fault in FAULTS.items() if fault.body_open] == ["body-left-open"]


@pytest.mark.parametrize(
    ("frame", "data"),
    [
        (SILENT, SILENT),
        (DONE, b"data: [DONE]\n\n"),
        ({"a": "ä", "b": [1, None]}, 'data: {"a":"ä","b":[1,null]}\n\n'.encode()),
    ],
)
def test_a_frame_is_written_as_the_proxy_writes_it(frame: Any, data: bytes) -> None:
    assert written(frame) == data


def test_arguments_are_cut_wherever_the_limit_falls() -> None:
    most, name = 65_536, "arguments-cut-at-64-kib"
    sent = [ROLE, opens(), arguments("a" * 65_000), arguments("b" * 1000), arguments("c"), CALLED, ERROR_FRAME, DONE]
    left = [ROLE, opens(), sent[2], arguments("b" * (most - 65_000)), arguments(""), CALLED, ERROR_FRAME, DONE]
    assert spoil(name, sent) == left


def test_a_length_beside_chunks_is_announced_for_streams_alone() -> None:
    change = FAULTS["length-copied-beside-chunks"].head
    assert change is not None
    whole = FaultHead(status="200 OK", headers=[("Content-Type", "application/json")])
    stream = FaultHead(status="200 OK", headers=[("Content-Type", "text/event-stream")])
    assert change(whole, ASKED) is whole
    assert [name for name, _ in change(stream, ASKED).headers] == [
        "Content-Type",
        "Transfer-Encoding",
        "Content-Length",
    ]
