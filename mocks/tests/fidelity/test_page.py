from __future__ import annotations

from wireproof_fidelity.page import fidelity_page, versions_text
from wireproof_fidelity.table import Compared, Replayed, Replays, Verdict

from wireproof_codex.versions.changes import CHANGES, RECORDED
from wireproof_codex.versions.version import NEWEST, VERSIONS


def row(version: str, scenario: str, verdict: Verdict = "equal", why: str = "") -> Replayed:
    return Replayed(version=version, scenario=scenario, verdict=verdict, why=why)


BROAD = [row(version, f"scenario-{number:02}") for version in ("0.9.0", "0.10.0") for number in range(15)]
REPLAYS = Replays(
    rows=[
        *BROAD,
        row("0.10.0", "text"),
        row("0.10.0", "lists", "accepted difference", "a|b"),
        row("0.9.0", "text"),
        row("0.9.0", "lists", "not replayed", "no"),
        row("0.9.0", "ws", "not replayed", "no"),
        row("0.9.5", "text"),
        row("0.9.5", "busy"),
        row("0.9.10", "text", "accepted difference", "why"),
    ],
    unsent={"warning": "the machine's"},
    own={"path": "the machine's"},
)


def test_the_manual_says_how_many_versions_there_are() -> None:
    assert f"from 0.89.0 to {NEWEST.number} is played, {len(VERSIONS)} in all. Of {len(RECORDED)} of" in versions_text()


def test_changes_that_no_recording_holds_are_listed_and_no_others() -> None:
    lines = fidelity_page(REPLAYS, []).splitlines()
    at = lines.index("| version | what was seen |") + 2
    listed = lines[at : lines.index("", at)]
    assert listed == [f"| {change.first} | {change.seen} |" for change in CHANGES if not change.recordings]


def test_versions_that_were_recorded_in_breadth_are_columns_in_their_order() -> None:
    lines = fidelity_page(REPLAYS, []).splitlines()
    at = lines.index("| scenario | 0.9.0 | 0.10.0 |")
    assert lines[at + 2] == "| `lists` | not replayed | accepted |"
    assert lines[at + 18 : at + 20] == ["| `text` | equal | equal |", "| `ws` | not replayed |  |"]


def test_of_the_versions_between_a_row_names_the_scenarios() -> None:
    lines = fidelity_page(REPLAYS, []).splitlines()
    at = lines.index("| version | equal | accepted | not replayed |")
    assert lines[at + 2 : at + 4] == ["| 0.9.5 | `busy`, `text` |  |  |", "| 0.9.10 |  | `text` |  |"]
    assert "versions between" not in fidelity_page(Replays(rows=BROAD * 2), [])


def test_what_is_not_equal_has_its_reason() -> None:
    lines = fidelity_page(REPLAYS, []).splitlines()
    assert "38 recordings of 4 versions: 34 equal, 2 accepted difference, 2 not replayed." in lines
    assert "| `lists` | 0.10.0 | a\\|b |" in lines
    assert "| `lists` | 0.9.0 | no |" in lines
    assert "| `warning`, `path` | the machine's |" in lines


def test_without_differences_there_is_no_list_of_them() -> None:
    page = fidelity_page(Replays(rows=[row("0.1.0", "text")]), [])
    assert "Accepted differences" not in page
    assert "same scripts" not in page


def test_comparisons_with_the_real_binary_are_a_table_of_their_own() -> None:
    compared = [
        Compared(script="text", version="0.10.0", result="equal"),
        Compared(script="text", version="0.9.0", result="accepted difference", difference="ids", why="random"),
        Compared(script="call", version="0.10.0", result="not compared", why="no tools"),
    ]
    lines = fidelity_page(REPLAYS, compared).splitlines()
    assert "1 equal, 1 accepted difference, 1 not compared." in lines
    assert "| `text` | accepted difference | equal |" in lines
    assert "| `call` |  | not compared |" in lines
    assert "| `text` | 0.9.0 | ids | random |" in lines
    assert "What differs there" not in fidelity_page(REPLAYS, compared[:1])
