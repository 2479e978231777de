"""What OpenAI itself sends breaks nothing, at either level; a vendor's member beside it breaks strict alone.

`published/` holds bodies and streams as OpenAI's reference shows them (each file names the page), shortened (the
requests here declare functions alone, so no other tools are repeated), and with the numbers that each event's page asks
for where an older example has none. The types of the `openai` package give
bodies with every field set, and every event that is published.
"""

from __future__ import annotations

import json
import types
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from published_types import fields_of, members
from pydantic import BaseModel

from wireproof.judging.judge import judge_runs
from wireproof.judging.outcomes import ScenarioRun
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect, Surface
from wireproof.model.scenario import Form, Mode
from wireproof.model.target import Backend, Target
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.reading.exchange import Exchange, read
from wireproof.reading.right_answers import answers_to
from wireproof.scenarios import CONVERSATIONS
from wireproof.wire.responses_grammar import PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.model.verdict import Outcome

    Json = dict[str, Any]

FILES = {path.stem: path for path in sorted((Path(__file__).parent / "published").glob("*.json"))}
NAMED = {scenario.name: scenario for scenario in CONVERSATIONS}
HELLO = "Hello, world!"
"""The right answer to the scenario `text-hello`."""
AS_STREAM = (
    ("Content-Type", "text/event-stream; charset=utf-8"),
    ("Cache-Control", "no-cache"),
    ("X-Accel-Buffering", "no"),
    ("Connection", "keep-alive"),
)
WRONG = {Verdict.FAIL, Verdict.WARN}


def framed(event: Json, surface: Surface) -> bytes:
    line = f"event: {event['type']}\n" if surface is Surface.RESPONSES else ""
    return f"{line}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def pieces_of(said: Json | list[Json], surface: Surface) -> list[bytes]:
    if isinstance(said, dict):
        return [json.dumps(said, ensure_ascii=False).encode()]
    frames = [framed(event, surface) for event in said]
    return frames if surface is Surface.RESPONSES else [*frames, b"data: [DONE]\n\n"]


def model_of(said: Json | list[Json]) -> str:
    first = said if isinstance(said, dict) else said[0]
    model: str = first.get("response", first).get("model", "codex")
    return model


def judged(
    said: Json | list[Json], dialect: Dialect, *, tools: tuple[str, ...] = (), usage: bool = False, known: bool = False
) -> list[Outcome]:
    """What is wrong with a body or the events of a stream; `known`: it answers `text-hello`."""
    form = Form(dialect, Mode.WHOLE if isinstance(said, dict) else Mode.STREAM)
    declared = tuple({"type": "function", "function": {"name": name, "parameters": {}}} for name in tools)
    scenario = replace(NAMED["text-hello"], tools=declared, usage=usage)
    backend = Backend.MOCK if known else Backend.LIVE
    target = Target(base_url="http://127.0.0.1:1/v1", model=model_of(said), backend=backend, dialects=(dialect,))
    transcript = Transcript(
        method="POST",
        url=target.url(dialect.spec.surface.endpoint),
        request_headers=(),
        request_body=b"{}",
        status=200,
        headers=(("Content-Type", "application/json"),) if isinstance(said, dict) else AS_STREAM,
        pieces=tuple(Piece(at=0.1, data=data) for data in pieces_of(said, dialect.spec.surface)),
        end=End.COMPLETE,
        seconds=1.0,
    )
    exchange = Exchange(
        scenario=scenario, number=0, turn=scenario.turns[0], form=form, target=target, transcript=transcript,
        reading=read(transcript, form), wanted=answers_to(scenario, 0, form) if known else (),
    )  # fmt: skip
    outcomes = judge_runs([ScenarioRun(scenario=scenario, exchanges={form: [exchange]})], target, load()).outcomes
    return [outcome for outcome in outcomes if outcome.verdict in WRONG]


