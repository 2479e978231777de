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
NIGHTLY = "nightly"
OF_A_CHANGE = {name.strip() for name in TOX["tox"]["env_list"].split(",")}


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def environments() -> set[str]:
    """The environments that tox.ini defines, but the one that runs all shards of a night."""
    sections = (name.removeprefix("testenv:") for name in TOX.sections() if name.startswith("testenv:"))
    return {name for section in sections for name in expanded(section)} - {NIGHTLY}


def expanded(name: str) -> list[str]:
    """`smoke-py{311,312}` as `smoke-py311` and `smoke-py312`."""
    head, braced, rest = name.partition("{")
    factors, _, tail = rest.partition("}")
    return [one for factor in factors.split(",") for one in expanded(f"{head}{factor}{tail}")] if braced else [name]


def labels() -> dict[str, list[str]]:
    """Label → its environments."""
    lines = [line.partition("=") for line in TOX["tox"]["labels"].strip().splitlines() if not line.startswith("#")]
    return {label.strip(): [name.strip() for name in names.split(",")] for label, _, names in lines}


def shards() -> dict[str, list[str]]:
    """The labels of a night."""
    return {label: names for label, names in labels().items() if label.startswith(NIGHTLY)}


def test_the_jobs_of_a_change_run_each_environment_of_a_change_once() -> None:
    jobs = loaded(FORGE / "workflows" / "ci.yml")["jobs"]["change"]["strategy"]["matrix"]["include"]
    run = [name for job in jobs for name in job["environments"].split(",")]
    assert sorted(run) == sorted(OF_A_CHANGE)


def test_a_change_is_tested_by_each_environment_once_in_some_parts() -> None:
    parts = {label: names for label, names in labels().items() if label not in shards()}
    assert sorted(name for names in parts.values() for name in names) == sorted(OF_A_CHANGE)
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.findall(r" -m (\w+) .*\|\| status=", run) == list(parts)


def test_each_environment_is_run_for_a_change_or_in_one_shard_of_a_night() -> None:
    run = [*OF_A_CHANGE, *(name for names in shards().values() for name in names)]
    assert sorted(run) == sorted(environments())


def test_a_short_environment_of_a_change_is_whole_in_a_night() -> None:
    whole = {name.removesuffix("-whole") for name in environments() if name.endswith("-whole")}
    assert whole == OF_A_CHANGE - {"lint"}


def test_a_night_is_one_command_here_and_one_job_a_shard_on_the_forge() -> None:
    commands = TOX[f"testenv:{NIGHTLY}"]["commands"].strip().splitlines()
    assert [line.rpartition(" -m ")[2] for line in commands] == list(shards())
    night = loaded(FORGE / "workflows" / "ci.yml")["jobs"][NIGHTLY]
    assert night["strategy"]["matrix"]["shard"] == list(shards())
    assert night["steps"][-1]["run"] == ".ci/run -m ${{ matrix.shard }}"


def test_contributing_says_what_each_shard_runs() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(nightly-\d+)` \| ([^|]*) \|", text, re.MULTILINE))
    assert {label: re.findall(r"`([\w-]+)`", cell) for label, cell in rows.items()} == shards()


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
