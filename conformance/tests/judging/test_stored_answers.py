from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wireproof.judging import stored_answers
from wireproof.judging.stored_answers import ESTIMATED, difference, document, file_name, render, stored
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect, Surface
from wireproof.model.scenario import Form, Mode
from wireproof.model.target import Backend, Missing
from wireproof.model.transcript import End
from wireproof.reading.exchange import Exchange
from wireproof.reading.right_answers import answers_to, right_answers
from wireproof.scenarios import CONVERSATIONS
from wireproof.wire.facet import Facet

Make = Callable[..., Exchange]

HELLO = """\
events: role text finish
text: "Hello, world!"
finish: stop
"""
STREAM, WHOLE = Form(Dialect.OPENAI_JSON, Mode.STREAM), Form(Dialect.OPENAI_JSON, Mode.WHOLE)
STOP = {"finish": "stop"}
REFLECTING = [s.name for s in CONVERSATIONS if any((t.script or s.script).startswith("reflect/") for t in s.turns)]
KNOWN = [
    pytest.param(s.name, form, id=f"{s.name}, {form}")
    for s in CONVERSATIONS
    # Where the backend carries calls as data there is no one spelling to store.
    if s.turns and s.backend is None and s.name not in REFLECTING
    for form in s.forms(Dialect)
]

