"""A stream against the whole answer, and a response against chat."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from wireproof.judging.checks.surface_parity import across, parity
from wireproof.judging.checks.surface_parity import streamed as compared
from wireproof.model.dialect import Dialect
from wireproof.model.target import Missing
from wireproof.model.transcript import End
from wireproof.wire.facet import Facet

Json = dict[str, Any]
Make = Callable[..., Any]
RE: Json = {"dialect": Dialect.RESPONSES}


def test_the_terminal_response_is_the_whole_answer(streamed: Make, answered: Make, hello: Json) -> None:
    other = {**copy.deepcopy(hello), "id": "resp_2", "created_at": 1_700_000_001}
    other["output"][0]["id"] = "msg_other"
    assert list(compared(streamed("text-hello", hello), answered("text-hello", other))) == []
    (found,) = compared(streamed("text-hello", hello), answered("text-hello", {**other, "metadata": {"a": "1"}}))
    assert found.seen == 'metadata: the stream says null, the whole answer {"a": "1"}'
    assert list(compared(streamed("text-hello", hello), answered("text-hello", other, end=End.CUT))) == []
    # What is null says no more than what is missing, in an item, too.
    for phase, parts in ((None, []), ("final_answer", [Facet.EVENTS])):
        phased = {**other, "output": [{**other["output"][0], "phase": phase}]}
        assert [one.part for one in compared(streamed("text-hello", hello), answered("text-hello", phased))] == parts


def test_a_message_that_is_missing_is_a_missing_text_and_no_call(
    streamed: Make, answered: Make, response: Make, message_item: Make, call_item: Make, counted: Json
) -> None:
    both = response("completed", [message_item("Hi."), call_item("call_a", "f", "{}", 1)], usage=counted)
    # Nothing else is told of what is missing: not its id, its arguments nor its status.
    for left, part in ((both["output"][1:], Facet.TEXT), (both["output"][:1], Facet.CALL)):
        other = {**both, "output": left}
        assert [one.part for one in compared(streamed("calls-burst", both), answered("calls-burst", other))] == [part]


def test_an_empty_message_is_a_difference_unless_it_stands_for_a_call_that_is_missing(
    streamed: Make, answered: Make, response: Make, message_item: Make, call_item: Make, counted: Json
) -> None:
    none, empty, call = (
        response("completed", items, usage=counted)
        for items in ([], [message_item("")], [call_item("call_a", "f", "{}")])
    )
    for one, other, part in ((none, empty, Facet.TEXT), (empty, none, Facet.TEXT), (call, empty, Facet.CALL)):
        found = compared(streamed("call-one", one), answered("call-one", other))
        assert [difference.part for difference in found] == [part]


def test_a_terminal_response_that_is_no_object_is_compared_as_an_empty_one(
    stream: Make, answered: Make, hello: Json
) -> None:
    ended = stream("text-hello", b'data: {"type": "response.completed", "response": []}\n\n', bare=True, **RE)
    assert {one.part for one in compared(ended, answered("text-hello", hello))} >= {Facet.TEXT}


def test_under_policy_first_a_stream_ends_with_its_first_call(
    streamed: Make, answered: Make, response: Make, message_item: Make, call_item: Make, counted: Json
) -> None:
    calls = [call_item("call_a", "f", "{}", 1), call_item("call_b", "g", "{}", 2)]
    one = response("completed", [message_item("Hi."), calls[0]], usage=counted)
    two = response("completed", [message_item("Hi."), *calls], usage=counted)
    assert list(compared(streamed("calls-first", one), answered("calls-first", two))) == []
    found = list(compared(streamed("calls-burst", one), answered("calls-burst", two)))
    assert {one.seen.partition(":")[0] for one in found} == {"output"}
    assert Facet.CALL in {one.part for one in found}
    assert Facet.TEXT not in {one.part for one in found}
    text = response("completed", [message_item("Hi.")], usage=counted)
    assert list(compared(streamed("calls-first", text), answered("calls-first", text))) == []


def test_a_response_says_what_chat_says(answered: Make, right_whole: Make, hello: Json, one_call: Json) -> None:
    assert list(across(answered("text-hello", hello), right_whole("text-hello"))) == []
    found = list(across(answered("text-hello", one_call), right_whole("text-hello")))
    assert [one.part for one in found] == [Facet.CALL, Facet.ARGUMENTS, Facet.FINISH, Facet.TEXT]
    assert found[0].seen.startswith('calls: the response says ["localSearch"')
    other = {**hello, "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    (only,) = across(answered("text-hello", other), right_whole("text-hello"))
    assert only.seen == 'finish: the response says "content_filter", chat "stop"'
    hello["output"] = []
    (only,) = across(answered("text-hello", hello), right_whole("text-hello"))
    assert only.seen.startswith("text: ")


def test_a_response_is_compared_with_a_response_or_with_chat(
    streamed: Make, answered: Make, right_whole: Make, hello: Json, one_call: Json
) -> None:
    stream, response = streamed("text-hello", hello), answered("text-hello", one_call)
    chat = right_whole("text-hello")
    assert list(parity(stream, response)) == list(compared(stream, response)) != []
    assert list(parity(response, chat)) == list(across(response, chat)) != []


def test_text_that_an_upstream_has_for_the_stream_alone_is_no_difference(
    streamed: Make, answered: Make, response: Make, message_item: Make, call_item: Make, counted: Json
) -> None:
    both = response("completed", [message_item("Let me look."), call_item("call_a", "f", "{}", 1)], usage=counted)
    textless = {**both, "output": both["output"][1:]}
    stream, whole = streamed("call-after-text", both), answered("call-after-text", textless)
    assert [one.part for one in compared(stream, whole)] == [Facet.TEXT]
    # As `right_answers` has it where the upstream is asked for chat completions alone.
    silent = replace(whole, wanted=tuple(replace(one, text="") for one in whole.wanted))
    assert list(compared(stream, silent)) == []
    lost = {**both, "output": []}
    called = replace(answered("call-after-text", lost), wanted=silent.wanted)
    assert [one.part for one in compared(stream, called)] == [Facet.CALL]


def test_where_arguments_are_data_another_spelling_is_no_difference(
    streamed: Make, answered: Make, response: Make, call_item: Make, counted: Json
) -> None:
    one, same, other = (
        response("completed", [call_item("call_a", "f", said)], usage=counted)
        for said in ('{ "a": 1, "b": 2 }', '{"b":2.0,"a":1}', '{"a":1}')
    )
    target = replace(answered("call-one", one).target, missing=frozenset({Missing.SPELLING}))
    for missing, parts in (({}, [Facet.ARGUMENTS]), ({"target": target}, [])):
        found = compared(streamed("call-one", one, **missing), answered("call-one", same, **missing))
        assert [difference.part for difference in found] == parts
    found = compared(streamed("call-one", one, target=target), answered("call-one", other, target=target))
    assert [difference.part for difference in found] == [Facet.ARGUMENTS]
