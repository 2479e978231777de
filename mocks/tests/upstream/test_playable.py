from __future__ import annotations

import re

import pytest

from wireproof_mocks.upstream.playable import LIMITS
from wireproof_scripts.files.definitions import DEFINITIONS, Definition
from wireproof_scripts.files.json_form import step_from_json
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import (
    Call,
    Crash,
    Doing,
    Fail,
    Finish,
    Gate,
    Hang,
    Open,
    Overload,
    Pause,
    Reflect,
    Say,
    Step,
    Surrogates,
    Think,
    Usage,
)
from wireproof_scripts.steps.cursor import Agentic
from wireproof_scripts.steps.http import Wire

CALL = Call(id="c", name="localSearch", arguments="{}")


@pytest.mark.parametrize(
    "part",
    [
        (),
        (Say(("a",)), Think("b"), CALL, Say(("c",)), Usage(), Finish("length")),
        (Pause(1), Gate(), Open(), Reflect(), Hang()),
        (Open(), Usage(), Fail("http-500")),
        (Say(("a",)), Fail("cut")),
        (Call(id="c", name="n", arguments="{}", shape="sentinel", also=("use-tool", "native")),),
    ],
)
def test_what_the_service_can_play(part: tuple[Step, ...]) -> None:
    assert LIMITS.why_not((part,)) == ""


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ((Finish(), Say(("late",))), "Say: Codex reads nothing after the end of an answer"),
        ((Say(("a",), choice=1),), "Say: an answer of the service is one choice"),
        ((Finish(choice=0),), "Finish: an answer of the service is one choice"),
        (
            (Call(id="c", name="n", arguments="{}", also=("delta-tool-calls",)),),
            "Call: the service has no shape delta-tool-calls",
        ),
        (
            (Call(id="c", name="n", arguments="{}", shape="sentinel", unfinished=True),),
            "Call: Codex waits for the complete call and sends no pieces of it",
        ),
        ((Say(("a",)), Fail("http-429")), "Fail: an HTTP error comes before everything else"),
        ((Hang(), Fail("http-429")), "Fail: an HTTP error comes before everything else"),
        ((Fail("connection"),), "Fail: a service that answers is connected"),
        ((Fail("missing-key"),), "Fail: Codex notices that it has no key before it sends a request"),
    ],
)
def test_what_is_the_app_servers_own(part: tuple[Step, ...], why: str) -> None:
    assert LIMITS.why_not(((Say(("first",)),), part)) == why


@pytest.mark.each("definition", DEFINITIONS.values(), ids=DEFINITIONS)
def test_a_step_that_only_the_app_server_plays_says_why(definition: Definition) -> None:
    step = step_from_json(definition.shortest)
    why = LIMITS.why_not(((step,),))
    if isinstance(step, Doing | Overload | Surrogates):
        assert re.fullmatch(rf"{type(step).__name__}: [a-z' ,]*app-server[a-z' ,]*", why)
    elif isinstance(step, Wire):
        assert why == f"{type(step).__name__}: {type(step).endpoint}"
    elif isinstance(step, Agentic):
        assert re.fullmatch(rf"{type(step).__name__}: [a-z' ,]*Cursor's [a-z' ,]*", why)
    else:
        assert why == ""


def test_the_reason_is_that_of_the_step() -> None:
    assert LIMITS.why_not(((Say(("a",)), Crash()),)) == "Crash: the app-server dies, not the model's service"
    assert LIMITS.why_not(((Surrogates("a"),),)) == "Surrogates: the app-server spells its own output"


def test_scripts_with_other_notifications_are_not_played() -> None:
    assert LIMITS.why_unplayable(LIBRARY["shapes/a"]) == "the app-server chooses the dialect of its notifications"
    assert LIMITS.why_unplayable(LIBRARY["shapes/double-telling"]).startswith("the version of the app-server decides")


def test_scripts_with_choices_are_not_played() -> None:
    assert (
        LIMITS.why_unplayable(LIBRARY["choices/text"]) == "which of several threads sends its request first is chance"
    )


def test_most_scripts_of_the_library_can_be_played() -> None:
    unplayable = {name.partition("/")[0] for name, script in LIBRARY.items() if LIMITS.why_unplayable(script)}
    assert unplayable >= {"text", "call", "shapes", "xml", "choices", "fail", "leave"}
    assert sum(not LIMITS.why_unplayable(script) for script in LIBRARY.values()) > len(LIBRARY) / 2
