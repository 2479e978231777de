from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.judging.checks import CHECKS
from wireproof.judging.checks.places import NO_USAGE
from wireproof.model.catalogue import load
from wireproof.model.requirement import Stage
from wireproof.model.scenario import Mode
from wireproof.model.transcript import End
from wireproof.reading.exchange import Exchange
from wireproof.scenarios import CONVERSATIONS
from wireproof.wire.facet import UNTOUCHED, Facet

if TYPE_CHECKING:
    from wireproof.wire.violation import Members, Violation

Make = Callable[..., Exchange]

UNANSWERED = ("reflect/", "fail/")
ANSWERED = [
    s.name
    for s in CONVERSATIONS
    # A scenario whose demand may be refused has no one right answer.
    if s.script and s.backend is None and Mode.WHOLE in s.modes
    and not (s.refusable or s.script.startswith(UNANSWERED))
]  # fmt: skip
ONE = ("call_search", "localSearch", '{"query": "release notes"}')
TWO = ("call_read", "readNote", '{"notePath": "notes/release.md"}')

ROWS = [row for row in load().requirements if row.id.startswith("chat.whole.") and row.id in CHECKS]
CHECKED = [row.id for row in ROWS if row.stage is not Stage.PARITY]
CONTENT = [row.id for row in ROWS if row.stage is Stage.CONTENT]


def found(row: str, exchange: Exchange) -> list[Violation]:
    violations = list(CHECKS.look(f"chat.whole.{row}", exchange))
    assert {violation.requirement for violation in violations} <= {f"chat.whole.{row}"}
    return violations


def only(row: str, exchange: Exchange) -> str:
    """What the one violation says; its place is in the body."""
    (violation,) = found(row, exchange)
    assert violation.place is not None
    assert violation.place.frame is None
    return violation.seen


@pytest.mark.each("row", CHECKED)
@pytest.mark.each("name", ANSWERED)
def test_the_right_answer_breaks_nothing(name: str, row: str, right_whole: Make) -> None:
    assert list(CHECKS.look(row, right_whole(name))) == []


@pytest.mark.parametrize("row", [row for row in CONTENT if row != "chat.whole.usage"])
def test_where_the_right_answer_is_not_known_nothing_is_missed(row: str, whole: Make) -> None:
    assert list(CHECKS.look(row, whole("call-one", "Whatever", "length", live=True))) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"provider": "mine"}, "the body: provider is not among the published fields"),
        ({"object": "completion"}, '/object: is "completion", should be "chat.completion"'),
        ({"id": "cmpl-2"}, 'id is "cmpl-2", it should begin with chatcmpl-'),
        ({"created": 1_700_000_000_000}, "created is 1700000000000, it should be a time in seconds"),
        ({"created": 5}, "created is 5, it should be a time in seconds"),
        ({"model": "gpt"}, 'model is "gpt", the request asked for "codex"'),
        ({"id": "x", "model": "gpt"}, 'id is "x", it should begin with chatcmpl-'),
    ],
)
def test_the_first_fault_of_the_envelope_is_reported(whole: Make, change: dict[str, Any], said: str) -> None:
    assert only("envelope", whole("text-hello", "Hello, world!", change=change)) == said


@pytest.mark.parametrize(("headers", "seen"), [({}, '""'), ({"content-type": "text/plain"}, '"text/plain"')])
def test_the_media_type_is_json(whole: Make, headers: dict[str, str], seen: str) -> None:
    exchange = whole("text-hello", "Hello, world!", headers=headers)
    assert only("envelope", exchange) == f"content-type is {seen}, it should be application/json"
    right = whole("text-hello", "Hello, world!", headers={"content-type": "application/json; charset=utf-8"})
    assert found("envelope", right) == []


@pytest.mark.parametrize(("kind", "strict_only"), [("text/plain", False), ("application/vnd.x+json; q=1", True)])
def test_a_media_type_that_is_not_jsons_stops_a_client_unless_it_ends_so(
    whole: Make, kind: str, *, strict_only: bool
) -> None:
    extra = {"provider": "mine"}
    (first, second) = found("envelope", whole("text-hello", "Hello!", change=extra, headers={"content-type": kind}))
    assert (first.strict_only, first.spoils) == (True, UNTOUCHED), "the member too many"
    assert (second.strict_only, second.spoils) == (strict_only, UNTOUCHED)


