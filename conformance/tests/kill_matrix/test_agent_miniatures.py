"""Each fault of a proxy in front of Cursor's agent service is found, under its own requirement and no other."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING

import pytest

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.target import Backend, Target
from wireproof.model.verdict import Verdict
from wireproof.results.certify import certify
from wireproof.scenarios import CONVERSATIONS
from wireproof.targets.bundled import CURSOR_SETTINGS, IDLE_TIMEOUT, KEEPALIVE, SETTINGS
from wireproof.targets.cursor_agent import cursor_agent
from wireproof.targets.launch import launch
from wireproof_mocks.miniatures.agent_faults import AGENT_FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_mocks.miniatures import Fault

KEY = "key-of-the-agents"
OF_CURSOR = [one for one in CONVERSATIONS if one.backend is Backend.CURSOR]
BROKEN = {Verdict.FAIL, Verdict.WARN, Verdict.ERROR}


@pytest.fixture(scope="module")
def miniature_server() -> Iterator[Target]:
    """All miniatures in front of the mock of the service, as the target of the one without a fault."""
    with cursor_agent() as agent:
        env = {**SETTINGS, **CURSOR_SETTINGS, **agent.env, "CURSOR_SCRATCH": str(agent.folder), "PROXY_API_KEY": KEY}
        command, url = [sys.executable, "-m", "wireproof_mocks.miniatures"], "http://127.0.0.1:{port}/none/v1"
        with launch(command, env=env, url=url) as launched:
            yield Target(
                base_url=launched.base_url, model="cursor", api_key=KEY, timeout=IDLE_TIMEOUT + 6.0,
                keepalive=KEEPALIVE, idle_timeout=IDLE_TIMEOUT, dialects=(Dialect.OPENAI_JSON,), backend=Backend.CURSOR,
            )  # fmt: skip


def broken(miniature_server: Target, name: str) -> set[str]:
    target = dataclasses.replace(miniature_server, base_url=miniature_server.base_url.replace("/none/", f"/{name}/"))
    script = next((fault.scripts[0] for fault in AGENT_FAULTS if fault.name == name), "")
    played = [one for one in OF_CURSOR if script in {"", one.script}]
    return {one.requirement for one in certify(target, played, load()).outcomes if one.verdict in BROKEN}


def test_without_a_fault_nothing_is_found(miniature_server: Target) -> None:
    assert broken(miniature_server, "none") == set()


@pytest.mark.parametrize("fault", AGENT_FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_found_under_its_own_requirement(miniature_server: Target, fault: Fault) -> None:
    assert broken(miniature_server, fault.name) == {fault.breaks}


def test_every_row_has_a_fault() -> None:
    assert {fault.breaks for fault in AGENT_FAULTS} == {one.exercises[0] for one in OF_CURSOR}
