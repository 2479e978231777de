"""Scenarios as plain JSON data, with the script that answers them: for other tools, and for a person to read.

All of it follows from the fields of the dataclasses, so a new field needs nothing here.
`schemas/wireproof/scenario.json` describes the form; a test compares its properties with the fields, both ways.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, get_args

from wireproof.model.asks import Asks
from wireproof.model.scenario import PlainScenario
from wireproof_scripts.files.json_form import script_to_json
from wireproof_scripts.library import LIBRARY

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from wireproof.model.scenario import Scenario
    from wireproof.wire.fields import JsonObject

_EMPTY: tuple[object, ...] = (None, (), [], {}, "", False, 0)


def scenario_data(scenario: Scenario) -> JsonObject:
    """One scenario; fields that are empty or false are left out, and `choices` where there is one choice."""
    data = _fields(scenario)
    if isinstance(scenario, PlainScenario):
        del data["dialects"]  # it is sent once, whatever dialects a target speaks
        return data
    if scenario.choices == 1:
        del data["choices"]
    if scenario.script:
        data["script"] = script_to_json(LIBRARY[scenario.script])  # the whole of it: its name alone says little
    return data


def _fields(value: DataclassInstance) -> JsonObject:
    """The fields that are neither empty nor false."""
    said = {one.name: _plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    kept = {name: plain for name, plain in said.items() if plain not in _EMPTY}
    if said.get("param") == "":
        kept["param"] = ""  # the one field whose empty value says something: it must be null
    return kept


def _plain(value: object) -> object:
    r"""A value as JSON has it; bytes that are no UTF-8 are written as \xNN."""
    match value:
        case Enum():
            return value.value
        case bytes():
            return value.decode("utf-8", errors="backslashreplace")
        case Mapping():
            # `...` takes a member out of a shared body, so the request does not have it.
            return {name: _plain(inner) for name, inner in value.items() if inner is not ...}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = _fields(value)
            kind = type(value).__name__.removeprefix("Ask").lower()  # `AskSay` is written `say`
            return {kind: fields} if type(value) in get_args(Asks) else fields
        case _:
            return value
