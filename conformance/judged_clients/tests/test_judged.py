"""Each client of the pinned table is judged again by `wireproof client`: it breaks what the table says, and no more."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from pinned import (
    HERE,
    Findings,
    PinnedClient,
    bring_programs,
    differences,
    findings_of,
    installed_version,
    judge,
    pinned_clients,
)

if TYPE_CHECKING:
    from pathlib import Path

CLIENTS = pinned_clients()
EXAMPLE = PinnedClient(
    name="a client",
    version="1.0",
    packages=(),
    command="sh a_client.sh",
    findings=Findings(broken=frozenset({"client.one", "client.two"}), unobserved=frozenset({"client.three"})),
)


@pytest.fixture(scope="session", autouse=True)
def _programs() -> None:
    bring_programs()


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_client_breaks_what_the_table_says(client: PinnedClient, tmp_path: Path) -> None:
    assert shutil.which(client.words[0]), f"{client.name} cannot be judged: {client.words[0]} is not installed"
    homes = tmp_path / "homes"
    homes.mkdir()
    found, printed = judge(client, tmp_path / "result", {**os.environ, "TMPDIR": str(homes)})
    shutil.rmtree(homes, ignore_errors=True)  # what agents leave there is large
    told = differences(client, found)
    assert not told, "\n".join([*told, "", printed])


@pytest.mark.parametrize("client", [one for one in CLIENTS if one.packages], ids=lambda client: client.name)
def test_a_client_is_of_the_version_that_the_table_names(client: PinnedClient) -> None:
    installed = ", ".join(installed_version(package) for package in client.packages)
    assert installed == client.version, (
        f"{client.name} is {installed} here: write what it breaks, and this, into the table"
    )


def test_every_program_but_what_programs_share_is_in_the_table() -> None:
    shared = {"talk.py", "talk.mjs", "agent_home.py"}
    programs = {path.name for kind in ("*.py", "*.mjs", "*.sh") for path in HERE.glob(kind)} - shared
    assert programs == {client.words[1] for client in CLIENTS}


def test_what_is_as_the_table_says_is_no_difference() -> None:
    assert differences(EXAMPLE, EXAMPLE.findings) == []


def test_a_row_that_is_broken_besides_is_told() -> None:
    (told,) = differences(EXAMPLE, replace(EXAMPLE.findings, broken=EXAMPLE.findings.broken | {"client.four"}))
    assert told.startswith("a client breaks client.four, and the table does not say so.")
    assert "add the row to `broken` in conformance/judged_clients/judged.toml" in told


def test_a_row_that_is_broken_no_more_is_told() -> None:
    (told,) = differences(EXAMPLE, replace(EXAMPLE.findings, broken=frozenset({"client.one"})))
    assert told.startswith("a client no longer breaks client.two, and the table says otherwise.")
    assert "take the row out of `broken`" in told


def test_a_row_that_nothing_shows_and_one_that_something_shows_are_told() -> None:
    nothing, something = differences(EXAMPLE, replace(EXAMPLE.findings, unobserved=frozenset({"client.four"})))
    assert nothing.startswith("a client does not show client.four, ")
    assert something.startswith("a client now shows client.three, ")


@pytest.mark.parametrize("broken", [frozenset({"client.one", "client.two", "client.four"}), EXAMPLE.findings.broken])
def test_what_is_unsteady_may_be_broken_or_not(broken: frozenset[str]) -> None:
    unsteady = replace(EXAMPLE, unsteady=frozenset({"client.four"}))
    found = replace(EXAMPLE.findings, broken=broken, seen=frozenset({"client.four"}))
    assert differences(unsteady, found) == []


def test_what_is_unsteady_must_be_shown() -> None:
    unsteady = replace(EXAMPLE, unsteady=frozenset({"client.four"}))
    (told,) = differences(unsteady, EXAMPLE.findings)
    assert told.startswith("a client does not show client.four, which is unsteady")


def test_a_should_that_is_broken_counts() -> None:
    outcomes = [
        {"requirement": f"client.{verdict}", "strict": verdict} for verdict in ("pass", "warn", "fail", "not observed")
    ]
    report = {"outcomes": outcomes, "levels": {"strict": {"unobserved": {"client.three": "why"}}}}
    assert findings_of(report) == Findings(
        broken=frozenset({"client.warn", "client.fail"}), unobserved=frozenset({"client.three"}),
        seen=frozenset({"client.pass", "client.warn", "client.fail"}),
    )  # fmt: skip
