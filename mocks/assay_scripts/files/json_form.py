"""Scripts as plain JSON data, and back: the form that `schemas/assay/script.json` describes.

A script is `{"name", "title", "when"?, "told", "parts": [[step …] …], "choices"?: [parts …]}`, a step an object with
one key, its name: `{"say": {"pieces": ["Hel", "lo"]}}`. Shorter forms are read as well: a bare value for the first
field if no other is required (`{"say": "Hello"}`, `{"finish": "length"}`), a bare name for a step that requires none
(`"hang"`), and an object for the arguments of a call.

`told` is the `notifications` of a script; files keep the older name, which users' scripts have.
"""

from __future__ import annotations

import difflib
import json
import re
from typing import TYPE_CHECKING, Any

from assay_scripts.blocks import BLOCKS
from assay_scripts.files.definitions import DEFINITIONS, NAMES, Definition
from assay_scripts.files.errors import ScriptError
from assay_scripts.kinds import NAME, TEXT, Kind, kind_of
from assay_scripts.markers import SCRIPT_NAME
from assay_scripts.steps import Call, Gate, Hang, Notifications, Open, Overload, Pace, Parts, Pause, Script, Step, Usage
from assay_scripts.steps.http import Drip, Ending, Heading, Stall, Truncate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_FIELDS = ("name", "title", "when", "told", "parts", "choices")
_NOTIFICATIONS = kind_of(Notifications)


# Writing


def script_to_json(script: Script) -> dict[str, Any]:
    """The script as JSON data; fields that are None or false and empty lists are left out."""
    data: dict[str, Any] = {
        "name": script.name,
        "title": script.title,
        "when": script.when,
        "told": script.notifications,
        "parts": _parts_to_json(script.parts),
        "choices": [_parts_to_json(parts) for parts in script.choices],
    }
    return {key: value for key, value in data.items() if value not in _NOTHING}


def _parts_to_json(parts: Parts) -> list[Any]:
    return [[_step_to_json(step) for step in part] for part in parts]


_NOTHING: tuple[object, ...] = (None, [], ())


def _step_to_json(step: Step) -> dict[str, Any]:
    name = NAMES[type(step)]
    given = {field: getattr(step, field) for field in DEFINITIONS[name].fields}
    # `is not False`: 0 equals it, and is a value.
    values = {key: value for key, value in given.items() if value not in _NOTHING and value is not False}
    return {name: {key: list(it) if isinstance(it, tuple) else it for key, it in values.items()}}


# Reading


def script_from_json(data: object, place: str = "") -> Script:
    """The script that `data` describes; `place` is where the data stands, for errors.

    Raises:
        ScriptError: `data` is no script.
    """
    script = _object(data, place, "a script: name, title, parts")
    _no_others(script, _FIELDS, place)
    name = _read(NAME, _given(script, "name", place), _at(place, "name"))
    if not re.fullmatch(SCRIPT_NAME, name):
        raise ScriptError(_at(place, "name"), f"letters, digits and . _ / - only, found {_shown(name)}")
    parts = _parts(_given(script, "parts", place), _at(place, "parts"))
    when, choices = script.get("when"), _at(place, "choices")
    given = _list(script["choices"], choices, "a list of choices, each a list of parts") if "choices" in script else []
    return Script(
        name=name,
        title=_read(TEXT, script.get("title", ""), _at(place, "title")),
        parts=parts,
        when=None if when is None else _read(NAME, when, _at(place, "when")),
        notifications=_read(_NOTIFICATIONS, script.get("told", "v2"), _at(place, "told")),
        choices=tuple(_parts(choice, f"{choices}[{index}]") for index, choice in enumerate(given)),
    )


def _parts(data: object, place: str) -> Parts:
    parts = _list(data, place, "a list of parts, each a list of steps")
    return tuple(_part(part, f"{place}[{index}]") for index, part in enumerate(parts))


def _part(data: object, place: str) -> tuple[Step, ...]:
    if not isinstance(data, list):
        raise ScriptError(place, f"expected a list of steps, found {_shown(data)}")
    # A part of no steps is one: a turn that says nothing.
    part = tuple(step_from_json(step, f"{place}[{index}]") for index, step in enumerate(data))
    _check_heads(part, place)
    return part


def _check_heads(part: tuple[Step, ...], place: str) -> None:
    """Check that what decides the head of the response comes before what is sent behind the head."""
    sent = next((index for index, step in enumerate(part) if not isinstance(step, _SILENT)), len(part))
    for index, step in enumerate(part[sent:], sent):
        if isinstance(step, Heading):
            name, before = NAMES[type(step)], NAMES[type(part[sent])]
            why = f"{name} must come before the answer begins, and {before} is sent first; move it up"
            raise ScriptError(_at(f"{place}[{index}]", name), why)


