from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.judging.capabilities import absences, asked_for, refusal, uses
from wireproof.judging.outcomes import ScenarioRun
from wireproof.model.capability import Capability, Use
from wireproof.model.dialect import Dialect, Surface
from wireproof.model.scenario import ConversationScenario, PlainScenario, Request, Turn
from wireproof.scenarios.tools import LOCAL_SEARCH

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof.reading.exchange import Exchange

    Make = Callable[..., Exchange]

CHAT = Surface.CHAT
STOP = {"finish": "stop"}
CALL = ("call_1", "localSearch", '{"query": "heron"}')
PIXEL = "data:image/png;base64,AAAA"


def driven(*exchanges: Exchange) -> list[ScenarioRun]:
    return [ScenarioRun(scenario=one.scenario, exchanges={one.form: [one]}) for one in exchanges]


def scenario(**how: Any) -> ConversationScenario:
    return ConversationScenario(
        name="x", title="", exercises=(), **{"script": "text/hello", "turns": (Turn(say="Hi."),), **how}
    )


CHOICES = scenario(choices=2)
TOOLS = scenario(script="call/one", tools=(LOCAL_SEARCH,))
USAGE = scenario(usage=True)
FORCED = scenario(tools=(LOCAL_SEARCH,), body={"tool_choice": "required"})
SCHEMA = scenario(body={"response_format": {"type": "json_schema", "json_schema": {}}})
STOPS = scenario(body={"stop": [", world"]}, dialects=(Dialect.MESSAGES,))
IMAGES = scenario(script="reflect/received", turns=(Turn(say="Look.", images=(PIXEL,)),))


