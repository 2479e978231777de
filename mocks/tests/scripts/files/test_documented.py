"""The examples of docs/scripts.md are right, and so is every step in its table."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import get_args

import pytest
import yaml

from wireproof_scripts.files.conditions import when_from_json
from wireproof_scripts.files.json_form import script_from_json, step_from_json
from wireproof_scripts.files.read import load_scripts
from wireproof_scripts.steps import http

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "scripts.md").read_text(encoding="utf-8")
EXAMPLES = [textwrap.dedent(block) for block in re.findall(r"^ *```yaml\n(.*?)^ *```", PAGE, re.DOTALL | re.MULTILINE)]
TABLE = [line for line in PAGE.splitlines() if line.startswith("| ") and line.count("`") >= 2]
STEPS = [code for line in TABLE for code in re.findall(r"`([^`]+)`", line.split(" | ", 1)[1])]


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "scripts.yaml"
    file.write_text(EXAMPLES[0])
    assert list(load_scripts(file, player="endpoint")) == ["weather"]


@pytest.mark.parametrize("line", [line for line in EXAMPLES[1].splitlines() if line])
def test_a_condition_is_read(line: str) -> None:
    when_from_json(yaml.safe_load(line)["when"], "when")


def test_a_sequence_and_templates_are_read() -> None:
    [flaky] = yaml.safe_load(EXAMPLES[2])
    assert len(script_from_json(flaky).parts) == 3
    assert len(script_from_json({"name": "a", **yaml.safe_load(EXAMPLES[5])}).parts) == 1
    assert len(script_from_json({"name": "a", **yaml.safe_load(EXAMPLES[6])}).parts) == 2
    assert len(EXAMPLES) == 7


def test_calls_that_are_not_whole_are_read(tmp_path: Path) -> None:
    file = tmp_path / "scripts.json"
    parts = [one for choice in yaml.safe_load(EXAMPLES[3])["choices"] for one in choice]
    parts += yaml.safe_load(EXAMPLES[4])["parts"]
    file.write_text(json.dumps([{"name": "a", "parts": parts}]))
    assert len(load_scripts(file, player="endpoint")["a"].parts) == 3


@pytest.mark.parametrize("written", STEPS)
def test_a_step_is_read(written: str) -> None:
    step_from_json(yaml.safe_load(written))


def test_the_table_has_every_step_of_http() -> None:
    shown = {type(step_from_json(yaml.safe_load(written))) for written in STEPS}
    assert shown >= set(get_args(http.Wire))
