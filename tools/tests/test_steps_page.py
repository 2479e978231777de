from __future__ import annotations

from wireproof_pages.steps_page import steps_page
from wireproof_scripts.files.definitions import DEFINITIONS
from wireproof_scripts.steps.causes import CAUSES

LINES = steps_page().splitlines()


def test_every_step_has_a_row_and_a_section_with_its_fields() -> None:
    for name, definition in DEFINITIONS.items():
        assert sum(line.startswith(f"| [`{name}`](#{name}) | ") for line in LINES) == 1
        start = LINES.index(f"## {name}")
        end = next(at for at in range(start + 1, len(LINES)) if LINES[at].startswith("## "))
        fields = [line.split("`")[1] for line in LINES[start:end] if line.startswith("| `")]
        assert fields == list(definition.fields)


def test_a_row_of_the_overview_marks_what_is_required() -> None:
    assert "| [`pause`](#pause) | **`seconds`** | Silence for some time. |" in LINES
    assert "| [`hang`](#hang) |  | Silence until the turn is interrupted. |" in LINES


def test_a_row_of_a_field_has_its_values_its_default_and_its_meaning() -> None:
    assert "| `times` | a whole number from 1 to 2147483647 | `1` | How many times all the pieces are sent. |" in LINES
    assert "| `seconds` | a number of seconds from 0 to 1000000000 | (required) | How long. |" in LINES
    assert any(line.startswith("| `choice` | a whole number from 0 to 2147483647 | (none) | ") for line in LINES)


def test_every_cause_is_there_with_its_meaning() -> None:
    assert [f"| `{name}` | {meaning} |" for name, meaning in CAUSES.items()] == LINES[-len(CAUSES) :]
