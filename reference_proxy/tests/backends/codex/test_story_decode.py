from __future__ import annotations

from typing import Any

import pytest

from wireproof_proxy.backends.codex.decode import Decoder
from wireproof_proxy.backends.codex.rpc import Notice, ServerRequest
from wireproof_proxy.backends.codex.turn_decoder import CodexTurnDecoder
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    ChoiceFinished,
    Event,
    MessageEnded,
    TextAdded,
    TurnOver,
    UsageReported,
    Working,
)

STARTED = Notice("turn/started", {"threadId": "t", "turn": {"id": "u"}})
OVER = Notice("turn/completed", {"threadId": "t", "turn": {"id": "u", "status": "completed"}})
STOP = ChoiceFinished(reason="stop")


def delta(sent: Any, **more: Any) -> Notice:
    return Notice("agentMessageDelta", {"threadId": "t", "delta": sent, **more})


def message(sent: Any, **more: Any) -> Notice:
    return Notice("agentMessage", {"conversationId": "t", "message": sent, **more})


def counted(**sent: Any) -> Notice:
    return Notice("tokenCount", {"conversation_id": "t", **sent})


def play(*received: Notice | ServerRequest, **state: Any) -> list[Event]:
    """The events of a turn, without those that only show work."""
    decoder = Decoder(CodexTurnDecoder(**state))
    events = [event for one in (STARTED, *received) for event in decoder.feed(one)]
    return [event for event in events if not isinstance(event, Working | TurnOver)]


ARGUMENTS = '{"query": "x", "limit": 1.50}'
FRAGMENTS = ['{"query"', ': "x", "limit": 1.5', "0}"]
CALL = [
    CallBegan(id="c", name="f"),
    ArgumentsAdded(id="c", text=ARGUMENTS),
    CallClosed(id="c"),
]


def joined(events: list[Event]) -> list[Event]:
    """Neighbouring fragments of a call as one."""
    said: list[Event] = []
    for event in events:
        match said[-1:], event:
            case [ArgumentsAdded(id=id_, text=text)], ArgumentsAdded() if event.id == id_:
                said[-1] = ArgumentsAdded(id=id_, text=text + event.text)
            case _:
                said.append(event)
    return said


def tool_calls(*, id_: Any = None, late: Any = None) -> list[Notice]:
    """Shape a."""
    head = {"index": 0, **(id_ or {}), "type": "function", "function": {"name": "f", "arguments": ""}}
    sent: list[Any] = [{"index": 0, "function": {"arguments": text}} for text in FRAGMENTS]
    sent[-1] |= late or {}
    return [delta({"tool_calls": [one]}) for one in [head, *sent]]


def function_call(*, id_: Any = None, late: Any = None, outside: Any = None) -> list[Notice]:
    """Shape b."""
    sent: list[Any] = [{"arguments": text} for text in FRAGMENTS]
    sent[-1] |= late or {}
    return [delta({**(outside or {}), "function_call": one}) for one in [{"name": "f", **(id_ or {})}, *sent]]


def responses(*, id_: Any = None, late: Any = None, place: Any = None, last: Any = None) -> list[Notice]:
    """Shape c."""
    place = {"output_index": 0} if place is None else place
    item = {"type": "function_call", "name": "f", "arguments": "", **(id_ or {})}
    events = [{"type": "response.output_item.added", **place, "item": item}]
    events += [{"type": "response.function_call_arguments.delta", **place, "delta": text} for text in FRAGMENTS]
    events.append({"type": "response.function_call_arguments.done", **place, "arguments": ARGUMENTS, **(late or {})})
    done = {**item, "arguments": ARGUMENTS, **(late or {}), **(last or {})}
    events.append({"type": "response.output_item.done", **place, "item": done})
    return [delta(event) for event in events]


def whole(call: Any) -> list[Notice]:
    return [message({"role": "assistant", "content": None, **call})]


NATIVE = Notice(
    "rawResponseItem/completed",
    {
        "threadId": "t",
        "turnId": "u",
        "item": {"type": "function_call", "call_id": "c", "name": "f", "arguments": ARGUMENTS},
    },
)