OF_LINES = [facet for facet in Facet if any(facet in row.facets for row in load().requirements)]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder in place of the stored answers."""
    monkeypatch.setattr(stored_answers, "_folder", lambda: tmp_path)
    stored.cache_clear()
    (tmp_path / "openai-json").mkdir()
    yield tmp_path
    stored.cache_clear()


def test_an_answer_is_reported_in_lines(stream: Make) -> None:
    assert render(stream("text-hello", "Hello", ", world!", STOP)) == HELLO


def test_how_often_something_was_said_is_nobodys_business(stream: Make, call: Callable[..., Any]) -> None:
    frames = (b": keep-alive\n\n", call(0, "a", "f"), b": keep-alive\n\n", STOP)
    assert render(stream("call-one", *frames)).splitlines()[0] == "events: role call finish"


def test_after_an_error_the_end_may_be_reported_or_not(stream: Make, error_frame: bytes) -> None:
    failed = stream("fail-after-text", "Half", error_frame)
    silent = stream("fail-after-text", {"role": "assistant"}, "Half", error_frame, bare=True)
    assert render(failed) == render(silent)
    assert render(failed).startswith("events: role text error\n")


def test_calls_are_reported_by_name_and_arguments_without_ids(whole: Make) -> None:
    exchange = whole("calls-burst", None, "tool_calls", calls=[("a", "search", '{"q": "é"}'), ("b", "read", "")])
    assert render(exchange).splitlines() == [
        "events: role call arguments call finish usage",
        "text: null",
        "call: search",
        'arguments: "{\\"q\\": \\"é\\"}"',
        "call: read",
        'arguments: ""',
        "finish: tool_calls",
        "usage: 11 + 7 = 18",
    ]


def test_usage_that_the_backend_did_not_report_is_the_proxys_own(whole: Make) -> None:
    assert render(whole("finish-filter", "x", "content_filter")).splitlines()[-1] == ESTIMATED


def test_failures_are_reported(stream: Make, plain: Make, error_frame: bytes) -> None:
    assert render(plain("fail-first", 502)) == "error: before output\n"
    assert render(plain("fail-first", None)) == "error: no response\n"
    assert render(stream("fail-after-text", "Half", error_frame)).splitlines()[-1] == "error: in the stream"


def test_a_reflection_is_different_each_time(whole: Make) -> None:
    assert "text: (reflected)" in render(whole("history", '{"history": []}')).splitlines()


@pytest.mark.parametrize(("length", "whole_text"), [(2000, True), (2001, False)])
def test_a_long_text_is_reported_by_its_length_and_ends(stream: Make, length: int, *, whole_text: bool) -> None:
    said = "a" + "x" * (length - 2) + "z"
    line = render(stream("text-long", said, STOP)).splitlines()[1]
    assert (said in line) == whole_text
    if not whole_text:
        assert line == f'text: 2001 characters, "a{"x" * 59}" … "{"x" * 59}z"'


def test_a_document_says_the_exchanges_but_for_the_one_that_was_left(stream: Make) -> None:
    left = stream("disconnect", "I have begun", bare=True, end=End.LEFT)
    after = stream("disconnect", '{"turns": []}', STOP, number=1)
    assert document([left, after]) == f"# exchange 2\n{render(after)}"
    hello = stream("text-hello", "Hello, world!", STOP)
    assert document([hello, after]) == f"# exchange 1\n{HELLO}# exchange 2\n{render(after)}"


@pytest.mark.parametrize("dialect", [Dialect.OBSIDIAN_XML, Dialect.OPENAI_JSON])
def test_a_block_may_stand_before_its_call_or_behind_it(
    store: Path, stream: Make, call: Callable[..., Any], dialect: Dialect
) -> None:
    pieces = ("<use_tool>", call(0, "a", "f", "{}"))
    before, behind = (stream("call-one", *frames, STOP, dialect=dialect) for frames in (pieces, pieces[::-1]))
    form = Form(dialect, Mode.STREAM)
    (store / file_name("call-one", form)).parent.mkdir(exist_ok=True)
    (store / file_name("call-one", form)).write_text(document([behind]), encoding="utf-8")
    explained = set(Facet) - {Facet.EVENTS}
    assert list(difference(behind, load(), explained)) == []
    assert bool(list(difference(before, load(), explained))) == (dialect is Dialect.OPENAI_JSON)


def test_what_was_stored_is_found_again(store: Path, stream: Make) -> None:
    hello = stream("text-hello", "Hello, world!", STOP)
    (store / file_name("text-hello", STREAM)).write_text(document([hello]), encoding="utf-8")
    assert stored("text-hello", STREAM) == {0: HELLO.splitlines()}
    assert stored("text-hello", WHOLE) == {}
    assert list(difference(hello, load(), ())) == []


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("events: role finish text", "chat.stream.parity"),
        ('text: "Hello"', "chat.stream.text"),
        ("finish: length", "chat.stream.finish-reason"),
    ],
)
def test_the_first_line_that_differs_names_its_requirement(store: Path, stream: Make, line: str, row: str) -> None:
    facet = line.partition(":")[0]
    lines = [line if one.startswith(facet) else one for one in HELLO.splitlines()]
    (store / file_name("text-hello", STREAM)).write_text("\n".join(["# exchange 1", *lines, ""]), encoding="utf-8")
    exchange = stream("text-hello", "Hello, world!", STOP)
    (violation,) = difference(exchange, load(), ())
    assert violation.requirement == row
    assert f"every conforming proxy says {line}" in violation.seen
    assert violation.place == exchange.body_place


def test_a_part_that_a_finding_explains_is_not_compared_and_the_others_are(store: Path, stream: Make) -> None:
    lines = '# exchange 1\nevents: role text finish\ntext: "Hello"\nfinish: length\n'
    (store / file_name("text-hello", STREAM)).write_text(lines, encoding="utf-8")
    exchange = stream("text-hello", "Hello, world!", STOP)

    def found(*explained: Facet) -> list[str]:
        return [one.requirement for one in difference(exchange, load(), explained)]

    assert found() == ["chat.stream.text"]
    assert found(Facet.TEXT) == ["chat.stream.finish-reason"]
    assert found(Facet.FINISH) == ["chat.stream.text"]
    assert found(Facet.TEXT, Facet.FINISH) == []


@pytest.mark.parametrize(
    ("stored_lines", "members", "said"),
    [
        (3, 4, "the answer says usage: 11 + 7 = 18, every conforming proxy says nothing more"),
        (4, 3, "the answer says nothing more, every conforming proxy says usage: 11 + 7 = 18"),
    ],
)
def test_a_line_more_or_less_is_a_difference(
    store: Path, whole: Make, monkeypatch: pytest.MonkeyPatch, stored_lines: int, members: int, said: str
) -> None:
    exchange = whole("text-hello", "Hello, world!")
    lines = render(exchange).splitlines()
    text = "\n".join(["# exchange 1", *lines[:stored_lines], ""])
    (store / file_name("text-hello", WHOLE)).write_text(text, encoding="utf-8")
    monkeypatch.setattr(stored_answers, "_lines", lambda _: lines[:members])
    (violation,) = difference(exchange, load(), ())
    assert (violation.requirement, violation.seen) == ("chat.whole.usage", said)


def test_of_an_empty_answer_whose_end_is_lost_no_text_is_missed(whole: Make, store: Path) -> None:
    right = whole("text-hello", "")
    (store / file_name("text-hello", WHOLE)).write_text(document([right]), encoding="utf-8")
    assert right.reading is not None
    lost = replace(right, reading=replace(right.reading, events=()))
    explained = {Facet.FINISH, Facet.USAGE, Facet.EVENTS}
    assert [one.requirement for one in difference(lost, load(), explained - {Facet.FINISH})][:1] == ["chat.whole.text"]
    assert list(difference(lost, load(), explained)) == []


def test_a_gateway_that_asks_its_upstream_for_one_call_has_lost_none(whole: Make) -> None:
    conversation = next(one for one in CONVERSATIONS if one.name == "calls-first")
    first, second = answers_to(conversation, 0, WHOLE)[0].calls

    def differs(backend: Backend, *calls: Any) -> bool:
        said = [(call.id, call.name, call.arguments) for call in calls]
        exchange = whole("calls-first", None, "tool_calls", calls=said)
        exchange = replace(exchange, target=replace(exchange.target, backend=backend))
        return bool(list(difference(replace(exchange, wanted=right_answers(exchange)), load(), ())))

    assert not differs(Backend.ENDPOINT, first)
    assert not differs(Backend.ENDPOINT, first, second)
    assert differs(Backend.ENDPOINT)
    assert differs(Backend.MOCK, first)


def test_where_an_upstream_carries_arguments_as_data_another_spelling_is_no_difference(whole: Make) -> None:
    conversation = next(one for one in CONVERSATIONS if one.name == "call-one")
    (call,) = answers_to(conversation, 0, WHOLE)[0].calls

    def differs(arguments: str, *missing: Missing) -> bool:
        exchange = whole("call-one", None, "tool_calls", calls=[(call.id, call.name, arguments)])
        target = replace(exchange.target, backend=Backend.ENDPOINT, missing=frozenset(missing))
        return bool(list(difference(replace(exchange, target=target), load(), ())))

    respelled = json.dumps(json.loads(call.arguments))
    assert respelled != call.arguments
    assert differs(respelled)
    assert not differs(respelled, Missing.SPELLING)
    assert differs("{}", Missing.SPELLING)


def test_counts_that_an_older_backend_does_not_report_are_not_compared(whole: Make, store: Path) -> None:
    newer = whole("finish-length", "This answer is cut", "length")
    older = replace(newer, target=replace(newer.target, missing=frozenset({Missing.COUNTS})))
    (store / file_name("finish-length", WHOLE)).write_text(document([newer]))
    assert render(older).splitlines()[-1] == ESTIMATED != render(newer).splitlines()[-1]
    assert list(difference(older, load(), ())) == []


def test_counts_that_any_other_backend_does_not_report_are_a_difference(
    whole: Make, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = whole("finish-length", "This answer is cut", "length")
    (store / file_name("finish-length", WHOLE)).write_text(document([exchange]))
    monkeypatch.setattr(stored_answers, "counts", lambda _: None)
    assert [violation.requirement for violation in difference(exchange, load(), ())] == ["chat.whole.usage"]


def test_an_http_error_that_was_due_is_not_compared(store: Path, plain: Make) -> None:
    (store / file_name("fail-first", WHOLE)).write_text("# exchange 1\nevents: role\n", encoding="utf-8")
    assert list(difference(plain("fail-first", 502), load(), ())) == []


@pytest.mark.each("dialect", Dialect)
@pytest.mark.each("mode", Mode)
@pytest.mark.each("facet", OF_LINES)
def test_each_kind_of_line_is_of_one_row(facet: Facet, mode: Mode, dialect: Dialect) -> None:
    if facet is Facet.CREATED and dialect.spec.surface is Surface.MESSAGES:
        return  # these answers say no time
    rows = [row for row in load().requirements if facet in row.facets and dialect in row.dialects]
    (named,) = [row for row in rows if mode in row.modes] or rows
    assert load().of_facet(facet, Form(dialect, mode)) is named


def test_a_line_that_no_row_speaks_of_is_not_judged(store: Path, stream: Make) -> None:
    lines = HELLO.replace("Hello", "Goodbye")
    (store / file_name("text-hello", STREAM)).write_text(f"# exchange 1\n{lines}", encoding="utf-8")
    exchange = stream("text-hello", "Hello, world!", STOP)
    others = [replace(row, facets=()) for row in load().requirements]
    assert [one.requirement for one in difference(exchange, load(), ())] == ["chat.stream.text"]
    assert list(difference(exchange, replace(load(), requirements=tuple(others)), ())) == []


@pytest.mark.each(("name", "form"), KNOWN)
def test_the_stored_answers_are_what_the_scripts_say(
    name: str, form: Form, right_stream: Make, right_whole: Make
) -> None:
    right = right_stream if form.mode is Mode.STREAM else right_whole
    answers = stored(name, form)
    assert answers
    for number in answers:
        assert list(difference(right(name, number, dialect=form.dialect), load(), ())) == []


def test_answers_lie_in_the_folder_of_their_dialect() -> None:
    assert file_name("call-one", STREAM) == "openai-json/call-one.stream.txt"
    assert file_name("call-one", Form(Dialect.OBSIDIAN_XML, Mode.WHOLE)) == "obsidian-xml/call-one.whole.txt"


def test_choices_interleave_freely(stream: Make) -> None:
    begun, said, ended = {"role": "assistant", "choice": 1}, {"content": "b", "choice": 1}, {**STOP, "choice": 1}
    apart = stream("choices-text", "a", STOP, begun, said, ended)
    mixed = stream("choices-text", begun, "a", said, STOP, ended)
    assert render(apart) == render(mixed)
    assert render(mixed).startswith("events: role text finish role text finish\n")


def test_each_choice_is_reported(stream: Make) -> None:
    second = ({"role": "assistant", "choice": 1}, {"content": "b", "choice": 1}, {**STOP, "choice": 1})
    assert render(stream("choices-text", "a", STOP, *second)).splitlines()[1:] == [
        'text: "a"', "finish: stop", 'text: "b"', "finish: stop",
    ]  # fmt: skip


def test_the_answers_of_an_installed_package_lie_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = stored_answers._folder()
    assert checkout.name == "answers"
    assert checkout.is_dir()
    monkeypatch.setattr("importlib.resources.files", lambda _: tmp_path)
    assert stored_answers._folder() == Path(stored_answers.__file__).parents[3] / "snapshots" / "answers"
    inside = tmp_path / "_data" / "snapshots" / "answers"
    inside.mkdir(parents=True)
    assert stored_answers._folder() == inside
