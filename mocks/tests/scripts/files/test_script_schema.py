from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from assay_codex.versions.failures import CAUSES
from assay_scripts.files.json_form import script_to_json
from assay_scripts.files.kinds import KINDS, STEPS
from assay_scripts.library import LIBRARY

if TYPE_CHECKING:
    from assay_scripts.steps import Script

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parents[4] / "schemas" / "assay" / "script.json").read_text(encoding="utf-8")
)
ONE = Draft202012Validator(SCHEMA)
FILE = Draft202012Validator({**SCHEMA, "$ref": "#/$defs/file"})


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("script", LIBRARY.values(), ids=LIBRARY)
def test_every_script_of_the_library_is_valid(script: Script) -> None:
    ONE.validate(script_to_json(script))


def _fields(step: str) -> dict[str, Any]:
    value = SCHEMA["$defs"][step]["properties"][step]
    return dict((value["anyOf"][0] if "anyOf" in value else value)["properties"])


@pytest.mark.parametrize("step", STEPS)
def test_the_schema_knows_exactly_the_fields_that_are_read(step: str) -> None:
    kinds = KINDS[STEPS[step]]
    assert list(_fields(step)) == list(kinds)
    for name, kind in kinds.items():
        assert tuple(_fields(step)[name].get("enum", ())) == kind.choices


def test_the_schema_knows_every_failure() -> None:
    assert _fields("fail")["cause"]["enum"] == list(CAUSES)


@pytest.mark.parametrize(
    "script",
    [
        {"name": "a", "parts": [["hang", {"say": "x"}, {"call": {"id": "1", "name": "f", "arguments": {}}}]]},
        {"name": "a", "told": "story", "parts": [["repeat"]], "choices": [[[{"cut": 1}]], [[{"raw": "x"}]]]},
        {"name": "a", "parts": [[{"call": {"id": "", "name": "f", "arguments": "", "shape": "sentinel", "also": []}}]]},
        {"name": "a", "when": "x", "parts": [[{"finish": "length"}, {"gate": None}, {"pause": 0.5}]]},
    ],
)
def test_what_may_be_written_short_is_valid(script: object) -> None:
    ONE.validate(script)
    FILE.validate({"scripts": [script]})
    FILE.validate([script])


@pytest.mark.parametrize(
    "script",
    [
        {},
        {"name": "a b", "parts": [[]]},
        {"name": "a", "parts": []},
        {"name": "a", "parts": [[]], "more": 1},
        {"name": "a", "parts": [["say"]]},
        {"name": "a", "parts": [[]], "told": "v3"},
        {"name": "a", "parts": [[]], "choices": []},
        {"name": "a", "parts": [[{"call": {"id": "1", "name": "f", "arguments": "", "shape": "x"}}]]},
        {"name": "a", "parts": [[{"cut": 0}]]},
        {"name": "a", "parts": [[{"say": "a", "hang": None}]]},
        {"name": "a", "parts": [[{"say": {"pieces": "a", "tims": 1}}]]},
        {"name": "a", "parts": [[{"fail": "unheard-of"}]]},
        {"name": "a", "parts": [[{"call": {"id": "1", "name": "f"}}]]},
    ],
)
def test_what_is_refused_is_invalid(script: object) -> None:
    assert not ONE.is_valid(script)