_SILENT = Heading | Ending | Pause | Pace | Gate | Hang | Stall | Drip | Truncate | Open | Usage | Overload
"""Steps for which nothing is sent, or after which nothing is."""


def step_from_json(data: object, place: str = "") -> Step:
    """The step that `data` describes.

    Raises:
        ScriptError: `data` is no step.
    """
    written = {data: None} if isinstance(data, str) else data
    if not isinstance(written, dict) or len(written) != 1:
        raise ScriptError(place, f"expected a step, an object with one key (its name), found {_shown(data)}")
    ((name, given),) = written.items()
    if name not in DEFINITIONS:
        raise ScriptError(place, f"there is no step {_shown(name)}; {_known(str(name), DEFINITIONS)}")
    definition, place = DEFINITIONS[name], _at(place, name)
    return _build(definition, _field_values(definition, given, place), place)


def _field_values(definition: Definition, given: object, place: str) -> Mapping[str, object]:
    """The fields that are written; a bare value is that of the first one."""
    names = list(definition.fields)
    if given is None:
        return {}
    if isinstance(given, dict):
        _no_others(given, names, place)
        return given
    if definition.first is None:
        expected = f"an object with {', '.join(names)}" if names else "nothing"
        raise ScriptError(place, f"expected {expected}, found {_shown(given)}")
    return {definition.first.name: given}


def _build(definition: Definition, given: Mapping[str, object], place: str) -> Step:
    known = definition.fields
    for name, field in known.items():
        if field.required and name not in given:
            raise ScriptError(place, f"{name} is missing, expected {field.kind.expected}")
    written = {name: value for name, value in given.items() if value is not None or not known[name].nullable}
    values = {name: _read(known[name].kind, value, _at(place, name)) for name, value in written.items()}
    step = definition.step(**values)
    if isinstance(step, Call):
        _check_call(step, place)
    return step


def _check_call(call: Call, place: str) -> None:
    """Check the fields of a call against each other."""
    blocks = [BLOCKS[shape](call) for shape in call.shapes if shape in BLOCKS]
    if call.pieces and "".join(call.pieces) not in {call.arguments, *blocks}:
        whole = "the arguments, or the call's textual block" if blocks else "the arguments"
        raise ScriptError(_at(place, "pieces"), f"joined they must be {whole}, found {_shown(''.join(call.pieces))}")
    # Codex names the call in item/tool/call, and its client answers under that name.
    if not call.id and ("native" in call.shapes or call.late_id):
        raise ScriptError(_at(place, "id"), "a native call and a late id need text that is not empty")
    if call.unfinished and "native" in call.shapes:  # Codex asks when the item is complete, never in fragments
        raise ScriptError(_at(place, "unfinished"), "a native call is always complete")


def _read(kind: Kind, value: object, place: str) -> Any:  # noqa: ANN401 - the kind decides
    read = kind.read(value)
    if read is not None:  # not its truth: false, 0 and "" are values
        return read
    hint = f"; {_close(value, kind.choices)}" if isinstance(value, str) and _close(value, kind.choices) else ""
    if kind is TEXT and isinstance(value, int | float):  # YAML reads 404 and 1.50 as numbers
        hint = " (in quotes it is text)"
    raise ScriptError(place, f"expected {kind.expected}, found {_shown(value)}{hint}")


# Errors


def _at(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _object(data: object, place: str, expected: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise ScriptError(place, f"expected {expected}, found {_shown(data)}")
    return data


def _list(data: object, place: str, expected: str) -> list[Any]:
    if not isinstance(data, list) or not data:
        raise ScriptError(place, f"expected {expected}, found {_shown(data)}")
    return data


def _given(data: Mapping[str, Any], name: str, place: str) -> object:
    if name not in data:
        raise ScriptError(place, f"{name} is missing")
    return data[name]


def _no_others(data: Mapping[Any, Any], known: Sequence[str], place: str) -> None:
    for name in data:
        if name not in known:
            raise ScriptError(place, f"there is no field {_shown(name)}; {_known(str(name), known)}")


def _known(name: str, names: Iterable[str]) -> str:
    return _close(name, tuple(names)) or f"known: {', '.join(names) or 'none'}"


def _close(name: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]}?" if close else ""


_LONGEST_SHOWN = 60


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    text = json.dumps(value, default=str)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