def seen(outcomes: list[Outcome]) -> list[str]:
    return [f"{one.requirement}: {finding.violation.seen}" for one in outcomes for finding in one.findings]


def published(name: str) -> tuple[Json | list[Json], Dialect, dict[str, Any]]:
    stored = json.loads(FILES[name].read_text(encoding="utf-8"))
    dialect = Dialect.RESPONSES if name.startswith("response-") else Dialect.OPENAI_JSON
    how = {"tools": tuple(stored.get("tools", ())), "usage": stored.get("usage", False)}
    return stored.get("body") or stored["events"], dialect, how


@pytest.mark.parametrize("name", FILES)
def test_what_openai_publishes_breaks_nothing(name: str) -> None:
    said, dialect, how = published(name)
    assert seen(judged(said, dialect, **how)) == []


@pytest.mark.parametrize("name", FILES)
def test_an_extension_breaks_nothing(name: str) -> None:
    said, dialect, how = published(name)
    assert seen(judged(extended(said, {"x-request-region": "eu"}), dialect, **how)) == []


@pytest.mark.parametrize("name", FILES)
def test_a_vendors_member_breaks_strict_alone(name: str) -> None:
    said, dialect, how = published(name)
    (outcome,) = judged(extended(said, {"provider_specific_fields": {"a": 1}}), dialect, **how)
    assert "provider_specific_fields is not among the published fields" in outcome.findings[0].violation.seen
    assert [outcome.at(level) for level in (VerdictLevel.STRICT, VerdictLevel.COMPAT)] == [Verdict.FAIL, Verdict.WARN]


def extended(said: Json | list[Json], members: Json) -> Json | list[Json]:
    """The same with members more in the body, or in each event."""
    return {**said, **members} if isinstance(said, dict) else [{**event, **members} for event in said]


# Behind a vendor's member the content is judged


def chat_whole(text: str, **message: object) -> Json:
    said, _, _ = published("chat-text")
    assert isinstance(said, dict)
    (choice,) = said["choices"]
    return {**said, "choices": [{**choice, "message": {**choice["message"], "content": text, **message}}]}


def chat_stream(text: str, **delta: object) -> list[Json]:
    said, _, _ = published("chat-stream-text")
    assert isinstance(said, list)
    (choice,) = said[1]["choices"]
    return [said[0], {**said[1], "choices": [{**choice, "delta": {"content": text, **delta}}]}, *said[2:]]


def response_whole(text: str, **part: object) -> Json:
    said, _, _ = published("response-text")
    assert isinstance(said, dict)
    (item,) = said["output"]
    return {**said, "output": [{**item, "content": [{**item["content"][0], "text": text, **part}]}]}


def response_stream(text: str, **member: object) -> list[Json]:
    """The published stream with another text, and a vendor's event in its middle."""
    said, _, _ = published("response-stream-text")
    events = json.loads(json.dumps(said))
    deltas = [event for event in events if event["type"] == "response.output_text.delta"]
    for number, event in enumerate(deltas):
        event |= {"delta": "" if number else text, **member}
    for event in events:
        for holder in (event, event.get("part"), *(event.get("item") or {}).get("content", ())):
            if isinstance(holder, dict) and holder.get("text"):
                holder["text"] = text
    events[-1]["response"]["output"][0]["content"][0]["text"] = text
    return [*events[:5], {"type": "codex.rate_limits", "used": 1}, *events[5:]]


SURFACES: Mapping[str, tuple[Any, Dialect, str, set[str]]] = {
    "chat, whole": (chat_whole, Dialect.OPENAI_JSON, "chat.whole.text", {"chat.whole.envelope"}),
    "chat, stream": (chat_stream, Dialect.OPENAI_JSON, "chat.stream.text", {"chat.stream.schema"}),
    "response, whole": (response_whole, Dialect.RESPONSES, "responses.whole.message", {"responses.whole.envelope"}),
    "response, stream": (response_stream, Dialect.RESPONSES, "responses.stream.sums", {"responses.stream.schema"}),
}