@pytest.mark.parametrize("end", [End.CUT, End.TIMEOUT])
def test_an_answer_that_broke_off_is_reported_as_that(plain: Make, end: End) -> None:
    (violation,) = found("envelope", plain("text-hello", 200, b'{"choi', end=end))
    assert violation.seen == f"the answer did not arrive whole: {end}"


def test_what_the_grammar_blames_is_not_reported_again(plain: Make) -> None:
    exchange = plain("text-hello", 200, b"Hello")
    assert exchange.reading is not None
    assert [violation.requirement for violation in exchange.reading.violations] == ["chat.whole.envelope"]
    assert found("envelope", exchange) == []


@pytest.mark.parametrize("indexes", [[], [1], [0, 1]])
def test_one_choice_is_what_was_asked_for(whole: Make, indexes: list[int]) -> None:
    message = {"role": "assistant", "content": "Hello, world!", "refusal": None}
    choices = [{"index": index, "message": message, "finish_reason": "stop", "logprobs": None} for index in indexes]
    exchange = whole("text-hello", change={"choices": choices})
    assert only("choices", exchange) == f"n is 1; the indexes of the choices are {indexes}, they should be [0]"


@pytest.mark.parametrize(("indexes", "spoils"), [([None], UNTOUCHED), ([1], None), ([], None), ([None, None], None)])
def test_choices_without_an_index_are_known_by_their_places(
    whole: Make, indexes: list[int | None], spoils: frozenset[Facet] | None
) -> None:
    message = {"role": "assistant", "content": "Hello, world!", "refusal": None}
    choices = [{"index": index, "message": message, "finish_reason": "stop", "logprobs": None} for index in indexes]
    left_out = [{name: value for name, value in one.items() if value is not None or name != "index"} for one in choices]
    exchange = whole("text-hello", change={"choices": left_out})
    (seen,) = found("choices", exchange)
    # None: what the row says that a violation of it spoils.
    assert seen.spoils == spoils
    assert found("envelope", exchange) == [], "one fault, one finding"


@pytest.mark.parametrize("indexes", [[], [0], [1, 0], [1, 0, 2]])
def test_so_many_choices_as_were_asked_for_come(whole: Make, right_whole: Make, indexes: list[int]) -> None:
    message = {"role": "assistant", "content": "Hello, world!", "refusal": None}
    choices = [{"index": index, "message": message, "finish_reason": "stop", "logprobs": None} for index in indexes]
    exchange = whole("choices-text", change={"choices": choices})
    assert only("choices", exchange) == f"n is 2; the indexes of the choices are {indexes}, they should be [0, 1]"
    assert found("choices", right_whole("choices-text")) == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "text-hello",
            "Hello, world",
            'choices[0].message.content: its last character is missing: "!"',
        ),
        ("text-hello", None, 'choices[0].message.content is null, it should be "Hello, world!"'),
        ("text-empty", None, 'choices[0].message.content is null, it should be ""'),
        ("history", "You said: hello", 'the backend sent a JSON object; what came is not one: "You said: hello"'),
        ("history", None, "the backend sent a JSON object; what came is not one: null"),
    ],
)
def test_another_text_is_reported(whole: Make, name: str, content: str | None, said: str) -> None:
    assert only("text", whole(name, content)).startswith(said)


@pytest.mark.parametrize(
    ("text", "at"), [("Hello, w\N{LATIN SMALL LETTER O WITH DIAERESIS}rld!", 8), ("Hello, wor\\", 10)]
)
def test_another_text_is_shown_where_it_begins_to_differ(whole: Make, text: str, at: int) -> None:
    exchange = whole("text-hello", text)
    (violation,) = found("text", exchange)
    assert violation.place is not None
    shown = exchange.transcript.body[violation.place.offset :][: violation.place.length]
    assert shown.decode() == json.dumps(text[at:], ensure_ascii=False)[1:-1]


def test_an_empty_text_and_a_reflection_are_right(whole: Make) -> None:
    assert found("text", whole("text-empty", "")) == []
    assert found("text", whole("history", '{"history": []}')) == []


def test_text_beside_a_call_is_for_another_check(whole: Make) -> None:
    exchange = whole("call-after-text", "Let me look.", "tool_calls", calls=[ONE])
    assert found("text", exchange) == []
    assert (
        only("content-null", exchange)
        == 'choices[0].message.content is "Let me look." beside a call, it should be null'
    )
    assert only("content-null", whole("call-one", "", "tool_calls", calls=[ONE])).startswith(
        'choices[0].message.content is ""'
    )


