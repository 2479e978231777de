"""Scripts as plain JSON data, and back: the form that `schemas/wireproof/script.json` describes.

A script is `{"name", "title"?, "when"?, "notifications"?, "sequence"?, "parts": [[step …] …], "choices"?: [parts …]}`,
or has `choices` alone. A step is an object with one key, its name: `{"say": {"pieces": ["Hel", "lo"]}}`. Shorter forms
are read as well: a bare value for the first field if no other is required (`{"say": "Hello"}`, `{"finish": "length"}`),
a bare name for a step that requires none (`"hang"`), and an object for the arguments of a call.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wireproof_scripts.files.conditions import when_from_json, when_to_json
from wireproof_scripts.files.definitions import DEFINITIONS, NAMES, Definition
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.rules import check_part, check_step
from wireproof_scripts.files.values import at, collected, known_names, list_in, no_others, noted, read, shown
from wireproof_scripts.kinds import NAME, TEXT, kind_of
from wireproof_scripts.markers import SCRIPT_NAME
from wireproof_scripts.steps import Notifications, Parts, Script, Sequence, Step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_scripts.kinds import Kind

# Writing


def script_to_json(script: Script) -> dict[str, Any]:
    """The script as JSON data; fields that are None or false and empty lists are left out."""
    data: dict[str, Any] = {
        "name": script.name,
        "title": script.title,
        "when": script.when if script.when is None or isinstance(script.when, str) else when_to_json(script.when),
        "notifications": script.notifications,
        "sequence": None if script.sequence == "no" else script.sequence,
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

Found = list[ScriptError] | None
"""Where mistakes are collected; None: the first one is raised."""


def script_from_json(data: object, place: str = "", found: Found = None) -> Script:
    """The script that `data` describes; `place` is where the data stands, for errors.

    With a list `found` all mistakes are put into it, and what is returned is the script without them.

    Raises:
        ScriptError: `data` is no script.
    """
    if not isinstance(data, dict):
        raise ScriptError(place, f"expected a script: name, title, parts, found {shown(data)}")
    with collected(found):
        no_others(data, tuple(_READERS), place)
    values: dict[str, Any] = {"title": ""}
    for name, reader in _READERS.items():
        with collected(found):
            if name in data:
                values[name] = reader(data[name], at(place, name), found)
            elif name == "name":
                raise ScriptError(place, "name is missing")
            elif name == "parts" and "choices" not in data:
                raise ScriptError(place, "parts is missing: what each turn plays (or choices, for requests of several)")
    if "parts" not in data and values.get("choices"):
        # A request for one choice gets the first.
        values["parts"] = values["choices"][0]
    return Script(**{"name": "", "parts": ((),), **values})


def _name(data: object, place: str, _found: Found) -> str:
    name = read(NAME, data, place)
    if not re.fullmatch(SCRIPT_NAME, name):
        near = re.sub(r"[^A-Za-z0-9._/-]+", "-", name).strip("-")
        hint = f"; did you mean {near}?" if near else ""
        raise ScriptError(place, f"letters, digits and . _ / - only, found {shown(name)}{hint}")
    return name


_Reader = Callable[[object, str, Found], object]


def _value_of(kind: Kind[object]) -> _Reader:
    return lambda data, place, _found: read(kind, data, place)


def _parts(data: object, place: str, found: Found) -> Parts:
    parts = list_in(data, place, "a list of parts, each a list of steps")
    return tuple(_part(part, f"{place}[{index}]", found) for index, part in enumerate(parts))


def _choices(data: object, place: str, found: Found) -> tuple[Parts, ...]:
    choices = list_in(data, place, "a list of choices, each a list of parts")
    return tuple(_parts(choice, f"{place}[{index}]", found) for index, choice in enumerate(choices))


_READERS: Mapping[str, _Reader] = {
    "name": _name,
    "title": _value_of(TEXT),
    "when": lambda data, place, _found: None if data is None else when_from_json(data, place),
    "notifications": _value_of(kind_of(Notifications)),
    "sequence": _value_of(kind_of(Sequence)),
    "parts": _parts,
    "choices": _choices,
}
"""The fields of a script, and what reads each."""


def _part(data: object, place: str, found: Found) -> tuple[Step, ...]:
    if not isinstance(data, list):
        hint = "; a part is a list: one dash more" if isinstance(data, dict | str) else ""
        noted(found, ScriptError(place, f"expected a list of steps, found {shown(data)}{hint}"))
        return ()
    # A part of no steps is one: a turn that says nothing.
    part: list[Step] = []
    for index, step in enumerate(data):
        with collected(found):
            part.append(step_from_json(step, f"{place}[{index}]"))
    with collected(found):
        if len(part) == len(data):
            check_part(part, place)
    return tuple(part)


_OTHER_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("text", "content", "message", "reply", "answer"), "say"),
    **dict.fromkeys(("tool", "tool_call", "tool_calls", "function", "function_call"), "call"),
    **dict.fromkeys(("delay", "sleep", "wait"), "pause"),
    **dict.fromkeys(("error", "http", "response"), "status"),
    **dict.fromkeys(("reasoning", "thinking", "thought"), "think"),
    **dict.fromkeys(("stop", "end", "done", "finish_reason"), "finish"),
    **dict.fromkeys(("close", "reset", "abort_connection"), "disconnect"),
}
"""What else a step might be called, which no likeness of letters finds."""


def step_from_json(data: object, place: str = "") -> Step:
    """The step that `data` describes.

    Raises:
        ScriptError: `data` is no step.
    """
    written = {data: None} if isinstance(data, str) else data
    if not isinstance(written, dict) or len(written) != 1:
        several = isinstance(written, dict) and len(written) > 1
        hint = "; each step has a dash of its own" if several else ""
        raise ScriptError(place, f"expected a step, an object with one key (its name), found {shown(data)}{hint}")
    ((name, given),) = written.items()
    if name not in DEFINITIONS:
        other = _OTHER_WORDS.get(str(name))
        hint = f"did you mean {other}?" if other else known_names(str(name), DEFINITIONS)
        raise ScriptError(place, f"there is no step {shown(name)}; {hint}")
    definition, place = DEFINITIONS[name], at(place, name)
    return _build(definition, _field_values(definition, given, place), place)


def _field_values(definition: Definition, given: object, place: str) -> Mapping[str, object]:
    """The fields that are written; a bare value is that of the first one."""
    names = list(definition.fields)
    if given is None:
        return {}
    if isinstance(given, dict):
        no_others(given, names, place)
        return given
    if definition.first is None:
        expected = f"an object with {', '.join(names)}" if names else "nothing"
        raise ScriptError(place, f"expected {expected}, found {shown(given)}")
    return {definition.first.name: given}


def _build(definition: Definition, given: Mapping[str, object], place: str) -> Step:
    known = definition.fields
    for name, field in known.items():
        if field.required and name not in given:
            raise ScriptError(place, f"{name} is missing, expected {field.kind.expected}")
    written = {name: value for name, value in given.items() if value is not None or not known[name].nullable}
    values = {name: read(known[name].kind, value, at(place, name)) for name, value in written.items()}
    step = definition.step(**values)
    check_step(step, place)
    return step
