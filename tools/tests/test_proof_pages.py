"""The pages of docs/: what their tables say, from a catalogue of a few rows."""

from __future__ import annotations

from dataclasses import replace

from wireproof.model.catalogue import Catalogue, Citation, Exclusion, JudgedOn, Level, Requirement
from wireproof.model.dialect import Dialect
from wireproof.model.requirement import Harm
from wireproof.model.scenario import ConversationScenario, Mode, Turn
from wireproof_pages.proof_pages import (
    NONE,
    Held,
    Proofs,
    SourceText,
    requirements_page,
    source_page,
    uncited,
    unlisted,
)

LINES = {2: "Say the role first, and end with `[DONE]`.", 3: "Write tests.", 5: "Be nice | to <clients>."}


def row(
    name: str, *source: tuple[int, str], judged: JudgedOn = JudgedOn.ALWAYS, modes: str = "stream whole"
) -> Requirement:
    return Requirement(
        id=name, level=Level.MUST, text="It is so.", hint="Do so.", modes=tuple(Mode(mode) for mode in modes.split()),
        dialects=(Dialect.OPENAI_JSON,), judged=judged, breaks=(),
        source=tuple(Citation(seed="story", line=line, quote=quote) for line, quote in source),
    )  # fmt: skip


def scenario(name: str, *exercises: str, script: str = "text/hello") -> ConversationScenario:
    return ConversationScenario(name=name, title=name, exercises=exercises, script=script, turns=(Turn(say="hello"),))


CATALOGUE = Catalogue(
    date="2026-11-21",
    requirements=(
        row("a.done", (2, "end with `[DONE]`"), modes="stream"),
        row("a.role", (2, "Say the role first"), (9, "somewhere else")),
        row("a.call", (2, "Say the role first"), judged=JudgedOn.CALLS, modes="whole"),
        row("a.unseen", (5, "Be nice | to <clients>."), judged=JudgedOn.EXERCISED),
    ),
    excluded=(
        Exclusion(source=Citation(seed="story", line=3, quote="Write tests."), reason="Tests are *no* behaviour."),
    ),
)
SCENARIOS = [scenario(f"plain-{number}") for number in range(4)]
SCENARIOS += [scenario("named", "a.role"), scenario("calling", script="call/one")]
PROOFS = Proofs(catalogue=CATALOGUE, scenarios=SCENARIOS, kills={"a.done": ["no-end", "two-ends"]})
TEXT = SourceText(name="story", title="a story", lines=LINES, called={2: "criterion 1, role & end"})


def table(page: str) -> list[list[str]]:
    """The cells of the rows below the head of the only table."""
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    return [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in lines[2:]]


def test_the_kill_matrix_has_a_row_for_every_requirement_in_the_order_of_the_catalogue() -> None:
    assert [cells[0] for cells in table(requirements_page(PROOFS))] == [
        "`a.done`", "`a.role`", "`a.call`", "`a.unseen`"
    ]  # fmt: skip


def test_the_kill_matrix_says_at_its_top_how_many_kill_and_how_many_are_judged() -> None:
    page = requirements_page(PROOFS)
    assert "**1 of 4** requirements kill" in page
    assert "3 of 4 are judged in a scenario" in page


def test_the_kill_matrix_says_on_which_answers_a_requirement_is_judged() -> None:
    assert [cells[3] for cells in table(requirements_page(PROOFS))] == [
        "every stream", "every answer", "every whole answer with a call", "where exercised"
    ]  # fmt: skip


def test_scenarios_that_name_the_requirement_come_first_and_many_are_counted() -> None:
    cells = table(requirements_page(PROOFS))
    assert cells[1][4] == "`named`, `plain-0`, `plain-1` and 3 more"
    assert cells[2][4] == "`calling`"


def test_what_kills_nothing_and_what_no_one_judges_is_shown_as_such() -> None:
    cells = table(requirements_page(PROOFS))
    assert cells[0][5] == "no-end, two-ends"
    assert cells[1][5] == NONE
    assert cells[3][4:] == [NONE, NONE]


def test_the_kill_matrix_says_what_a_violation_does_to_clients() -> None:
    rows = [
        replace(one, compat=compat, harm=harm)
        for one, compat, harm in zip(CATALOGUE.requirements, (True, True, False, True), (*Harm,)[:4], strict=True)
    ]
    evidence = replace(PROOFS, catalogue=replace(CATALOGUE, requirements=tuple(rows)))
    assert [cells[2] for cells in table(requirements_page(evidence))] == [
        "calls lost or wrong", "text lost or wrong", "a warning", "errors"
    ]  # fmt: skip


def test_a_source_page_names_a_line_once_and_says_its_words_in_their_order() -> None:
    rows = [cells[:3] for cells in table(source_page(TEXT, PROOFS))[:3]]
    assert rows == [
        ["criterion 1, role & end", "Say the role first", "`a.role`"],
        ["", "", "`a.call`"],
        ["", "end with `[DONE]`", "`a.done`"],
    ]


def test_a_source_page_gives_the_proof_of_each_requirement() -> None:
    assert table(source_page(TEXT, PROOFS))[2][3:] == ["`plain-0`, `plain-1`, `plain-2` and 3 more", "no-end, two-ends"]


def test_what_is_left_out_stands_with_its_reason() -> None:
    cells = table(source_page(TEXT, PROOFS))[3]
    assert cells == ["line 3", "Write tests.", r"left out: Tests are \*no\* behaviour.", "", ""]


def test_signs_that_are_markup_are_shown_and_not_obeyed() -> None:
    assert r"| line 5 | Be nice \| to \<clients\>. | `a.unseen` |" in source_page(TEXT, PROOFS)


def test_a_line_that_is_cited_but_not_listed_is_on_the_page() -> None:
    assert ["line 9", "somewhere else", "`a.role`"] in [cells[:3] for cells in table(source_page(TEXT, PROOFS))]
    assert unlisted(TEXT, CATALOGUE) == (9,)


def test_a_line_that_is_listed_but_not_cited_is_shown_as_such() -> None:
    text = SourceText(name="story", title="a story", lines={**LINES, 7: "Sing."}, called={})
    assert ["line 7", "", NONE, "", ""] in table(source_page(text, PROOFS))
    assert uncited(text, CATALOGUE) == (7,)
    assert "Of 5 lines that say what to do, 3 are held by requirements and 1 are left out" in source_page(text, PROOFS)


HELD = Held(
    source=Citation(seed="story", line=7, quote="Sing."), by="persona `singer`", test="tests/test_x.py::test_song"
)


def test_a_line_that_a_persona_holds_stands_with_its_test() -> None:
    text = SourceText(name="story", title="a story", lines={**LINES, 7: "Sing."}, called={})
    page = source_page(text, replace(PROOFS, held=[HELD]))
    assert ["line 7", "Sing.", "persona `singer`", "[`test_song`](../../tests/test_x.py)", ""] in table(page)
    assert "3 are held by requirements, 1 by a persona or a mock and 1 are left out" in page
    assert uncited(text, CATALOGUE, [HELD]) == ()
    assert unlisted(TEXT, CATALOGUE, [HELD]) == (7, 9)


def test_another_text_s_lines_are_not_on_the_page() -> None:
    other = SourceText(name="notes", title="notes", lines={2: "Listen."}, called={})
    assert table(source_page(other, PROOFS)) == [["line 2", "", NONE, "", ""]]
