"""What the faults of Messages make of a stream, a request or a whole answer: samples before and after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wireproof_mocks.miniatures.messages_block_faults import MESSAGES_BLOCK_FAULTS, MESSAGES_THOUGHT_FAULTS, REPLACEMENT
from wireproof_mocks.miniatures.messages_http_faults import MESSAGES_HTTP_FAULTS
from wireproof_mocks.miniatures.messages_input_faults import MESSAGES_INPUT_FAULTS
from wireproof_mocks.miniatures.messages_order_faults import MESSAGES_ORDER_FAULTS
from wireproof_mocks.miniatures.messages_rewriting import (
    STOPPED,
    closed,
    ended,
    fragment,
    opened,
    signed,
    thought,
    words,
)  # fmt: skip
from wireproof_mocks.miniatures.messages_whole_faults import MESSAGES_WHOLE_FAULTS
from wireproof_mocks.miniatures.rewriting import at, with_members, without
from wireproof_mocks.miniatures.turn_faults import OVERHEARD

Json = dict[str, Any]
Sample = tuple[Any, ...] | Json
Made = Callable[[str, Sample], Sample]


def started(**members: object) -> Json:
    return {"type": "message_start", "message": {"type": "message", **members}}


def failed(kind: str = "overloaded_error") -> Json:
    return {"type": "error", "error": {"type": kind, "message": "m"}}


def stopped(reason: str, sequence: str | None) -> Json:
    return {**ended(), "delta": {"stop_reason": reason, "stop_sequence": sequence}}


def chunk(**delta: str) -> Json:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}


def message(*content: Json, **members: object) -> Json:
    return {"type": "message", "content": list(content), **members}


def text(text: str) -> Json:
    return {"type": "text", "text": text}


def call(**members: object) -> Json:
    return {"type": "tool_use", **members}


def said(*content: Json, role: str = "user") -> Json:
    return {"role": role, "content": list(content)}


def result(id_: str, content: object = "") -> Json:
    return {"type": "tool_result", "tool_use_id": id_, "content": content}


PINGED: Json = {"type": "ping"}
TEXT = (opened(0, text=""), words(0, "Hi"), closed(0))
CUT_SHORT = (opened(0, text=""), words(0, "Hi"), closed(0), ended("max_tokens"), STOPPED)
SAY_THEN_CALL = (
    opened(0, text=""), words(0, "Hi"), closed(0), opened(1, "tool_use", input={}), fragment(1, "{}"), closed(1),
)  # fmt: skip
FAILED = (opened(0, text=""), words(0, "Hi"), failed())
CALL = (opened(0, "tool_use", input={}), fragment(0, '{"a"'), fragment(0, ":1}"), closed(0))
CACHED = {**ended(), "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 0}}
AS_OBJECT = {"type": "input_json_delta", "partial_json": {"a": 1}}
FULL = opened(0, "tool_use", input={"a": 1})
BEGUN = (started(), *TEXT)
MOVED = (opened(1, text=""), words(1, "Hi"), closed(1))
OPENED = opened(0, "thinking", thinking="", signature="")
WORDS: Json = {"type": "text", "text": "a"}
IMAGE: Json = {"type": "image", "source": {}}
CALLED = said({"type": "tool_use", "id": "t", "input": {"a": 1}}, role="assistant")
ERROR: Json = {"type": "error", "error": {"type": "api_error", "message": "m"}, "request_id": "req_1"}

EXAMPLES: list[tuple[str, Sample, Sample]] = [
    # sequences
    ("message-whole-where-a-stream-is-asked", {"stream": True}, {"stream": False}),
    ("messages-without-event-lines", (PINGED,), (b'data: {"type":"ping"}\n\n',)),
    ("every-frame-is-a-message", (PINGED,), (b'event: message\ndata: {"type":"ping"}\n\n',)),
    ("done-with-a-name", (STOPPED,), (STOPPED, b"event: done\ndata: [DONE]\n\n")),
    ("done-after-message-stop", (STOPPED,), (STOPPED, "[DONE]")),
    ("last-frame-not-closed", (STOPPED,), (b'event: message_stop\ndata: {"type":"message_stop"}\n',)),
    ("chunks-of-chat", (*TEXT, STOPPED), (chunk(), chunk(content="Hi"), chunk(), b"")),
    ("start-without-content", (started(content=[]),), (started(),)),
    ("start-without-an-id", (started(id="m"),), (started(),)),
    ("one-id-for-all-streamed-messages", (started(id="m"),), (started(id="msg_1"),)),
    ("blocks-of-another-kind", (opened(0, text=""),), (opened(0, "output_text", text=""),)),
    ("streamed-calls-without-names", (opened(0, "tool_use", name="a"),), (opened(0, "tool_use"),)),
    (
        "streamed-call-ids-with-colons",
        (opened(0, "tool_use", id="t"),),
        (opened(0, "tool_use", id="functions.read:t"),),
    ),
    ("one-id-for-all-streamed-calls", (opened(0, "tool_use", id="t"),), (opened(0, "tool_use", id="toolu_1"),)),
    ("message-started-twice", (started(),), (started(), started())),
    ("message-never-started", (started(), PINGED), (PINGED,)),
    ("blocks-never-started", TEXT, TEXT[1:]),
    ("blocks-never-stopped", TEXT, TEXT[:2]),
    (
        "blocks-stopped-at-the-end",
        (*SAY_THEN_CALL, ended("tool_use")),
        (*SAY_THEN_CALL[:2], *SAY_THEN_CALL[3:5], closed(0), closed(1), ended("tool_use")),
    ),
    ("open-block-left-when-cut-short", CUT_SHORT, (*CUT_SHORT[:2], *CUT_SHORT[3:])),
    ("message-ended-before-its-blocks", (*TEXT, ended(), STOPPED), (ended(), STOPPED, *TEXT)),
    ("text-after-message-stop", (STOPPED,), (STOPPED, opened(1, text=""), words(1, "More"), closed(1))),
    ("blocks-counted-from-one", TEXT, (opened(1, text=""), words(1, "Hi"), closed(1))),
    ("one-index-for-all-blocks", (closed(0), opened(1, "tool_use")), (closed(0), opened(0, "tool_use"))),
    ("blocks-without-indexes", (closed(0),), ({"type": "content_block_stop"},)),
    ("deltas-of-another-block", (words(0, "Hi"),), (words(7, "Hi"),)),
    ("calls-in-the-block-before", SAY_THEN_CALL, (*SAY_THEN_CALL[:2], fragment(0, ""), fragment(0, "{}"), closed(0))),
    ("first-words-in-the-start", TEXT, (opened(0, text="Hi"), closed(0))),
    ("no-message-stop", (ended(), STOPPED), (ended(),)),
    ("cut-of-the-backend-is-an-end", FAILED, FAILED[:2]),
    ("message-failure-hushed-up", FAILED, (*FAILED[:2], closed(0), ended(input_tokens=1, output_tokens=1), STOPPED)),
    ("message-stop-after-an-error", FAILED, (*FAILED, STOPPED)),
    (
        "errors-as-chat-frames",
        (failed(),),
        ({"error": {"message": "m", "type": "server_error", "param": None, "code": None}},),
    ),
    ("in-stream-errors-of-another-type", (failed(),), (failed("server_error"),)),
    ("silence-without-pings", (PINGED, b": a\n\n", STOPPED), (STOPPED,)),
    # contents
    ("text-repeated-from-its-start", (words(0, "a"), words(0, "b")), (words(0, "a"), words(0, "ab"))),
    ("letters-cut-in-two", (words(0, "aé"),), (words(0, f"a{REPLACEMENT}"),)),
    ("empty-text-before-a-call", CALL[:1], (opened(0, text=""), closed(0), opened(1, "tool_use", input={}))),
    ("arguments-beside-the-name-lost", CALL, (CALL[0], *CALL[2:])),
    ("last-arguments-lost", CALL, (*CALL[:2], CALL[3])),
    ("input-in-the-start-alone", CALL, (FULL, CALL[3])),
    ("input-in-the-start-too", CALL, (FULL, *CALL[1:])),
    ("fragments-as-objects", (fragment(0, '{"a":1}'),), ({**fragment(0, ""), "delta": AS_OBJECT},)),
    ("input-in-a-list", CALL, (CALL[0], fragment(0, "["), *CALL[1:3], fragment(0, "]"), CALL[3])),
    ("calls-end-the-turn", (ended("tool_use"),), (ended("end_turn"),)),
    ("tool-use-without-a-call", (ended("end_turn"),), (ended("tool_use"),)),
    ("stop-reasons-of-chat", (ended("end_turn"),), (ended("stop"),)),
    ("no-reason-to-stop", (ended(),), (ended(None),)),
    ("delta-without-a-reason", (ended(),), ({**ended(), "delta": {}},)),
    ("no-message-delta", (closed(0), ended()), (closed(0),)),
    ("two-message-deltas", (ended(),), (ended(None), ended())),
    ("end-turn-at-a-stop-sequence", (stopped("stop_sequence", "."),), (ended(),)),
    ("no-name-of-the-stop-sequence", (stopped("stop_sequence", "."),), (stopped("stop_sequence", None),)),
    ("start-without-usage", (started(usage={}),), (started(),)),
    ("end-without-usage", (ended(output_tokens=1),), (without("usage")(ended()),)),
    (
        "counts-with-names-of-chat",
        (ended(input_tokens=3, output_tokens=5),),
        (ended(prompt_tokens=3, completion_tokens=5),),
    ),
    ("input-counted-in-the-start-alone", (ended(input_tokens=3, output_tokens=5),), (ended(output_tokens=5),)),
    ("output-of-the-last-piece", (ended(output_tokens=5),), (ended(output_tokens=1),)),
    ("cached-counted-as-input-in-streams", (CACHED,), (at("usage", with_members(input_tokens=7))(CACHED),)),
    ("caches-not-counted-in-streams", (CACHED,), (at("usage", with_members(cache_read_input_tokens=0))(CACHED),)),
    ("streams-of-another-model", (started(model="m"),), (started(model="m-stream"),)),
    (
        "others-overheard-in-messages",
        (words(0, "a"), words(0, "b")),
        (words(0, "a"), words(0, OVERHEARD), words(0, "b")),
    ),
    # thoughts
    ("thoughts-in-a-text-block", BEGUN[1:], (BEGUN[1], thought(0, "Hm."), *BEGUN[2:])),
    (
        "later-thoughts-in-the-block-before",
        (fragment(0, "{}"), closed(0)),
        (fragment(0, "{}"), thought(0, "Hm."), closed(0)),
    ),
    ("thoughts-not-signed", BEGUN, (BEGUN[0], OPENED, thought(0, "Hm."), closed(0), *MOVED)),
    ("thoughts-signed-twice", BEGUN, (BEGUN[0], OPENED, thought(0, "Hm."), signed(0), signed(0), closed(0), *MOVED)),
    ("text-in-the-block-before", BEGUN, (BEGUN[0], OPENED, thought(0, "Hm."), signed(0), words(0, "Hi"), closed(0))),
    ("thoughts-said-aloud", BEGUN, (*BEGUN[:2], words(0, "Hm."), *BEGUN[2:])),
    # whole answers
    ("one-surface-says-less", message(text("Hi.")), message(text("Hi"))),
    ("stream-where-none-is-asked", {"max_tokens": 9}, {"max_tokens": 9, "stream": True}),
    ("answer-without-an-id", message(id="msg_7"), message()),
    ("one-id-for-all-messages", message(id="msg_7"), message(id="msg_1")),
    ("stop-sequence-left-out", message(stop_sequence=None), message()),
    ("answer-of-no-role", message(role="assistant"), message()),
    ("message-text-trimmed", message(text(" Hi. ")), message(text("Hi."))),
    ("empty-text-beside-a-call", message(call()), message(text(""), call())),
    ("input-as-json-text", message(call(input={"a": 1})), message(call(input='{"a": 1}'))),
    (
        "call-ids-with-dots-and-colons",
        message(call(id="t", name="read")),
        message(call(id="functions.read:t", name="read")),
    ),
    ("call-ids-empty", message(call(id="t")), message(call(id=""))),
    ("one-id-for-all-calls", message(call(id="a"), call(id="b")), message(call(id="a"), call(id="a"))),
    ("first-call-alone", message(text("a"), call(id="a"), call(id="b")), message(text("a"), call(id="a"))),
    ("call-ends-the-turn", message(call(), stop_reason="tool_use"), message(call(), stop_reason="end_turn")),
    ("every-other-end-is-end-turn", message(stop_reason="refusal"), message(stop_reason="end_turn")),
    ("limits-of-chat", message(stop_reason="max_tokens"), message(stop_reason="length")),
    (
        "stop-sequence-ends-the-turn",
        message(stop_reason="stop_sequence", stop_sequence="."),
        message(stop_reason="end_turn", stop_sequence=None),
    ),
    (
        "stop-sequence-null",
        message(stop_reason="stop_sequence", stop_sequence="."),
        message(stop_reason="stop_sequence", stop_sequence=None),
    ),
    (
        "message-usage-named-as-in-chat",
        message(usage={"input_tokens": 3, "output_tokens": 5}),
        message(usage={"prompt_tokens": 3, "completion_tokens": 5}),
    ),
    (
        "cached-counted-as-input",
        message(usage={"input_tokens": 3, "cache_read_input_tokens": 4}),
        message(usage={"input_tokens": 7, "cache_read_input_tokens": 4}),
    ),
    (
        "caches-not-counted",
        message(usage={"cache_read_input_tokens": 4, "cache_creation_input_tokens": 2}),
        message(usage={"cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}),
    ),
    # requests
    ("tokens-without-a-limit", {"model": "m", "messages": []}, {"max_tokens": 4096, "model": "m", "messages": []}),
    ("thread-ignored", {"thread": {"type": "create"}, "messages": []}, {"messages": []}),
    (
        "thread-continued-without-its-beginning",
        {"thread": {"type": "continue", "previous_message_id": f"msg_{'0' * 24}"}},
        {},
    ),
    (
        "thread-refused-as-unknown",
        {"type": "error", "error": {"message": "m", "details": {}}},
        {"type": "error", "error": {"message": "thread: Extra inputs are not permitted"}},
    ),
    ("first-block-of-system-alone", {"system": [WORDS, IMAGE]}, {"system": [WORDS]}),
    (
        "system-among-messages-lost",
        {"messages": [said(WORDS), said(WORDS, role="system")]},
        {"messages": [said(WORDS)]},
    ),
    (
        "first-part-of-results-alone",
        {"messages": [said(result("t", [WORDS, IMAGE]))]},
        {"messages": [said(result("t", [WORDS]))]},
    ),
    (
        "message-results-swapped",
        {"messages": [said({**result("a"), "n": 1}, {**result("b"), "n": 2})]},
        {"messages": [said({**result("b"), "n": 1}, {**result("a"), "n": 2})]},
    ),
    (
        "inputs-of-earlier-calls-lost",
        {"messages": [CALLED]},
        {"messages": [said({"type": "tool_use", "id": "t", "input": {}}, role="assistant")]},
    ),
    ("last-of-a-row-alone", {"messages": [said(IMAGE), said(WORDS)]}, {"messages": [said(WORDS)]}),
    ("results-made-up", {"messages": [CALLED, said(WORDS)]}, {"messages": [CALLED, said(result("t"), WORDS)]}),
    ("results-made-up", {"messages": [said(result("t"), WORDS)]}, {"messages": [said(WORDS)]}),
    (
        "images-of-messages-lost",
        {"messages": [said(IMAGE, WORDS, result("t", [IMAGE]))]},
        {"messages": [said(WORDS, result("t", []))]},
    ),
    ("any-tool-or-none", {"tool_choice": {"type": "any"}}, {"tool_choice": {"type": "auto"}}),
    ("any-tool-for-the-named-one", {"tool_choice": {"type": "tool", "name": "a"}}, {"tool_choice": {"type": "any"}}),
    ("no-tool-is-any-tool", {"tool_choice": {"type": "none"}}, {"tool_choice": {"type": "auto"}}),
    (
        "parallel-calls-all-the-same",
        {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
        {"tool_choice": {"type": "any"}},
    ),
    (
        "system-said-by-the-user",
        {"system": [WORDS], "messages": [said(IMAGE)]},
        {"messages": [said(WORDS), said(IMAGE)]},
    ),
    (
        "results-swapped-in-streams",
        {"stream": True, "messages": [said({**result("a"), "n": 1}, {**result("b"), "n": 2})]},
        {"stream": True, "messages": [said({**result("b"), "n": 1}, {**result("a"), "n": 2})]},
    ),
    (
        "images-lost-in-streams",
        {"stream": True, "messages": [said(IMAGE, WORDS)]},
        {"stream": True, "messages": [said(WORDS)]},
    ),
    (
        "no-tool-is-any-tool-in-streams",
        {"stream": True, "tool_choice": {"type": "none"}},
        {"stream": True, "tool_choice": {"type": "auto"}},
    ),
    (
        "any-tool-or-none-in-streams",
        {"stream": True, "tool_choice": {"type": "any"}},
        {"stream": True, "tool_choice": {"type": "auto"}},
    ),
    ("format-of-the-answer-dropped", {"output_config": {"format": {}}}, {}),
    # errors, counts and models
    ("errors-without-request-id", ERROR, without("request_id")(ERROR)),
    (
        "errors-of-chat",
        ERROR,
        {"error": {"message": "m", "type": "invalid_request_error", "param": None, "code": None}},
    ),
    ("tokens-counted-hundredfold", {"input_tokens": 7}, {"input_tokens": 700}),
    ("bytes-counted-as-tokens", {"input_tokens": 7}, {"input_tokens": 28}),
    ("total-tokens-counted", {"input_tokens": 7}, {"total_tokens": 7}),
    ("models-without-names-to-show", {"data": [{"id": "m", "display_name": "M"}]}, {"data": [{"id": "m"}]}),
]


def test_a_fault_does_what_its_example_shows(made: Made) -> None:
    for name, before, after in EXAMPLES:
        assert before != after, name
        assert made(name, before) == after, name


def test_each_fault_has_an_example_unless_it_needs_more_than_a_sample() -> None:
    topics = (
        *MESSAGES_ORDER_FAULTS, *MESSAGES_BLOCK_FAULTS, *MESSAGES_WHOLE_FAULTS, *MESSAGES_INPUT_FAULTS,
        *MESSAGES_HTTP_FAULTS, *MESSAGES_THOUGHT_FAULTS,
    )  # fmt: skip
    of_samples = {fault.name for fault in topics if fault.frames or fault.whole or fault.request}
    without_one = of_samples - {name for name, *_ in EXAMPLES}
    assert without_one == {"messages-held-back", "refusals-name-no-path", "errors-of-one-type", "refusals-as-detail",
                           "tokens-not-counted"}  # fmt: skip