SHAPES: dict[str, list[Notice]] = {
    "a": tool_calls(id_={"id": "c"}),
    "a, late id": tool_calls(late={"id": "c"}),
    "a, call_id": tool_calls(id_={"call_id": "c"}),
    "a, toolCallId": tool_calls(id_={"toolCallId": "c"}),
    "a, item_id": tool_calls(id_={"item_id": "c"}),
    "b": function_call(id_={"call_id": "c"}),
    "b, late id": function_call(late={"id": "c"}),
    "b, id beside it": function_call(outside={"tool_call_id": "c"}),
    "b, camel case": function_call(late={"callId": "c"}),
    "c": responses(id_={"id": "fc_c", "call_id": "c"}),
    "c, late id": responses(late={"call_id": "c", "item_id": "fc_c"}),
    "c, named by the item": responses(id_={"id": "fc_c", "call_id": "c"}, place={"item_id": "fc_c"}),
    "c, id with the last word": responses(last={"call_id": "c"}),
    "c, no place": responses(late={"call_id": "c"}, place={}),
    "c, only an item's id": responses(id_={"id": "c"}),
    "d": whole({"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": ARGUMENTS}}]}),
    "d, flat and in camel case": whole({"toolCalls": [{"callId": "c", "name": "f", "arguments": ARGUMENTS}]}),
    "d, function_call": whole({"function_call": {"call_id": "c", "name": "f", "arguments": ARGUMENTS}}),
    "d, functionCall": whole({"functionCall": {"id": "c", "name": "f", "arguments": ARGUMENTS}}),
    "d, both": whole(
        {
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": ARGUMENTS}}],
            "function_call": {"name": "f", "arguments": ARGUMENTS},
        }
    ),
    "e": [NATIVE],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_call_is_the_same_in_every_shape(shape: str) -> None:
    assert joined(play(*SHAPES[shape], OVER, tools=frozenset("f"))) == [*CALL, STOP]


@pytest.mark.each("one", SHAPES)
@pytest.mark.each("other", SHAPES)
def test_a_call_sent_in_two_shapes_is_one(one: str, other: str) -> None:
    events = joined(play(*SHAPES[one], *SHAPES[other], OVER, tools=frozenset("f")))
    assert [event for event in events if isinstance(event, CallBegan)] == CALL[:1]
    assert events[-1] == STOP


def test_a_call_without_an_id_has_the_same_one_however_it_is_sent() -> None:
    nameless = [
        tool_calls(),
        function_call(),
        responses(),
        whole({"function_call": {"name": "f", "arguments": ARGUMENTS}}),
    ]
    ids = {play(*sent, OVER)[0].id for sent in nameless}  # type: ignore[union-attr]
    assert len(ids) == 1
    both = play(*nameless[0], *nameless[-1], OVER)
    assert sum(isinstance(event, CallBegan) for event in both) == 1


def test_arguments_that_are_parsed_are_sent_compact() -> None:
    sent = [{"id": "c", "function": {"name": "f", "arguments": {"a": [1, None]}}}]
    assert play(*whole({"tool_calls": sent}))[1] == ArgumentsAdded(id="c", text='{"a":[1,null]}')


def test_fragments_are_open_until_the_turn_is_over() -> None:
    assert CallClosed(id="c") not in play(*SHAPES["a"])
    assert play(*SHAPES["a"], counted(finish_reason="tool_calls"))[-2:] == [CallClosed(id="c"), STOP]


# Text


@pytest.mark.parametrize("sent", ["Hello", {"content": "Hello"}, {"content": [{"type": "text", "text": "Hello"}]},
                                  {"type": "response.output_text.delta", "delta": "Hello"}])  # fmt: skip
def test_text_is_text_in_every_form(sent: Any) -> None:
    assert play(delta(sent)) == [TextAdded(text="Hello")]


@pytest.mark.parametrize("sent", ["Hello", {"role": "assistant", "content": "Hello"}])
def test_a_message_is_sent_unless_its_deltas_were(sent: Any) -> None:
    assert play(message(sent)) == [TextAdded(text="Hello")]
    assert play(delta("Hello"), message(sent)) == [TextAdded(text="Hello")]
    assert play(delta("Hello"), message(sent), message(sent)) == [
        TextAdded(text="Hello"),
        MessageEnded(),
        TextAdded(text="Hello"),
    ]


