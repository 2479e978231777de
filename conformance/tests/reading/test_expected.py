from __future__ import annotations

from typing import Any, get_args

import pytest

from wireproof.model.answer_terms import AnswerTerms
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Form, Mode
from wireproof.reading.expected import Expected, ExpectedFailure, expected
from wireproof_scripts.files.definitions import DEFINITIONS, NAMES
from wireproof_scripts.files.json_form import step_from_json
from wireproof_scripts.steps import (
    Call,
    Crash,
    Doing,
    Elsewhere,
    ErrorNotice,
    Fail,
    Finish,
    Gate,
    Hang,
    Raw,
    Reflect,
    Say,
    Spoken,
    Step,
    Surrogates,
    Think,
    Usage,
    cursor,
)

A = Call(id="a", name="search", arguments='{"q": 1.50}')
B = Call(id="b", name="read", arguments="{}")
SAY = Say(("Hel", "lo"))


XML, LEGACY = Dialect.OBSIDIAN_XML, Dialect.FUNCTION_CALL
every_form = pytest.mark.parametrize("form", [Form(dialect, mode) for dialect in Dialect for mode in Mode], ids=str)


def stream(*part: Step, burst: bool = False, dialect: Dialect = Dialect.OPENAI_JSON) -> Expected:
    return expected(part, Form(dialect, Mode.STREAM), AnswerTerms(burst=burst))


def whole(*part: Step, burst: bool = False, dialect: Dialect = Dialect.OPENAI_JSON) -> Expected:
    return expected(part, Form(dialect, Mode.WHOLE), AnswerTerms(burst=burst))


def names(answer: Expected) -> list[str]:
    return [call.name for call in answer.calls]


@every_form
def test_text_is_all_pieces_joined_and_reasoning_is_none_of_it(form: Form) -> None:
    answer = expected((Think("Hm."), SAY, Say(("!",), times=3)), form, AnswerTerms(burst=False))
    assert (answer.text, answer.calls, answer.finish) == ("Hello!!!", (), "stop")


@every_form
def test_an_answer_without_a_word_is_an_empty_text(form: Form) -> None:
    answer = expected((), form, AnswerTerms(burst=False))
    assert (answer.text, answer.finish, answer.failure) == ("", "stop", ExpectedFailure.NONE)


@pytest.mark.parametrize("reason", ["stop", "length", "content_filter"])
def test_the_finish_is_the_backends(reason: str) -> None:
    assert stream(SAY, Finish(reason)).finish == reason  # type: ignore[arg-type]  # one of the three


def test_a_call_beats_the_backends_finish() -> None:
    assert stream(A, Finish("length")).finish == "tool_calls"


def test_what_comes_after_the_finish_is_dropped() -> None:
    answer = stream(SAY, Finish(), Say((" late",)), B)
    assert (answer.text, answer.calls) == ("Hello", ())


def test_text_after_a_call_is_dropped() -> None:
    assert stream(A, SAY).text == ""


def test_text_before_a_call_is_reported_in_a_stream_and_not_in_a_whole_answer() -> None:
    assert stream(SAY, A).text == "Hello"
    assert whole(SAY, A).text == ""


def test_calls_follow_the_stop_policy_in_streams_and_are_all_reported_in_whole_answers() -> None:
    assert names(stream(A, B)) == ["search"]
    assert names(stream(A, B, burst=True)) == ["search", "read"]
    assert names(whole(A, B)) == ["search", "read"]


def test_arguments_stay_the_models_own_text() -> None:
    assert stream(A).calls[0].arguments == '{"q": 1.50}'


@pytest.mark.parametrize("end", [Fail("cut"), Crash()])
def test_a_failure_before_any_output_is_an_http_error(end: Step) -> None:
    for answer in (stream(end), whole(end), stream(Think("Hm."), end)):
        assert answer.failure is ExpectedFailure.BEFORE_OUTPUT
        assert (answer.text, answer.calls, answer.finish, answer.usage) == ("", (), None, None)


@pytest.mark.parametrize("end", [Fail("cut"), Crash()])
@pytest.mark.parametrize("said", [(SAY,), (Reflect(),)])
def test_a_failure_in_mid_text_has_no_finish(end: Step, said: tuple[Step, ...]) -> None:
    answer = stream(*said, end)
    assert (answer.failure, answer.finish, answer.usage) == (ExpectedFailure.AFTER_TEXT, None, None)