@pytest.mark.parametrize(("make", "dialect", "text", "form"), SURFACES.values(), ids=SURFACES)
def test_behind_a_vendors_member_a_wrong_text_is_found(make: Any, dialect: Dialect, text: str, form: set[str]) -> None:
    # The published counts are not those of the script.
    apart = {"chat.whole.usage", "responses.stream.terminal"}
    right = {one.requirement for one in judged(make(HELLO, reasoning_content="Hm."), dialect, known=True)}
    wrong = {one.requirement for one in judged(make("Bye.", reasoning_content="Hm."), dialect, known=True)}
    assert right - apart == form
    assert wrong - apart == form | {text}


def without(body: Json, member: str) -> Json:
    return {name: value for name, value in body.items() if name != member}


@pytest.mark.parametrize("name", ["chat-text", "chat-stream-text"])
@pytest.mark.parametrize("member", ["id", "object", "created", "model"])
def test_a_missing_member_hides_nothing(name: str, member: str) -> None:
    make, dialect, text, form = SURFACES["chat, whole" if name == "chat-text" else "chat, stream"]
    said = make("Bye.")
    kept = without(said, member) if isinstance(said, dict) else [said[0], *(without(one, member) for one in said[1:])]
    found = {one.requirement for one in judged(kept, dialect, known=True)} - {"chat.whole.usage"}
    assert found == form | {text}


# The types of the package


PLAIN: dict[Any, Any] = {str: "x", int: 1, float: 1.5, bool: True, object: "x", types.NoneType: None, Any: "x"}


def filled(kind: Any) -> Any:
    """A value of a published type with every field set; of several types the first."""
    one = next(iter(members(kind)))
    match get_origin(one):
        case origin if origin is Literal:
            return get_args(one)[0]
        case origin if origin is list:
            return [filled(get_args(one)[0])]
        case origin if origin is dict:
            return {"x": filled(get_args(one)[1])}
        case _ if isinstance(one, type) and issubclass(one, BaseModel):
            return {name: filled(field.annotation) for name, field in fields_of(one).items()}
        case _:
            return PLAIN[one]


TIMES = {"created": 1_741_570_283}


