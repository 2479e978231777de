"""The file of recorded scripts: it is whole at any time."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import yaml

from wireproof_scripts.files.json_form import script_to_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from wireproof_scripts.steps import Script, Step


def write(path: Path, scripts: Iterable[Script]) -> None:
    """Write the scripts.

    Raises:
        OSError: it cannot be written; what was there is as before.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(_text(path, {"scripts": [_short(script) for script in scripts]}), encoding="utf-8")
    beside.replace(path)


def _short(script: Script) -> dict[str, Any]:
    """A script as a person would write it: without what goes without saying."""
    data = script_to_json(script)
    parts = zip(script.parts, data["parts"], strict=True)
    written = [[_short_step(*pair) for pair in zip(steps, part, strict=True)] for steps, part in parts]
    sequence = {"sequence": data["sequence"]} if data.get("sequence") else {}
    return {name: data[name] for name in ("name", "title", "when")} | sequence | {"parts": written}


def _short_step(step: Step, written: dict[str, dict[str, Any]]) -> dict[str, Any]:
    [(name, values)] = written.items()
    usual = {field.name: field.default for field in fields(step)}
    said = {key: value for key, value in values.items() if value != usual[key]}
    if name == "say" and said.keys() == {"pieces"}:
        return {name: said["pieces"] if len(said["pieces"]) > 1 else said["pieces"][0]}
    return {name: said}


def _text(path: Path, data: object) -> str:
    if path.suffix == ".json":
        return json.dumps(data, indent=2) + "\n"
    return yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=110)