@pytest.mark.parametrize("sent", [None, 1, [], {}, {"content": 1}, {"tool_calls": "x"}, {"type": "response.created"},
                                  {"type": "response.output_item.added", "item": {"type": "message"}}])  # fmt: skip
def test_what_says_nothing_is_work(sent: Any) -> None:
    assert play(delta(sent), message(sent)) == []


def test_words_of_another_turn_are_not_received() -> None:
    assert play(delta("a", turnId="other"), delta("b", turnId="u")) == [TextAdded(text="b")]


def test_words_that_come_before_the_turn_is_known_are_received() -> None:
    assert Decoder().feed(delta("early")) == [TextAdded(text="early")]


# Ends


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("tool_calls", "stop"),
        ("?", "stop"),
    ],
)
def test_a_reason_ends_the_choice(sent: str, reason: Any) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 3}
    counts = UsageReported(prompt=5, completion=3)
    assert play(counted(usage=usage, finish_reason=sent)) == [counts, ChoiceFinished(reason=reason)]
    assert play(counted(finishReason=sent)) == [ChoiceFinished(reason=reason)]


@pytest.mark.parametrize(
    "sent",
    [
        {"usage": {"input_tokens": 5, "output_tokens": 3}},
        {"tokenUsage": {"total": {"inputTokens": 5, "outputTokens": 3}}},
        {"token_usage": {"total_token_usage": {"input_tokens": 5, "output_tokens": 3}}},
        {"prompt_tokens": 5, "completion_tokens": 3},
    ],
)
@pytest.mark.parametrize("method", ["tokenCount", "usage"])
def test_usage_is_found_wherever_it_stands(sent: Any, method: str) -> None:
    assert play(Notice(method, {"threadId": "t", **sent})) == [UsageReported(prompt=5, completion=3)]


def test_the_answer_to_the_request_may_say_how_it_ended() -> None:
    assert Decoder().answered({"finish_reason": "length"}) == [ChoiceFinished(reason="length")]
    assert Decoder().answered({}) == []
    assert Decoder(CodexTurnDecoder(over=True)).answered({"finish_reason": "length"}) == []


# Choices


INDEXED = [
    delta("Zero", choice_index=0),
    delta({"content": "One", "choiceIndex": 1}),
    delta(", goes on"),
    message({"content": "One", "choice_index": 1}),
    counted(finish_reason="stop", choice_index=0),
    counted(finish_reason="length", choice_index=1),
    counted(usage={"prompt_tokens": 5, "completion_tokens": 3}),
]


def test_a_turn_reads_its_own_choice_and_what_has_none_is_of_choice_0() -> None:
    zero = play(*INDEXED, choice=0, choices=2)
    assert zero == [TextAdded(text="Zero"), TextAdded(text=", goes on"), STOP, UsageReported(prompt=5, completion=3)]
    one = play(*INDEXED, choice=1, choices=2)
    assert one == [TextAdded(choice=1, text="One"), ChoiceFinished(choice=1, reason="length")]


def test_a_turn_that_never_names_a_choice_is_all_of_its_own() -> None:
    assert play(delta("a"), choice=1, choices=2) == [TextAdded(choice=1, text="a")]


def test_a_choice_that_was_not_asked_for_is_not_received() -> None:
    assert play(delta("a", choice_index=1), message("b", choiceIndex=3)) == []


def nested(notice: Notice) -> Notice:
    """What a notification says, inside `msg`."""
    names = {"threadId", "conversationId", "conversation_id"}
    said = {name: value for name, value in notice.params.items() if name not in names}
    return Notice(notice.method, {**{n: v for n, v in notice.params.items() if n in names}, "msg": said})


@pytest.mark.parametrize(
    "received",
    [
        [delta("Hel"), delta("lo"), message("Hello"), counted(finish_reason="length")],
        [*tool_calls(id_={"id": "c"}), counted(usage={"prompt_tokens": 1, "completion_tokens": 2})],
        [delta("a", choice_index=1), delta("b", choice_index=0), counted(finish_reason="stop", choice_index=0)],
    ],
)
def test_what_is_nested_is_read_as_if_it_were_not(received: list[Notice]) -> None:
    events = play(*received)
    assert events
    assert play(*map(nested, received)) == events
