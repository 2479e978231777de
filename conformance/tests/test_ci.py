"""What runs in CI: the files for the forge are well-formed, and neither they nor a night leave an environment out."""

from __future__ import annotations

import re
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FORGE = ROOT / ".github"
TOX = ConfigParser(interpolation=None)
TOX.read_string((ROOT / "tox.ini").read_text(encoding="utf-8"))
OF_A_CHANGE = {name.strip() for name in TOX["tox"]["env_list"].split(",")}


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def environments() -> set[str]:
    """The environments that tox.ini defines."""
    sections = (name.removeprefix("testenv:") for name in TOX.sections() if name.startswith("testenv:"))
    return {name for section in sections for name in expanded(section)}


def expanded(name: str) -> list[str]:
    """`smoke-py{311,312}` as `smoke-py311` and `smoke-py312`."""
    head, braced, rest = name.partition("{")
    factors, _, tail = rest.partition("}")
    return [f"{head}{factor}{tail}" for factor in factors.split(",")] if braced else [name]


def test_the_jobs_of_a_change_run_each_environment_of_a_change_once() -> None:
    jobs = loaded(FORGE / "workflows" / "ci.yml")["jobs"]["change"]["strategy"]["matrix"]["include"]
    run = [name for job in jobs for name in job["environments"].split(",")]
    assert sorted(run) == sorted(OF_A_CHANGE)


def test_a_change_is_tested_by_each_environment_once_in_two_halves() -> None:
    halves = [line.partition("=")[2].split(",") for line in TOX["tox"]["labels"].strip().splitlines()]
    assert sorted(name.strip() for half in halves for name in half) == sorted(OF_A_CHANGE)
    names = [line.partition("=")[0].strip() for line in TOX["tox"]["labels"].strip().splitlines()]
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.findall(r" -m (\w+) \|\| status=", run) == names


def test_a_night_runs_each_environment_that_there_is_once() -> None:
    run = [
        name
        for line in TOX["testenv:nightly"]["commands"].strip().splitlines()
        for name in re.sub(r".* -e ([^ ]+).*", r"\1", line).split(",")
    ]
    assert sorted(run) == sorted(environments() - {"nightly"})


@pytest.mark.parametrize("path", sorted(FORGE.glob("ISSUE_TEMPLATE/*-*.yml")), ids=lambda path: path.stem)
def test_a_form_for_issues_asks_for_what_it_needs(path: Path) -> None:
    form = loaded(path)
    assert {"name", "description", "body"} <= form.keys()
    assert len({field["id"] for field in form["body"]}) == len(form["body"])
    for field in form["body"]:
        assert field["type"] in {"input", "textarea", "dropdown"}
        assert field["attributes"]["label"]
        assert (field["type"] == "dropdown") is ("options" in field["attributes"])


def test_there_are_forms_for_issues() -> None:
    assert [path.stem for path in sorted(FORGE.glob("ISSUE_TEMPLATE/*.yml"))] == [
        "config", "new-requirement", "proxy-question", "wrong-verdict",
    ]  # fmt: skip
