from __future__ import annotations

import pytest

from wireproof.model.catalogue import JudgedOn, load
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, Form, Mode, Scenario, Turn
from wireproof.reading.applicable import applicable
from wireproof.reading.expected import Expected, ExpectedFailure
from wireproof.reading.right_answers import answers_to
from wireproof.scenarios import CONVERSATIONS, PLAIN, SCENARIOS

CATALOGUE = load()
NAMED = {scenario.name: scenario for scenario in CONVERSATIONS}


STREAM, WHOLE = Form(Dialect.OPENAI_JSON, Mode.STREAM), Form(Dialect.OPENAI_JSON, Mode.WHOLE)


def ids(scenario: Scenario, *dialects: Dialect) -> list[str]:
    return [row.id for row in applicable(scenario, CATALOGUE, dialects or Dialect)]


def answer_to(scenario: ConversationScenario, number: int, form: Form) -> Expected:
    (answer,) = answers_to(scenario, number, form)
    return answer


@pytest.mark.each("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_items_are_the_catalogues_rows_in_its_order_and_hold_all_that_is_exercised(scenario: Scenario) -> None:
    found = ids(scenario)
    assert found == [row.id for row in CATALOGUE.requirements if row.id in found]
    assert set(scenario.exercises) <= set(found)


def test_an_answer_is_judged_by_all_that_holds_always_in_its_modes() -> None:
    always = {row.id for row in CATALOGUE.requirements if row.judged is JudgedOn.ALWAYS}
    assert always <= set(ids(NAMED["text-hello"]))
    assert {row for row in ids(NAMED["flush"]) if row.startswith("chat.whole.")} == set()


def test_only_an_answer_with_a_call_is_judged_by_what_holds_of_calls() -> None:
    calls = {row.id for row in CATALOGUE.requirements if row.judged is JudgedOn.CALLS}
    assert calls <= set(ids(NAMED["call-beats-length"]))
    assert not calls & set(ids(NAMED["text-hello"]))


def test_a_call_in_a_later_turn_counts() -> None:
    scenario = ConversationScenario(
        name="n", title="t", exercises=(), script="text/hello", turns=(Turn(say="a"), Turn(say="b", script="call/one"))
    )
    assert "chat.stream.call-opening" in ids(scenario)


def test_a_failure_before_output_is_no_answer_to_judge() -> None:
    assert set(ids(NAMED["fail-first"])) == set(NAMED["fail-first"].exercises)


def test_a_failure_that_is_an_answer_in_one_mode_only_is_judged_in_that_mode() -> None:
    found = ids(NAMED["fail-after-text"])
    assert "chat.stream.role-first" in found
    assert "chat.whole.envelope" not in found


def test_a_plain_request_is_judged_by_what_it_exercises() -> None:
    assert ids(next(one for one in PLAIN if one.name == "models")) == ["http.models.list"]


def test_a_row_speaks_of_forms_of_its_modes_and_dialects() -> None:
    assert CATALOGUE.find("chat.stream.text").speaks_of(STREAM)
    assert not CATALOGUE.find("chat.stream.text").speaks_of(WHOLE)
    assert not CATALOGUE.find("chat.stream.xml-single-delta").speaks_of(STREAM)
    assert CATALOGUE.find("chat.stream.xml-single-delta").speaks_of(Form(Dialect.OBSIDIAN_XML, Mode.STREAM))
    assert all(CATALOGUE.find("http.error.no-internals").speaks_of(form) for form in NAMED["fail-first"].forms(Dialect))


def test_what_a_target_does_not_speak_is_not_judged() -> None:
    assert "xml.shape" not in ids(NAMED["call-one"], Dialect.OPENAI_JSON)
    assert ids(NAMED["xml-values"], Dialect.OPENAI_JSON, Dialect.FUNCTION_CALL) == []
    assert "chat.stream.xml-single-delta" in ids(NAMED["call-one"], Dialect.OBSIDIAN_XML)


def test_each_turn_is_answered_by_its_part_and_the_last_part_goes_on() -> None:
    loop = NAMED["tool-loop"]
    assert [answer_to(loop, number, WHOLE).text for number in (0, 1)] == ["", "All clear."]
    again = ConversationScenario(name="n", title="t", exercises=(), script="call/then-text", turns=(Turn(say="a"),) * 3)
    assert answer_to(again, 2, WHOLE).text == "All clear."


def test_a_turn_with_a_script_of_its_own_plays_its_first_part() -> None:
    crash = NAMED["crash-in-text"]
    assert answer_to(crash, 0, STREAM).failure is ExpectedFailure.AFTER_TEXT
    assert answer_to(crash, 1, STREAM).text == "Hello, world!"


def test_the_stop_policy_is_the_requests() -> None:
    assert len(answer_to(NAMED["calls-first"], 0, STREAM).calls) == 1
    assert len(answer_to(NAMED["calls-burst"], 0, STREAM).calls) == 2


def test_each_choice_has_an_answer_of_its_own() -> None:
    first, second = answers_to(NAMED["choices-mixed"], 0, STREAM)
    assert (bool(first.calls), bool(second.calls)) == (False, True)
    assert first.text
    assert len({answer.text for answer in answers_to(NAMED["choices-text"], 0, WHOLE)}) == 2


def test_choices_of_one_turn_are_distinguished_by_their_index_and_counted_once() -> None:
    first, second = answers_to(NAMED["choices-indexed"], 0, STREAM)
    assert (first.text, second.text) == ("Zero begins, goes on, and ends.", "One begins, goes on, and is cut")
    assert (first.finish, second.finish) == ("stop", "length")
    assert first.usage
    assert second.usage
    assert (first.usage.input, second.usage.input) == (40, 0)
