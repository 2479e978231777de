"""The pinned table of real clients: how each is judged again, and what of that differs from the table."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import version as python_version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wireproof.targets.launch import executable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HERE = Path(__file__).parents[1]
INSTALLED = Path(sys.prefix) / HERE.name
"""Where npm has installed; the programs run there, since those in JavaScript find their packages nowhere else."""
TABLE = "conformance/judged_clients/judged.toml"
TIMEOUT = 60
"""Seconds of a scenario."""
JOBS = 4
BROKEN = ("fail", "warn")
"""The verdicts of a MUST and of a SHOULD that is broken."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What a client was found to break, and the MUSTs that nothing showed."""

    broken: frozenset[str]
    unobserved: frozenset[str]
    seen: frozenset[str] = frozenset()
    """The requirements that something showed, kept or broken."""


@dataclass(frozen=True, kw_only=True)
class PinnedClient:
    """A client of the table."""

    name: str
    version: str
    packages: tuple[str, ...]
    """`npm:NAME` or `pypi:NAME`, one for each of the versions; none: it is the system's."""
    command: str
    findings: Findings
    unsteady: frozenset[str] = frozenset()
    """The requirements that it breaks or keeps as the machine is slow or fast; the table says why."""

    @property
    def words(self) -> list[str]:
        """Its command, with this Python."""
        return [word.replace("{python}", sys.executable) for word in shlex.split(self.command)]


def pinned_clients() -> list[PinnedClient]:
    """The table, in its order."""
    table = tomllib.loads((HERE / "judged.toml").read_text(encoding="utf-8"))["client"]
    return [
        PinnedClient(
            name=one["name"],
            version=one["version"],
            packages=tuple(one["packages"]),
            command=one["command"],
            findings=Findings(broken=frozenset(one["broken"]), unobserved=frozenset(one["unobserved"])),
            unsteady=frozenset(one.get("unsteady", {})),
        )
        for one in table
    ]


def bring_programs() -> None:
    """Copy the programs beside their packages.

    Raises:
        FileNotFoundError: nothing is installed there.
    """
    if not (INSTALLED / "node_modules").is_dir():
        raise FileNotFoundError(f"no clients in {INSTALLED}: run conformance/clients/install.py {HERE}")
    for kind in ("*.py", "*.mjs", "*.sh"):
        for program in HERE.glob(kind):
            shutil.copy(program, INSTALLED)


def installed_version(package: str) -> str:
    """Of a package that the table names."""
    registry, _, name = package.partition(":")
    if registry == "pypi":
        return python_version(name)
    described = json.loads((INSTALLED / "node_modules" / name / "package.json").read_text(encoding="utf-8"))
    return str(described["version"])


def judge(client: PinnedClient, output: Path, environment: Mapping[str, str]) -> tuple[Findings, str]:
    """Judge it in all scenarios, with its result in `output`; what was found, and what the command printed.

    Raises:
        FileNotFoundError: it could not be judged, and has no result; says what the command printed.
    """
    command = [executable("wireproof"), "client", f"--jobs={JOBS}", f"--timeout={TIMEOUT}", f"--output={output}"]
    # It bounds the client, and is not bounded here: whoever kills it leaves processes of the client behind.
    done = subprocess.run(
        [*command, "--", *client.words], cwd=INSTALLED, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False,
    )  # fmt: skip
    report = output / "report.json"
    if not report.is_file():
        raise FileNotFoundError(f"{client.name} was not judged, exit status {done.returncode}: {done.stdout}")
    return findings_of(json.loads(report.read_text(encoding="utf-8"))), done.stdout


def findings_of(report: Mapping[str, Any]) -> Findings:
    """What a `report.json` says."""
    return Findings(
        broken=frozenset(one["requirement"] for one in report["outcomes"] if one["strict"] in BROKEN),
        unobserved=frozenset(report["levels"]["strict"]["unobserved"]),
        seen=frozenset(one["requirement"] for one in report["outcomes"] if one["strict"] in {"pass", *BROKEN}),
    )


def differences(client: PinnedClient, found: Findings) -> list[str]:
    """A sentence for each row in which a client differs from the table: who, which row, and what to do."""
    pinned, either = client.findings, client.unsteady
    unseen = (
        f"{client.name} does not show {row}, which is unsteady in {TABLE}." for row in sorted(either - found.seen)
    )
    return [*unseen,
            *_changed(client.name, "broken", pinned.broken - either, found.broken - either, *_BROKEN),
            *_changed(client.name, "unobserved", pinned.unobserved, found.unobserved, *_UNOBSERVED)]  # fmt: skip


_BROKEN = ("breaks", "no longer breaks")
_UNOBSERVED = ("does not show", "now shows")
_NEW = "and the table does not say so. See why below: if it is the client's doing, not the check's, add the row to"
_GONE = "and the table says otherwise. If that stays so when it is judged alone, take the row out of"


def _changed(
    name: str, key: str, pinned: frozenset[str], found: frozenset[str], does: str, no_longer: str
) -> Iterator[str]:
    written = f"`{key}` in {TABLE}, then run python tools/generate.py"
    for row in sorted(found - pinned):
        yield f"{name} {does} {row}, {_NEW} {written}."
    for row in sorted(pinned - found):
        yield f"{name} {no_longer} {row}, {_GONE} {written}."