def test_a_chat_completion_with_every_field_breaks_nothing() -> None:
    body = {**filled(ChatCompletion), **TIMES, "id": "chatcmpl-1"}
    usage = {**body["usage"], "prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    choice = {**body["choices"][0], "index": 0}
    message = {**choice["message"], "function_call": None}
    called = {**choice, "finish_reason": "tool_calls", "message": {**message, "content": None}}
    spoken = {**choice, "message": {**message, "tool_calls": None}}
    for one in (called, spoken):
        said = {**body, "choices": [one], "usage": usage}
        ChatCompletion.model_validate(said)
        assert seen(judged(said, Dialect.OPENAI_JSON, tools=("x",))) == []


def test_a_chunk_with_every_field_breaks_nothing() -> None:
    full = {**filled(ChatCompletionChunk), **TIMES}
    choice = {**full["choices"][0], "index": 0, "finish_reason": None}
    delta = {**choice["delta"], "function_call": None}
    call = {**delta["tool_calls"][0], "index": 0}
    said = [
        {**full, "choices": [{**choice, "delta": one, "finish_reason": finish}], "usage": None}
        for one, finish in (
            ({**delta, "role": "assistant", "content": None, "tool_calls": None}, None),
            ({**delta, "role": None, "tool_calls": None}, None),
            ({**delta, "role": None, "content": None, "tool_calls": [call]}, None),
            ({}, "tool_calls"),
        )
    ]
    usage = {**full["usage"], "prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    said.append({**full, "choices": [], "usage": usage})
    for chunk in said:
        ChatCompletionChunk.model_validate(chunk)
    assert seen(judged(said, Dialect.OPENAI_JSON, tools=("x",), usage=True)) == []


MESSAGE = {
    "id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "phase": "final_answer",
    "content": [{"type": "output_text", "text": "Hi", "annotations": [], "logprobs": []}],
}  # fmt: skip
COUNTS = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}


def a_response(**members: object) -> Json:
    full = filled(Response)
    usage = {**full["usage"], **COUNTS}
    calm: Json = {"error": None, "incomplete_details": None, "tools": [], "tool_choice": "auto", "prompt": None}
    return {**full, **calm, "id": "resp_1", "created_at": 1_741_570_283, "usage": usage, "status": "completed",
            "output": [MESSAGE], **members}  # fmt: skip


def test_a_response_with_every_field_breaks_nothing() -> None:
    said = a_response()
    Response.model_validate(said)
    assert seen(judged(said, Dialect.RESPONSES)) == []


OTHER_ITEMS = [
    one
    for one in members(get_args(Response.model_fields["output"].annotation)[0])
    if get_args(one.model_fields["type"].annotation)[0] not in {"message", "function_call"}
]


@pytest.mark.each("kind", OTHER_ITEMS, ids=lambda kind: kind.__name__)
def test_an_item_of_every_published_kind_breaks_nothing(kind: Any) -> None:
    assert seen(judged(a_response(output=[filled(kind), MESSAGE]), Dialect.RESPONSES)) == []


EVENTS = {get_args(one.model_fields["type"].annotation)[0]: one for one in members(ResponseStreamEvent)}


def test_the_published_events_are_those_that_are_read() -> None:
    assert set(EVENTS) == set(PUBLISHED)


def stream_with(*events: Json, item: Json) -> list[Json]:
    """A stream of an item of another kind, in which these events come, and then a message."""
    said, _, _ = published("response-stream-text")
    assert isinstance(said, list)
    shifted = [
        {**event, **({"output_index": 1} if "output_index" in event else {})} for event in json.loads(json.dumps(said))
    ]
    shifted[-1]["response"]["output"].insert(0, item)
    opened = {"type": "response.output_item.added", "output_index": 0, "item": item}
    done = {**opened, "type": "response.output_item.done"}
    all_of_them = [*shifted[:2], opened, *events, done, *shifted[2:]]
    return [{**event, "sequence_number": number} for number, event in enumerate(all_of_them)]


OF_OTHERS = sorted(
    set(EVENTS)
    - {event["type"] for event in published("response-stream-call")[0]}  # type: ignore[index]  # events of a stream
    - {event["type"] for event in published("response-stream-text")[0]}  # type: ignore[index]  # events of a stream
    - {"error", "response.failed", "response.incomplete", "response.queued"}
    - {"response.refusal.delta", "response.refusal.done", "response.output_text.annotation.added"}
)
"""Events of items that a proxy for Codex never makes; those of the stream and of messages have a place of their own."""


@pytest.mark.each("type_", OF_OTHERS)
def test_every_other_published_event_is_passed_over(type_: str) -> None:
    item = {"id": "rs_1", "type": "reasoning", "summary": []}
    event = {**filled(EVENTS[type_]), "item_id": "rs_1", "output_index": 0}
    fields = EVENTS[type_].model_fields
    event = {name: value for name, value in event.items() if name in fields}
    assert seen(judged(stream_with(event, item=item), Dialect.RESPONSES)) == []


def test_a_keepalive_event_is_a_note() -> None:
    item = {"id": "rs_1", "type": "reasoning", "summary": []}
    (outcome,) = judged(stream_with({"type": "keepalive"}, item=item), Dialect.RESPONSES)
    assert outcome.requirement == "responses.stream.schema"
    assert [outcome.at(level) for level in (VerdictLevel.STRICT, VerdictLevel.COMPAT)] == [Verdict.FAIL, Verdict.WARN]
    (outcome,) = judged(stream_with({"type": "codex.rate_limits"}, item=item), Dialect.RESPONSES)
    assert outcome.at(VerdictLevel.COMPAT) is Verdict.FAIL
