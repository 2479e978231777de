"""Which scripts the service can play."""

from __future__ import annotations

import pytest
from cursor_agents import Connection, Run, run_request

from wireproof_cursor.playable import LIMITS
from wireproof_cursor.serving import serving
from wireproof_scripts.files.definitions import DEFINITIONS, Definition
from wireproof_scripts.files.json_form import step_from_json
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import (
    Call,
    Crash,
    Doing,
    Fail,
    Finish,
    Overload,
    Say,
    Script,
    Step,
    Surrogates,
    WebSearch,
    cursor,
)
from wireproof_scripts.steps.http import Wire


@pytest.mark.each("definition", DEFINITIONS.values(), ids=DEFINITIONS)
def test_every_step_is_played_but_the_app_servers(definition: Definition) -> None:
    step = step_from_json(definition.shortest)
    if isinstance(step, Call):
        step = Call(id="c", name="f", arguments="{}")  # the shortest one has arguments that are no object
    why = LIMITS.why_not(((step,),))
    assert bool(why) is (
        isinstance(step, Doing | WebSearch | Overload | Surrogates | Wire) and not isinstance(step, Crash)
    )


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ((Say(("a",), choice=1),), "Say: an answer of the service is one choice"),
        ((Finish(choice=0),), "Finish: an answer of the service is one choice"),
        ((Finish("length"),), "Finish: the service does not say why an answer ends"),
        ((Fail("missing-key"),), "Fail: the client has no key, so the service is never asked"),
        ((Fail(), Say(("a",))), "Say: nothing follows the end of a stream"),
        ((cursor.Refuse(), Say(("a",))), "Say: nothing follows the end of a stream"),
        ((cursor.EndStream(), Say(("a",))), "Say: nothing follows the end of a stream"),
        (
            (Call(id="c", name="f", arguments="[]"),),
            "Call: the arguments of a call are a map: JSON that is no object has no form",
        ),
        (
            (Call(id="c", name="f", arguments="{"),),
            "Call: the arguments of a call are a map: JSON that is no object has no form",
        ),
        (
            (Call(id="c", name="f", arguments="{}", also=("delta-tool-calls",)),),
            "Call: the service has no shape delta-tool-calls",
        ),
    ],
)
def test_what_the_service_has_no_form_for(part: tuple[Step, ...], why: str) -> None:
    assert LIMITS.why_not(((Say(("first",)),), part)) == why


@pytest.mark.parametrize(
    "part",
    [
        (Finish(), Say(("late",))),
        (cursor.Refuse(form="append"), Say(("on",))),
        (Call(id="", name="f", arguments="no JSON", shape="sentinel"),),
    ],
)
def test_what_it_can_play(part: tuple[Step, ...]) -> None:
    assert LIMITS.why_not((part,)) == ""


def test_scripts_of_other_notifications_and_of_choices_are_not_played() -> None:
    assert LIMITS.why_unplayable(LIBRARY["shapes/a"]) == "the app-server chooses the dialect of its notifications"
    assert LIMITS.why_unplayable(LIBRARY["choices/text"]) == "which of several runs begins first is chance"


PLAYABLE = [name for name, script in LIBRARY.items() if not LIMITS.why_unplayable(script)]


def test_most_scripts_of_the_library_can_be_played() -> None:
    assert len(PLAYABLE) > len(LIBRARY) * 2 / 3


def test_a_script_that_can_be_played_does_not_fail_by_the_mock() -> None:
    """Every script, up to its first answer: it ends, or waits as it is written, and nothing breaks in the service."""
    entries: list[dict[str, object]] = []
    ends: dict[str, object] = {}
    short = {name: LIBRARY[name] for name in PLAYABLE if not _long(LIBRARY[name])}
    with serving(short, journal=entries.append) as mock:
        for name in short:
            with Connection(mock.url) as connection:
                run = Run(connection)
                run.send(run_request(f"[[wireproof:{name}#{len(ends)}]]"))
                while (message := run.message()) is not None and not message.HasField("exec_server_message"):
                    pass
                ends[name] = run.end
    assert [entry for entry in entries if "fault" in entry] == []
    assert len(ends) > 60
    failed = {name for name, end in ends.items() if end is not None and "unimplemented" in str(end)}
    assert failed == set()


def _long(script: Script) -> bool:
    """Whether it waits for more than its client: for a time, for another turn, or without end."""
    waits = ("pause", "gate", "hang", "trap")
    names = {type(step).__name__.lower() for part in script.parts for step in part}
    idle = any(isinstance(step, Fail) and step.cause == "idle" for part in script.parts for step in part)
    return bool(names & set(waits)) or idle