def choices(*texts: str) -> dict[str, Any]:
    return {
        "choices": [
            {"index": index, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            for index, text in enumerate(texts)
        ]
    }


def use_of(exchange: Exchange, capability: Capability) -> Use:
    return uses(driven(exchange))[CHAT][capability]


@pytest.mark.parametrize(
    ("one", "asked"),
    [
        (scenario(), set()),
        (CHOICES, {Capability.SEVERAL_CHOICES}),
        (TOOLS, {Capability.CALLS}),
        (FORCED, {Capability.CALLS, Capability.FORCED_TOOL_CHOICE}),
        (SCHEMA, {Capability.STRUCTURED_OUTPUT}),
        (IMAGES, {Capability.IMAGES}),
        (scenario(body={"n": 1, "tool_choice": "auto", "tools": []}), set()),
        (scenario(body={"tool_choice": {"type": "function"}}), {Capability.FORCED_TOOL_CHOICE}),
    ],
)
def test_what_a_request_asks_for(whole: Make, one: ConversationScenario, asked: set[Capability]) -> None:
    assert set(asked_for(whole(one, "Hi."))) == asked


def test_a_stream_and_its_usage_are_asked_for(stream: Make) -> None:
    assert set(asked_for(stream(USAGE, "Hi.", STOP))) == {Capability.STREAMS, Capability.USAGE_IN_STREAMS}


def asking(make: Make, body: dict[str, Any], *, expect: int, **how: Any) -> Exchange:
    one = PlainScenario(name="x", title="", exercises=(), requests=(Request(json=body, expect=expect),))
    exchange = make(one, 400, error(**how))
    transcript = dataclasses.replace(exchange.transcript, request_body=json.dumps(body).encode())
    return dataclasses.replace(exchange, transcript=transcript)


def error(**members: Any) -> bytes:
    return json.dumps({"error": {"message": "No.", "type": "invalid_request_error", "param": None, **members}}).encode()


def test_a_request_that_is_wrong_on_purpose_asks_for_nothing(plain: Make) -> None:
    assert asked_for(asking(plain, {"n": 2}, expect=400)) == ()
    assert asked_for(asking(plain, {"n": 2}, expect=200)) == (Capability.SEVERAL_CHOICES,)


@pytest.mark.parametrize(
    ("status", "body", "field"),
    [
        (400, error(param="n"), "n"),
        (404, error(message="n is not supported"), "n"),
        (422, error(message="This server does not support `n` > 1."), "n"),
        (501, error(message="N: not implemented"), "n"),
        # Another field, or none; a status that is no refusal; no envelope.
        (400, error(param="tools", message="n"), None),
        (400, error(message="I can't do this."), None),
        (400, error(message="isn't in-n-out"), None),
        (500, error(param="n"), None),
        (429, error(param="n"), None),
        (400, b'{"detail": "n is not supported"}', None),
        (400, b"n is not supported", None),
    ],
)
def test_a_plain_refusal_names_the_field(plain: Make, status: int, body: bytes, field: str | None) -> None:
    exchange = plain(CHOICES, status, body)
    found = refusal(exchange, Capability.SEVERAL_CHOICES)
    assert (found and found[2]) == field
    assert (absences(driven(exchange)).keys() == {Capability.SEVERAL_CHOICES}) is (field is not None)
    assert use_of(exchange, Capability.SEVERAL_CHOICES) is (Use.REFUSED if field else Use.NOT_SEEN)


@pytest.mark.parametrize(
    ("one", "capability", "param"),
    [
        (TOOLS, Capability.CALLS, "tools"),
        (TOOLS, Capability.CALLS, "tools[0].function"),
        (FORCED, Capability.FORCED_TOOL_CHOICE, "tool_choice"),
        (SCHEMA, Capability.STRUCTURED_OUTPUT, "response_format.type"),
        (SCHEMA, Capability.STRUCTURED_OUTPUT, "text.format"),
        (IMAGES, Capability.IMAGES, "messages[0].content[1].image_url"),
    ],
)
def test_a_place_within_the_field_is_as_good(
    plain: Make, one: ConversationScenario, capability: Capability, param: str
) -> None:
    found = absences(driven(plain(one, 400, error(param=param))))
    assert found[capability].surfaces == {CHAT}


def test_an_absence_quotes_the_first_refusal(plain: Make) -> None:
    first, second = (
        plain(CHOICES, status, error(message=said)) for status, said in ((400, "no n\n here"), (422, "n!"))
    )
    found = absences(driven(first, second))[Capability.SEVERAL_CHOICES]
    assert (found.status, found.message, found.field, str(found)) == (400, "no n here", "n", "HTTP 400: no n here")


def test_of_exchanges_that_nothing_is_judged_by_only_a_refusal_counts(plain: Make, whole: Make) -> None:
    refused, served = plain(CHOICES, 400, error(param="n")), whole(CHOICES, change=choices("a", "b"))
    aside = ScenarioRun(scenario=refused.scenario, set_aside={refused.form: [refused, served]})
    assert absences([aside])[Capability.SEVERAL_CHOICES].status == 400
    assert uses([ScenarioRun(scenario=served.scenario, set_aside={served.form: [served]})]) == {}


def test_what_was_served_once_is_no_absence(plain: Make, whole: Make) -> None:
    refused = plain(CHOICES, 400, error(param="n"))
    served = whole(CHOICES, change=choices("a", "b"))
    assert absences(driven(refused, served)) == {}
    assert uses(driven(refused, served))[CHAT][Capability.SEVERAL_CHOICES] is Use.SERVED


@pytest.mark.parametrize(
    ("texts", "use"), [(("a", "b"), Use.SERVED), (("a", "b", "c"), Use.SERVED), (("a",), Use.IGNORED)]
)
def test_several_choices_are_counted(whole: Make, texts: tuple[str, ...], use: Use) -> None:
    assert use_of(whole(CHOICES, change=choices(*texts)), Capability.SEVERAL_CHOICES) is use


def test_a_call_that_was_due_and_did_not_come_was_ignored(whole: Make) -> None:
    assert use_of(whole(TOOLS, None, "tool_calls", calls=(CALL,)), Capability.CALLS) is Use.SERVED
    assert use_of(whole(TOOLS, "I call nothing."), Capability.CALLS) is Use.IGNORED
    # A model need not call what it is offered.
    assert use_of(whole(TOOLS, "I call nothing.", live=True), Capability.CALLS) is Use.NOT_SEEN
    # Half an answer shows nothing of what would have followed.
    assert use_of(whole(TOOLS, "I call", end="cut"), Capability.CALLS) is Use.NOT_SEEN


def test_a_choice_that_is_forced_is_served_by_calls_alone(whole: Make) -> None:
    text, call = whole(FORCED, "I call nothing."), whole(FORCED, None, "tool_calls", calls=(CALL,))
    assert use_of(text, Capability.FORCED_TOOL_CHOICE) is Use.IGNORED
    assert use_of(call, Capability.FORCED_TOOL_CHOICE) is Use.SERVED
    # The backend may have called by itself.
    assert uses(driven(call, text))[CHAT][Capability.FORCED_TOOL_CHOICE] is Use.IGNORED
    assert use_of(whole(FORCED, "I ca", end="cut"), Capability.FORCED_TOOL_CHOICE) is Use.NOT_SEEN


def test_structured_output_is_served_by_json_alone(whole: Make) -> None:
    text, data = whole(SCHEMA, "Hello!"), whole(SCHEMA, '{"a": 1}')
    assert use_of(text, Capability.STRUCTURED_OUTPUT) is Use.IGNORED
    assert use_of(data, Capability.STRUCTURED_OUTPUT) is Use.SERVED
    assert uses(driven(data, text))[CHAT][Capability.STRUCTURED_OUTPUT] is Use.IGNORED


def test_a_report_is_json_whether_or_not_a_schema_came(whole: Make) -> None:
    reported = scenario(script="reflect/received", body=SCHEMA.body)
    assert use_of(whole(reported, '{"schema": {}}'), Capability.STRUCTURED_OUTPUT) is Use.SERVED
    assert use_of(whole(reported, '{"schema": null}'), Capability.STRUCTURED_OUTPUT) is Use.IGNORED


def test_an_image_is_served_where_the_backend_reports_it(whole: Make) -> None:
    assert use_of(whole(IMAGES, json.dumps({"input": [PIXEL]})), Capability.IMAGES) is Use.SERVED
    assert use_of(whole(IMAGES, json.dumps({"input": []})), Capability.IMAGES) is Use.IGNORED
    assert use_of(whole(IMAGES, "A heron.", live=True), Capability.IMAGES) is Use.NOT_SEEN


def test_a_stream_is_one_of_frames(stream: Make) -> None:
    assert use_of(stream("text-hello", "Hello", STOP), Capability.STREAMS) is Use.SERVED
    whole_answer = json.dumps(choices("Hello")).encode()
    assert use_of(stream("text-hello", whole_answer, bare=True), Capability.STREAMS) is Use.IGNORED
    assert use_of(stream("text-hello", bare=True), Capability.STREAMS) is Use.NOT_SEEN
    assert use_of(stream("text-hello", error(), bare=True), Capability.STREAMS) is Use.NOT_SEEN


def test_usage_that_was_asked_for_comes_at_the_end(stream: Make, usage_chunk: Any) -> None:
    assert use_of(stream(USAGE, "Hi", STOP, usage_chunk(1, 2)), Capability.USAGE_IN_STREAMS) is Use.SERVED
    assert use_of(stream(USAGE, "Hi", STOP), Capability.USAGE_IN_STREAMS) is Use.IGNORED
    assert use_of(stream("text-hello", "Hi", STOP), Capability.USAGE_IN_STREAMS) is Use.NOT_SEEN


def test_each_surface_has_the_capabilities_of_its_requests(whole: Make) -> None:
    of_chat = uses(driven(whole(scenario(), "Hi.")))
    assert set(of_chat) == {CHAT}
    assert Capability.PREVIOUS_RESPONSE not in of_chat[CHAT]
    assert set(of_chat[CHAT].values()) == {Use.NOT_SEEN}


@pytest.mark.parametrize(("echoed", "use"), [("resp_0", Use.SERVED), (None, Use.IGNORED)])
def test_a_response_names_the_one_that_it_continues(plain: Make, echoed: str | None, use: Use) -> None:
    exchange = asking(plain, {"previous_response_id": "resp_0"}, expect=200)
    body = json.dumps({"object": "response", "previous_response_id": echoed}).encode()
    transcript = dataclasses.replace(
        exchange.transcript, status=200, url="http://x/v1/responses?a=b",
        pieces=(dataclasses.replace(exchange.transcript.pieces[0], data=body),),
    )  # fmt: skip
    found = uses(driven(dataclasses.replace(exchange, transcript=transcript)))
    assert found[Surface.RESPONSES][Capability.PREVIOUS_RESPONSE] is use
    assert Capability.SEVERAL_CHOICES not in found[Surface.RESPONSES]


def test_nothing_driven_is_nothing_used() -> None:
    assert (uses([]), absences([])) == ({}, {})


def stopping(plain: Make, status: int, body: dict[str, Any]) -> Exchange:
    """An answer to a request of Messages with a stop sequence."""
    came = plain(STOPS, status, json.dumps(body).encode(), dialect=Dialect.MESSAGES)
    return dataclasses.replace(
        came, transcript=dataclasses.replace(came.transcript, url="http://127.0.0.1:1/v1/messages")
    )


@pytest.mark.parametrize(
    ("text", "use"),
    [("Hello", Use.SERVED), ("Hello, world!", Use.IGNORED), ("Hello, world", Use.IGNORED)],
)
def test_a_stop_sequence_is_served_where_the_text_ends_before_it(text: str, use: Use, plain: Make) -> None:
    body = {
        "id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    answer = stopping(plain, 200, body)
    assert uses(driven(answer))[Surface.MESSAGES][Capability.STOP_SEQUENCES] is use


@pytest.mark.parametrize(
    ("message", "absent"),
    [
        ("stop_sequences: Extra inputs are not permitted", {Capability.STOP_SEQUENCES}),
        # LiteLLM, in front of an upstream that has no such parameter
        ("chatgpt does not support parameters: ['stop'], for model=gpt-5.4.", {Capability.STOP_SEQUENCES}),
        ("The model had to stop.", set()),
    ],
)
def test_stop_sequences_that_are_refused_are_an_absence(plain: Make, message: str, absent: set[Capability]) -> None:
    error = {"type": "invalid_request_error", "message": message}
    answer = stopping(plain, 400, {"type": "error", "error": error})
    assert absences(driven(answer)).keys() == absent