def test_a_failure_after_a_call_leaves_no_trace() -> None:
    answer = stream(SAY, A, Fail("cut"))
    assert (answer.failure, answer.finish, names(answer)) == (ExpectedFailure.AFTER_CALL, "tool_calls", ["search"])
    assert answer.usage is None


def test_a_whole_answer_is_an_http_error_whenever_the_backend_fails() -> None:
    assert whole(SAY, A, Fail("cut")).failure is ExpectedFailure.BEFORE_OUTPUT


def test_a_turn_that_hangs_has_no_finish() -> None:
    assert stream(SAY, Hang()).finish is None


def test_a_backend_that_reflects_says_what_is_not_known_beforehand() -> None:
    assert stream(Reflect()).text is None


def test_usage_is_what_the_backend_reports() -> None:
    assert stream(SAY, Usage(input=3, output=2)).usage == Usage(input=3, output=2)
    assert stream(SAY).usage == Usage()


def test_a_filtered_answer_has_no_usage() -> None:
    assert stream(SAY, Finish("content_filter")).usage is None


def test_gates_are_those_before_the_end() -> None:
    assert stream(Gate("one"), SAY, Finish(), Gate("two")).gates == (Gate("one"),)


# Dialects


def search(arguments: str = '{"query":"a"}', name: str = "localSearch") -> str:
    query = f"  <query>{arguments[10:-2]}</query>"
    return "\n".join(["<use_tool>", f"  <name>{name}</name>", query, "</use_tool>"])


def test_the_legacy_dialect_has_room_for_one_call_and_a_finish_of_its_own() -> None:
    for answer in (stream(A, B, burst=True, dialect=LEGACY), whole(A, B, burst=True, dialect=LEGACY)):
        assert (names(answer), answer.finish, answer.blocks) == (["search"], "function_call", ())


def test_text_alone_is_finished_alike_in_every_dialect() -> None:
    assert {stream(SAY, dialect=dialect).finish for dialect in Dialect} == {"stop"}


def test_the_first_call_stands_in_the_content_as_a_block() -> None:
    block = "<use_tool>\n  <name>search</name>\n  <q>1.50</q>\n</use_tool>"
    for answer in (stream(SAY, A, B, dialect=XML), whole(SAY, A, B, dialect=XML)):
        assert answer.blocks == (block,)
        assert answer.finish == "tool_calls"
    assert names(whole(A, B, dialect=XML)) == ["search", "read"]
    assert stream(SAY, A, dialect=XML).text == "Hello"
    assert whole(SAY, A, dialect=XML).text == ""


def test_under_burst_every_call_has_its_block() -> None:
    for answer in (stream(A, B, burst=True, dialect=XML), whole(A, B, burst=True, dialect=XML)):
        assert answer.blocks == tuple(call.block for call in answer.calls)
        assert names(answer) == ["search", "read"]


def test_only_obsidian_xml_has_blocks() -> None:
    assert {stream(A, dialect=dialect).blocks == () for dialect in Dialect if dialect is not XML} == {True}


@every_form
def test_a_block_in_the_text_is_a_call_and_no_text(form: Form) -> None:
    block = search()
    answer = expected((Say(("Now ", block[:20], block[20:], " and a tail")),), form, AnswerTerms(burst=False))
    (call,) = answer.calls
    assert (call.name, call.block, call.exact) == ("localSearch", block, False)
    kept = form.mode is Mode.STREAM or form.dialect.spec.text_before_calls
    assert answer.text == ("Now " if kept else "")
    assert answer.blocks == ((block,) if form.dialect is XML else ())


def test_what_only_looks_like_a_block_stays_text() -> None:
    for text in ("a <use_tools> b", "<use_tool>\n  <name>x</name>", "<use_tool>\n  <q>no name</q>\n</use_tool>"):
        answer = stream(Say((text,)), dialect=XML)
        assert (answer.text, answer.calls) == (text, ())


@pytest.mark.parametrize(("also", "exact"), [((), False), (("native",), True)])
def test_a_call_reported_in_text_alone_is_known_by_its_meaning_only(also: tuple[str, ...], *, exact: bool) -> None:
    call = Call(id="a", name="search", arguments='{"q": 1}', shape="use-tool", also=also)  # type: ignore[arg-type]  # names of shapes
    assert stream(call).calls[0].exact is exact


# Failures in every phase

