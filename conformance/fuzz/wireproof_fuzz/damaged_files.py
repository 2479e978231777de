"""Results and certificates that somebody has changed, read by every command: each is refused in a line, or is shown.

Hashes are made again, as whoever changes a file on purpose would.
"""

from __future__ import annotations

import atexit
import gzip
import hashlib
import itertools
import json
import random
import shutil
import tempfile
import traceback
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from wireproof.cli.results import TEXTS
from wireproof.cli.root import root
from wireproof.model.catalogue import load as load_catalogue
from wireproof.model.target import Backend
from wireproof.model.verdict import VerdictLevel
from wireproof.report.data import report_of
from wireproof.results import folder
from wireproof.results.certificate import ExitStatus
from wireproof.results.document import Configuration
from wireproof.results.folder import REPORT, TRANSCRIPTS
from wireproof.results.judge_run import judge_run
from wireproof_fuzz.json_mutations import changed
from wireproof_fuzz.judged import Death
from wireproof_fuzz.mutants import CROWDED, mutant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from click.testing import Result

SCENARIO = "live-call"
COMMANDS: Mapping[str, Callable[[Path, Path], list[object]]] = {
    **{f"report {form}": lambda bad, _, form=form: ["report", bad, f"--format={form}"]  # type: ignore[misc]
       for form in ("terminal", *TEXTS, "html")},
    "judge": lambda bad, _: ["judge", bad],
    "known-failing write": lambda bad, _: ["known-failing", "write", bad],
    "diff to it": lambda bad, good: ["diff", good, bad],
    "diff from it": lambda bad, good: ["diff", bad, good],
    "compare": lambda bad, good: ["compare", good, bad],
    "site": lambda bad, good: ["site", good, bad, "--output", bad.parent / "site"],
    "site --example": lambda bad, good: ["site", good, "--example", bad, "--output", bad.parent / "site"],
    "replay --curl": lambda bad, _: ["replay", bad, SCENARIO, "--curl"],
    "certificate write": lambda bad, _: ["certificate", "write", bad, "--output", bad.parent / "written"],
}  # fmt: skip
"""What reads a damaged result, beside a good one."""


def death_of_file(number: int) -> Death | None:
    """What commands that read the damaged result of this number die of; None: nothing."""
    chance = random.Random(f"file {number}")  # noqa: S311 (it protects nothing)
    with tempfile.TemporaryDirectory() as there:
        bad, good = Path(there) / "bad", broken_result()
        shutil.copytree(good, bad)
        damage = chance.choice([*DAMAGES])
        DAMAGES[damage](chance, bad)
        for name, words in COMMANDS.items():
            done = CliRunner().invoke(root, [str(word) for word in words(bad, good)])
            if wrong := _wrong(done):
                said = f"file {number} ({damage}): wireproof {name}: {wrong}"
                return Death(number=number, where=f"{name}: {wrong.splitlines()[-1][:150]}", said=said)
    return None


def _wrong(done: Result) -> str:
    """What is wrong with the end of a command; empty for nothing."""
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return "".join(traceback.format_exception(done.exception))
    if done.exit_code == ExitStatus.USAGE and done.stderr.count("\n") != 1:
        return f"it is not refused in one line: {done.stderr!r}"
    if "please report this" in done.output:
        return done.stderr
    return ""


def _changed_report(chance: Random, there: Path) -> None:
    path = there / REPORT
    # Each as often as some others: most members are in lists of hundreds of rows.
    data = json.loads(path.read_bytes())
    member = chance.choice([*data])
    text = json.dumps({**data, member: "@@"}).replace('"@@"', changed(chance, data[member]))
    path.write_text(text, "utf-8", "replace")


def _changed_transcripts(chance: Random, there: Path) -> None:
    lines = gzip.decompress((there / TRANSCRIPTS).read_bytes()).decode().splitlines()
    number = chance.choice((0, chance.randrange(len(lines))))
    lines[number] = changed(chance, json.loads(lines[number]))
    _hashed(there, gzip.compress("\n".join(lines).encode("utf-8", "replace"), 1))


def _changed_bytes(chance: Random, there: Path) -> None:
    path = there / chance.choice((REPORT, TRANSCRIPTS))
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 3))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    if path.name == REPORT:
        path.write_bytes(data)
    else:
        _hashed(there, bytes(data[: chance.choice((len(data), len(data) // 2))]))


def _hashed(there: Path, transcripts: bytes) -> None:
    """Put transcripts there, of which the report speaks."""
    (there / TRANSCRIPTS).write_bytes(transcripts)
    data: dict[str, Any] = json.loads((there / REPORT).read_bytes())
    data["transcripts"]["sha256"] = hashlib.sha256(transcripts).hexdigest()
    (there / REPORT).write_text(json.dumps(data), "utf-8")


DAMAGES: Mapping[str, Callable[[Random, Path], None]] = {
    "report": _changed_report,
    "transcripts": _changed_transcripts,
    "bytes": _changed_bytes,
}


@cache
def broken_result() -> Path:
    """A result of a run at an endpoint with a model, in which much is broken."""
    made = Path(tempfile.mkdtemp()) / "good"
    atexit.register(shutil.rmtree, made.parent)
    every = (mutant(number) for number in itertools.count(CROWDED, CROWDED))
    run = next(one for one in every if one.target.backend is Backend.LIVE)
    catalogue = load_catalogue()
    certificate = judge_run(run.runs, run.target, catalogue, began="2026-01-01T00:00:00+00:00", seconds=1.0)
    asked = Configuration(
        command="wireproof certify", jobs=1, at_a_time=0, selection=(), level=VerdictLevel.COMPAT, allow_partial=False,
        known={"live-call:call.ids": "it is small"},
    )  # fmt: skip
    folder.write(made, report_of(certificate, catalogue, asked, folder.versions()), certificate)
    return made
