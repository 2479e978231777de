from __future__ import annotations

from wireproof.model.verdict import Outcome, Verdict


def test_an_outcome_is_spelt_as_known_failing_files_spell_it() -> None:
    outcome = Outcome(scenario="text-hello", requirement="chat.stream.text", verdict=Verdict.PASS)
    assert outcome.key == "text-hello:chat.stream.text"


def test_verdicts_are_words_for_people() -> None:
    assert [str(verdict) for verdict in Verdict] == [
        "pass", "fail", "warn", "not applicable", "not observed", "error",
    ]  # fmt: skip