HALF = Call(id="h", name="search", arguments='{"q": 1}', shape="delta-tool-calls", pieces=("{", "}"), unfinished=True)


@pytest.mark.parametrize(
    ("part", "streamed"),
    [
        ((ErrorNotice(),), ExpectedFailure.BEFORE_OUTPUT),
        ((Crash(),), ExpectedFailure.BEFORE_OUTPUT),
        ((SAY, Crash()), ExpectedFailure.AFTER_TEXT),
        ((SAY, Raw("\udcff"), SAY), ExpectedFailure.AFTER_TEXT),
        ((HALF, Fail()), ExpectedFailure.IN_CALL),
        ((SAY, HALF, Crash()), ExpectedFailure.IN_CALL),
        ((A, Crash()), ExpectedFailure.AFTER_CALL),
        ((A, HALF, Crash()), ExpectedFailure.AFTER_CALL),
    ],
)
def test_how_a_client_learns_of_a_failure_depends_on_what_was_said(
    part: tuple[Step, ...], streamed: ExpectedFailure
) -> None:
    assert stream(*part).failure is streamed
    assert whole(*part).failure is ExpectedFailure.BEFORE_OUTPUT


@pytest.mark.parametrize("part", [(SAY, Finish(), Fail()), (SAY, Finish(), Crash()), (SAY, Raw("{}")), (SAY, Hang())])
def test_what_comes_too_late_or_can_be_read_is_no_failure(part: tuple[Step, ...]) -> None:
    assert (stream(*part).text, stream(*part).failure) == ("Hello", ExpectedFailure.NONE)


def test_a_backend_that_never_says_anything_fails_by_that() -> None:
    assert {stream(Hang()).failure, whole(Hang()).failure} == {ExpectedFailure.SILENT}
    assert stream(HALF, Hang()).failure is ExpectedFailure.NONE


def test_half_of_a_call_is_none() -> None:
    assert stream(HALF, Fail()).calls == ()


@pytest.mark.parametrize("step", get_args(Spoken))
def test_text_of_any_kind_is_text_of_the_answer(step: type[Spoken]) -> None:
    said = step_from_json(DEFINITIONS[NAMES[step]].shortest)
    assert isinstance(said, Spoken)
    assert (stream(SAY, said).text, whole(said).text) == (f"Hello{said.text}", said.text)


@pytest.mark.parametrize("step", [one for one in get_args(Doing | Elsewhere) if one not in {Crash, ErrorNotice}])
def test_what_a_backend_does_itself_is_no_part_of_the_answer(step: type[Doing | Elsewhere]) -> None:
    done = step_from_json(DEFINITIONS[NAMES[step]].shortest)
    assert stream(SAY, done) == stream(SAY)


def test_halves_of_characters_are_text() -> None:
    assert stream(SAY, Surrogates("\U0001f600", apart=True)).text == "Hello\U0001f600"


def test_the_end_of_a_choice_is_not_that_of_the_turn() -> None:
    answer = stream(SAY, Finish("length", choice=0), Usage(input=1, output=2))
    assert (answer.finish, answer.usage) == ("length", Usage(input=1, output=2))


# Responses

SENTINEL = '<tool_call>{"id": "c", "name": "localSearch", "arguments": "{}"}</tool_call>'
RESPONSES = (Form(Dialect.RESPONSES, Mode.STREAM), Form(Dialect.RESPONSES, Mode.WHOLE))


@pytest.mark.parametrize("form", RESPONSES, ids=str)
def test_text_before_a_call_stays_in_a_response(form: Form) -> None:
    answer = expected((Say(("Now ",)), A), form, AnswerTerms(burst=True))
    assert (answer.text, [call.name for call in answer.calls], answer.finish) == ("Now ", [A.name], "tool_calls")


@every_form
def test_a_sentinel_in_the_text_is_a_call(form: Form) -> None:
    answer = expected((Say(("Now:\n", SENTINEL, "\nand a tail")),), form, AnswerTerms(burst=False))
    (call,) = answer.calls
    assert (call.id, call.name, call.arguments, call.exact) == ("c", "localSearch", "{}", True)
    kept = form.mode is Mode.STREAM or form.dialect.spec.text_before_calls
    assert answer.text == ("Now:\n" if kept else "")


