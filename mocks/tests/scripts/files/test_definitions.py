from __future__ import annotations

import inspect
from dataclasses import is_dataclass
from typing import get_args

import pytest

from wireproof_scripts import steps
from wireproof_scripts.files.definitions import DEFINITIONS, NAMES, Definition, description, field_descriptions
from wireproof_scripts.steps import Script, Step, TextDelta, Usage, cursor, http
from wireproof_scripts.steps.when import When


def test_every_class_of_the_language_is_a_step_but_the_script() -> None:
    members = [
        *inspect.getmembers(steps, is_dataclass),
        *inspect.getmembers(cursor, is_dataclass),
        *inspect.getmembers(http, is_dataclass),
    ]
    defined = {it for _, it in members if it not in {Script, TextDelta, When}}
    assert defined == set(get_args(Step))
    assert Usage in defined


def test_a_step_is_named_after_its_class() -> None:
    assert NAMES[steps.Say] == "say"
    assert NAMES[steps.ErrorNotice] == "error-notice"
    assert [DEFINITIONS[name].step for name in NAMES.values()] == list(get_args(Step))


@pytest.mark.each("definition", DEFINITIONS.values(), ids=DEFINITIONS)
def test_every_step_and_every_field_is_described_in_sentences(definition: Definition) -> None:
    about = field_descriptions(definition.step)
    assert list(about) == list(definition.fields)
    assert [text for text in (description(definition.step), *about.values()) if not text.endswith(".")] == []


def test_a_description_that_goes_over_several_lines_is_one_text() -> None:
    assert field_descriptions(Script)["choices"] == (
        "For a request of several choices: the parts of each choice, in order; where a marker has chosen the script, "
        "in that in which their turns start under the nonce. Without it all choices play `parts`; in files it stands "
        "for them, too, and a request for one choice gets the first."
    )
    first, second = description(steps.Reflect).split("\n")
    assert first == "One delta of JSON with what the backend knows."
    assert second.startswith("`received`: what this turn received")


@pytest.mark.parametrize(
    ("name", "first"),
    [("say", "pieces"), ("gate", "name"), ("call", None), ("command", None), ("code", None), ("hang", None)],
)
def test_a_bare_value_is_that_of_the_first_field_unless_another_must_be_written(name: str, first: str | None) -> None:
    field = DEFINITIONS[name].first
    assert (field and field.name) == first


def test_a_step_whose_fields_all_have_defaults_needs_its_name_alone() -> None:
    assert {name for name, definition in DEFINITIONS.items() if definition.needs_nothing} == {
        "gate", "open", "retry", "usage", "finish", "fail", "crash", "hang", "overload", "error-notice", "repeat",
        "reflect", "request-context", "unknown-exec", "abort", "checkpoint", "heartbeat", "drop", "end-stream",
        "refuse", "pace", "head", "disconnect", "garbage", "truncate", "stall", "drip",
    }  # fmt: skip
