from __future__ import annotations

import json

import pytest

from wireproof_scripts.library import LIBRARY
from wireproof_scripts.library.acting import ACTING
from wireproof_scripts.library.agent import AGENT
from wireproof_scripts.library.calls import CALLS, TOOLS_NAMED
from wireproof_scripts.library.choices import CHOICES
from wireproof_scripts.library.failures import FAILURES
from wireproof_scripts.library.leaving import LEAVING
from wireproof_scripts.library.personas import PERSONA_TOOLS, PERSONAS
from wireproof_scripts.library.reflect import REFLECT
from wireproof_scripts.library.sentinel import SENTINEL
from wireproof_scripts.library.shapes import SHAPES
from wireproof_scripts.library.surfaces import SURFACES
from wireproof_scripts.library.text import TEXT
from wireproof_scripts.library.textual import TEXTUAL
from wireproof_scripts.library.xml import XML
from wireproof_scripts.steps import Call, Fail, Script, Step
from wireproof_scripts.steps.causes import CAUSES


def test_no_two_scripts_share_a_name() -> None:
    topics = (
        TEXT, CALLS, SHAPES, TEXTUAL, SENTINEL, XML, CHOICES, FAILURES, LEAVING, REFLECT, ACTING, AGENT, PERSONAS,
        SURFACES,
    )  # fmt: skip
    assert len(LIBRARY) == sum(map(len, topics))


def test_no_script_needs_a_text_to_be_chosen() -> None:
    assert all(script.when is None and script.title for script in LIBRARY.values())


def _steps(script: Script) -> list[Step]:
    return [step for parts in (script.parts, *script.choices[1:]) for part in parts for step in part]


def test_the_calls_are_of_the_tools_that_are_named() -> None:
    steps = [step for script in LIBRARY.values() for step in _steps(script)]
    assert {step.name for step in steps if isinstance(step, Call)} == {*TOOLS_NAMED, *PERSONA_TOOLS, "get_weather"}
    assert {step.cause for step in steps if isinstance(step, Fail)} <= set(CAUSES)


@pytest.mark.each("script", LIBRARY.values(), ids=LIBRARY)
def test_the_ids_of_a_script_are_unique_and_its_arguments_json(script: Script) -> None:
    calls = [step for step in _steps(script) if isinstance(step, Call)]
    assert len({call.id for call in calls}) == len(calls)
    for call in calls:
        if script.name not in {"xml/broken", "call/bare", "call/broken"}:
            json.loads(call.arguments)


def test_choices_begin_with_what_a_request_for_one_gets() -> None:
    assert all(script.choices[0] == script.parts for script in LIBRARY.values() if script.choices)
