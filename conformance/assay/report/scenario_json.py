"""Scenarios as plain JSON data, with the script that answers them: for other tools, and for a person to read."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from assay_scripts.files.json_form import script_to_json
from assay_scripts.library import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.model.scenario import Request, Scenario, Turn


def scenario_data(scenario: Scenario) -> dict[str, Any]:
    """One scenario; fields that say nothing are left out. The form is that of `schemas/assay/scenario.json`."""
    said = {
        "name": scenario.name,
        "title": scenario.title,
        "modes": [mode.value for mode in scenario.modes],
        "dialects": [dialect.value for dialect in scenario.dialects] if scenario.turns else [],
        "exercises": list(scenario.exercises),
        "history": [dict(message) for message in scenario.history],
        "tools": [dict(tool) for tool in scenario.tools],
        "body": dict(scenario.body),
        "headers": dict(scenario.headers),
        "tells": scenario.tells,
        "blames": scenario.blames,
        "choices": scenario.choices if scenario.choices > 1 else 0,
        "usage": scenario.usage,
        "alone": scenario.alone,
        "needs_keepalive": scenario.needs_keepalive,
        "needs_idle_timeout": scenario.needs_idle_timeout,
        "needs_default_mode": scenario.needs_default_mode,
        "needs_history": scenario.needs_history,
        "turns": [_turn(turn) for turn in scenario.turns],
        "request": _request(scenario.request) if scenario.request else None,
        "script": script_to_json(LIBRARY[scenario.script]) if scenario.script else None,
    }
    return _telling(said)


def _turn(turn: Turn) -> dict[str, Any]:
    results = None if turn.results is None else dict(turn.results)
    return _telling(
        {
            "say": turn.say,
            "results": results,
            "script": turn.script,
            "act": turn.act.value,
            "insists": turn.insists,
            "body": dict(turn.body),
        }
    )


def _request(request: Request) -> dict[str, Any]:
    fields = {one.name: getattr(request, one.name) for one in dataclasses.fields(request)}
    text = request.body.decode("utf-8", errors="backslashreplace")
    json = None if request.json is None else {k: v for k, v in request.json.items() if v is not ...}
    said = {
        "body": text, "json": json, "auth": request.auth.value, "headers": dict(request.headers),
        "shows": dict(request.shows), "reflects": list(request.reflects),
        "also": [_request(one) for one in request.also],
    }  # fmt: skip
    null = {} if request.param is None else {"param": request.param}  # "" says that it must be null
    return {**_telling({**fields, **said}), **null}


def _telling(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is empty or false."""
    return {key: value for key, value in fields.items() if value not in (None, (), [], {}, "", False, 0)}