@pytest.mark.parametrize(
    ("usage", "said", "about", "counts"),
    [
        (None, "the answer has no usage with its three counts", NO_USAGE, False),
        ((1234, 56, 1), "total_tokens is 1, prompt_tokens and completion_tokens make 1290", None, False),
        ((1, 2), "usage is 1 + 2, the backend reported 1234 + 56", None, True),
    ],
)
def test_other_usage_is_reported(
    whole: Make, usage: tuple[int, ...] | None, said: str, about: Members | None, *, counts: bool
) -> None:
    exchange = whole("usage-asked", "Counted.", usage=usage)
    assert only("usage", exchange) == said
    (violation,) = found("usage", exchange)
    assert (violation.about, violation.counts) == (about, counts)


def test_a_member_too_many_hides_no_wrong_value(whole: Make) -> None:
    said = [
        one.seen for one in found("envelope", whole("text-hello", "Hello!", change={"provider": "a", "model": "b"}))
    ]
    assert said == [
        "the body: provider is not among the published fields",
        'model is "b", the request asked for "codex"',
    ]


@pytest.mark.parametrize(("cached", "wrong"), [(0, True), (1000, False), (None, False)])
def test_details_that_are_not_the_backends_are_reported(whole: Make, cached: int | None, *, wrong: bool) -> None:
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    usage = {"prompt_tokens": 1234, "completion_tokens": 56, "total_tokens": 1290, **details}
    said = [one.seen for one in found("usage", whole("usage-asked", "Counted.", change={"usage": usage}))]
    assert said == (["usage has 0 cached tokens, the backend reported 1000"] if wrong else [])


def test_any_usage_that_adds_up_will_do_where_the_backend_reported_none(whole: Make) -> None:
    assert found("usage", whole("finish-filter", "x", "content_filter", usage=(1, 2))) == []
    assert found("usage", whole("usage-asked", "x", usage=(1, 2), live=True)) == []


def test_another_finish_is_reported(whole: Make) -> None:
    exchange = whole("call-beats-length", None, "length", calls=[ONE])
    assert only("finish", exchange) == 'choices[0].finish_reason is "length", it should be "tool_calls"'


@pytest.mark.parametrize("calls", [[], [ONE], [TWO, ONE], [ONE, TWO, TWO], [ONE, ("call_read", "readnote", "{}")]])
def test_calls_that_are_missing_added_reordered_or_renamed_are_reported(
    whole: Make, calls: list[tuple[str, ...]]
) -> None:
    said = only("calls-all-in-order", whole("calls-burst", None, "tool_calls", calls=calls))
    assert said.startswith("the backend called localSearch (call_search), readNote (call_read); ")


def test_a_proxy_may_give_ids_of_its_own(whole: Make) -> None:
    mine = [("m1", *ONE[1:]), ("m2", *TWO[1:])]
    assert found("calls-all-in-order", whole("calls-burst", None, "tool_calls", calls=mine)) == []


def test_equal_calls_are_distinguished_by_ids_that_were_kept(whole: Make) -> None:
    calls = [(f"call_same_{number}", "localSearch", "{}") for number in (2, 1)]
    assert found("calls-all-in-order", whole("calls-same-twice", None, "tool_calls", calls=calls)) != []
    mine = [(f"mine_{number}", "localSearch", "{}") for number in (2, 1)]
    assert found("calls-all-in-order", whole("calls-same-twice", None, "tool_calls", calls=mine)) == []


def test_other_arguments_are_reported_for_calls_of_the_same_name_only(whole: Make) -> None:
    exchange = whole(
        "calls-burst", None, "tool_calls", calls=[("call_search", "localSearch", '{"query":"release notes"}')]
    )
    assert only("arguments-verbatim", exchange).startswith(
        "choices[0].message.tool_calls[0].function.arguments: 25 characters instead"
    )
    assert found("arguments-verbatim", whole("calls-burst", None, "tool_calls", calls=[TWO])) == []


@pytest.mark.parametrize("name", ["fail-first", "fail-after-text", "fail-after-call"])
def test_a_failure_that_is_answered_as_a_success_is_reported(whole: Make, plain: Make, name: str) -> None:
    assert only("backend-error", whole(name, "Half an answer")) == "the backend failed, and the answer is HTTP 200"
    assert found("backend-error", plain(name, 502)) == []