def test_where_no_tool_is_offered_a_sentinel_is_text() -> None:
    answer = expected((Say((SENTINEL,)),), RESPONSES[0], AnswerTerms(burst=True, offered=False))
    assert (answer.text, answer.calls) == (SENTINEL, ())


@pytest.mark.parametrize(("burst", "blocks"), [(False, 1), (True, 2)])
def test_a_response_in_blocks_is_text_alone(*, burst: bool, blocks: int) -> None:
    answer = expected((Say(("Now ",)), A, A), RESPONSES[0], AnswerTerms(burst=burst, blocks=True))
    assert answer.text is not None
    assert answer.text.startswith("Now <use_tool>")
    assert answer.text.count("<use_tool>") == blocks
    assert (answer.calls, answer.finish) == ((), "stop")


SEARCH = frozenset({"search"})


@pytest.mark.parametrize(
    ("part", "demand", "failure"),
    [
        ((SAY,), {"forced": SEARCH}, ExpectedFailure.UNMET),
        ((B,), {"forced": SEARCH}, ExpectedFailure.UNMET),
        ((A,), {"forced": SEARCH}, ExpectedFailure.NONE),
        ((SAY,), {"json": True}, ExpectedFailure.UNMET),
        ((Reflect("received"),), {"json": True}, ExpectedFailure.NONE),
        ((A,), {"json": True}, ExpectedFailure.NONE),
        ((Fail(),), {"forced": SEARCH}, ExpectedFailure.BEFORE_OUTPUT),
    ],
)
@pytest.mark.parametrize("mode", Mode)
def test_what_is_demanded_and_not_done_is_no_answer(
    part: tuple[Step, ...], demand: dict[str, Any], failure: ExpectedFailure, mode: Mode
) -> None:
    right = expected(part, Form(Dialect.OPENAI_JSON, mode), AnswerTerms(burst=False, **demand))
    assert right.failure is failure
    assert (right.calls == ()) is (failure is not ExpectedFailure.NONE or A not in part)


def test_a_request_of_cursors_service_is_a_call_where_the_client_has_tools() -> None:
    read = cursor.Read(id="r", path="a.md")
    form = Form(Dialect.OPENAI_JSON, Mode.WHOLE)
    with_tools = expected((read, cursor.Delete(id="d", path="b.md")), form, AnswerTerms(burst=True, tools=True))
    assert [(call.id, call.name, call.exact) for call in with_tools.calls] == [("r", "read", False)]
    assert (with_tools.finish, with_tools.asks) == ("tool_calls", True)
    without = expected((read, SAY), form, AnswerTerms(burst=True))
    assert (without.calls, without.text, without.finish) == ((), "Hello", "stop")


def test_a_trap_is_a_silence_for_good() -> None:
    form = Form(Dialect.OPENAI_JSON, Mode.STREAM)
    assert (
        expected((cursor.Trap("x", always=True), SAY), form, AnswerTerms(burst=True)).failure is ExpectedFailure.SILENT
    )
    # In a session of its own the step does nothing.
    assert expected((cursor.Trap("x"), SAY), form, AnswerTerms(burst=True)).text == "Hello"


STOPS = {
    "the first": (("x", "lo"), (SAY, A), "Hel", "lo"),
    "the earlier of two": (("lo", "el"), (SAY,), "H", "el"),
    "one that comes in two deltas": (("lo, w",), (Say(("Hello", ", world")),), "Hel", "lo, w"),
    "none": (("x",), (SAY,), "Hello", ""),
}


@pytest.mark.parametrize(("stops", "part", "text", "stop"), STOPS.values(), ids=STOPS)
@pytest.mark.parametrize("mode", Mode)
def test_a_stop_sequence_ends_the_answer_before_itself(
    stops: tuple[str, ...], part: tuple[Step, ...], text: str, stop: str, mode: Mode
) -> None:
    answer = expected(part, Form(Dialect.MESSAGES, mode), AnswerTerms(burst=True, stops=stops))
    assert (answer.text, answer.stop, answer.calls, answer.finish) == (text, stop, (), "stop")
    assert (answer.usage is None) is bool(stop), "whoever stops its backend there has no counts"


def test_what_fails_after_a_stop_sequence_is_no_failure() -> None:
    answer = expected((SAY, Fail()), Form(Dialect.MESSAGES, Mode.WHOLE), AnswerTerms(burst=True, stops=("lo",)))
    assert (answer.text, answer.failure) == ("Hel", ExpectedFailure.NONE)
