"""Certify endpoints for the public matrix: each result goes into a folder NAME@VERSION of its own.

    python conformance/matrix/certify.py NAME... [--results FOLDER]

A name is one of `conformance/corpus/endpoints.toml`, `reference` (the proxy that comes with Wireproof), or
for the examples on the pages of requirements, `miniatures` or `clients`: what each fault makes of a few scenarios.
"""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))  # no part of the wheel

from wireproof.cli.saved import EVERY
from wireproof.model.catalogue import load
from wireproof.model.dialect import CHATS, Dialect
from wireproof.model.scenario import ConversationScenario
from wireproof.model.target import Target
from wireproof.model.verdict import VerdictLevel
from wireproof.report.data import report_of
from wireproof.results import folder
from wireproof.results.certify import certify
from wireproof.results.document import Configuration
from wireproof.scenarios import SCENARIOS
from wireproof.targets.bundled import IDLE_TIMEOUT, KEEPALIVE, SETTINGS
from wireproof.targets.launch import launch
from wireproof_mocks.clients import FAULTS as CLIENT_FAULTS
from wireproof_mocks.miniatures import FAULTS
from wireproof_mocks.miniatures.agent_faults import AGENT_FAULTS
from wireproof_mocks.miniatures.target_faults import TARGET_FAULTS
from wireproof_mocks.miniatures.turn_faults import GATEWAY_FAULTS
from wireproof_pages.proof_pages import Proofs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.model.scenario import Scenario
    from wireproof_mocks.miniatures import Fault

HERE = Path(__file__).resolve().parent
RECORD = HERE.parent / "corpus" / "record.py"
ENDPOINTS = tomllib.loads((RECORD.parent / "endpoints.toml").read_text(encoding="utf-8"))
LEFT_OUT = {
    "transformers": "two gigabytes of a library, for a model of random weights",
    "aimock-messages": "one of its surfaces alone; it is shown with all",
}
"""Endpoints of the corpus that the matrix does not show → why."""
NAMES = ("reference", *(name for name in ENDPOINTS if name not in LEFT_OUT))
"""What the matrix shows."""
MINIATURES, CLIENTS = "miniatures", "clients"
CHOICES = (*NAMES, MINIATURES, CLIENTS)
RESULTS = Path(sys.prefix) / "matrix" / "results"
INSTALLED = Path(sys.prefix) / "matrix" / "installed"
CLIENT = "client"
"""The example of a client without a fault, and how those of others begin."""
EXAMPLES = Path(sys.prefix) / "matrix" / "examples"
KEY = "key-of-the-matrix"
ENOUGH = 3
"""Scenarios in which a fault is looked for."""
PATIENCE = 6.0
"""Seconds that an exchange may be silent."""


def main(arguments: list[str] | None = None) -> int:
    """Certify what is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="+", choices=CHOICES, metavar="NAME", help=", ".join(CHOICES))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--examples", type=Path, default=EXAMPLES)
    given = parser.parse_args(arguments)
    for name in given.names:
        given.results.mkdir(parents=True, exist_ok=True)
        match name:
            case "reference":
                words = ["wireproof", "certify", "--output", given.results / f"{name}@{metadata.version('wireproof')}"]
                _run(sys.executable, "-m", *words)
            case "miniatures":
                miniatures(given.examples, shown())
            case "clients":
                clients(given.examples)
            case _:
                _run(sys.executable, RECORD, name, "--folder", INSTALLED, "--results", given.results)
    return 0


def clients(to: Path) -> None:
    """Write what a client without a fault keeps, and what each with one breaks."""
    _client(to / CLIENT)
    for name, fault in CLIENT_FAULTS.items():
        _client(to / f"{CLIENT}-{name}", "--only", fault.breaks, fault=name)


def _client(to: Path, *options: str, fault: str = "") -> None:
    client = [sys.executable, "-m", "wireproof_mocks.clients", "--stream", *(["--fault", fault] if fault else [])]
    words = [sys.executable, "-m", "wireproof", "client", *options, "--output", to, "--", *client]
    done = subprocess.run(list(map(str, words)), stdout=subprocess.DEVNULL, check=False)
    # A broken MUST ends the command with 1, a broken SHOULD does not.
    if done.returncode not in ({0, 1} if fault else {0}):
        raise SystemExit(f"{to.name}: the exit status is {done.returncode}")


def _run(*words: str | Path) -> None:
    subprocess.run(list(map(str, words)), check=True)


def shown() -> list[Fault]:
    """The faults that are shown: of each requirement two at most, and none that ends the process of all."""
    mine = [fault for fault in FAULTS.values() if fault not in {*TARGET_FAULTS, *AGENT_FAULTS, *GATEWAY_FAULTS}]
    breaking = {row: [fault for fault in mine if fault.breaks == row] for row in load().by_id}
    return [fault for those in breaking.values() for fault in those[:2]]


def miniatures(to: Path, faults: Iterable[Fault]) -> None:
    """Write what each fault makes of a few scenarios of its requirement."""
    judging = Proofs(catalogue=load(), scenarios=SCENARIOS, kills={}).judging
    every = {one.name: one for one in EVERY}
    env = {**SETTINGS, "PROXY_API_KEY": KEY}
    command = [sys.executable, "-m", "wireproof_mocks.miniatures"]
    with launch(command, env=env, url="http://127.0.0.1:{port}/none/v1") as launched:
        root = launched.base_url.removesuffix("/none/v1")
        for fault in faults:
            chosen = [every[name] for name in judging[fault.breaks]]
            scripts = set(fault.scripts)
            fit = [one for one in chosen if not scripts or scripts & _scripts(one)]
            _write(to / fault.name, fault, f"{root}/{fault.name}/v1", fit[:ENOUGH])


def _scripts(scenario: Scenario) -> set[str | None]:
    if not isinstance(scenario, ConversationScenario):
        return set()
    return {scenario.script, *(turn.script for turn in scenario.turns)}


def _write(to: Path, fault: Fault, url: str, scenarios: list[Scenario]) -> None:
    target = Target(
        base_url=url, model="codex", api_key=KEY, keepalive=KEEPALIVE, timeout=PATIENCE, idle_timeout=IDLE_TIMEOUT,
        dialects=_dialects(fault), default_mode=Dialect.OBSIDIAN_XML,
    )  # fmt: skip
    certificate = certify(target, scenarios, load(), selection=[one.name for one in scenarios])
    configuration = Configuration(
        command=f"python -m wireproof_mocks.miniatures {fault.name}", jobs=certificate.jobs, at_a_time=0,
        selection=certificate.selection, level=VerdictLevel.STRICT, allow_partial=False, known={},
    )  # fmt: skip
    folder.write(to, report_of(certificate, load(), configuration, folder.versions()), certificate)


def _dialects(fault: Fault) -> tuple[Dialect, ...]:
    """Those in which a fault shows; one of them is enough for an example."""
    spoken = load().by_id[fault.breaks].dialects
    mine = tuple(map(Dialect, fault.dialects)) or CHATS
    return tuple(one for one in mine if one in spoken)[:1] or spoken[:1]


if __name__ == "__main__":
    sys.exit(main())
