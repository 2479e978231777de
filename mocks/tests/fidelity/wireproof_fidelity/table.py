"""The tables of fidelity as data: which recordings are replayed and how that ends, and what was compared directly."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from wireproof_codex.versions.version import NEWEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Verdict = Literal["equal", "accepted difference", "not replayed"]
Result = Literal["equal", "accepted difference", "not compared"]

RECORDINGS = Path(__file__).parents[2] / "recordings"
"""One folder per version, in it one file per scenario."""
CORE = "core"
MEASURED = frozenset({CORE, "own_tools"})
"""The scenarios that `conformance/codex/measure.py` records, with scripts of ours; their files are compressed."""
PASSED_ON = frozenset({"logprobs", "cache_write_tokens"})
"""Members of raw items that the model's service of the core set sent, and the real server passed on."""
REPLAY = Path(__file__).parent / "replay.toml"
DIFFERENTIAL = Path(__file__).parent / "differential.toml"


@dataclass(frozen=True, kw_only=True, slots=True)
class Replayed:
    """One recording. `why`: what differs and why, or why it is not replayed; empty where all is equal.

    What is left out of the comparison: `skip`, requests with all that follows until the client's next line;
    `unsent`, notifications of these methods; `own`, values of these keys.
    `after`: the scenario of the process before it, whose threads are stored; empty if there was none.
    """

    version: str
    scenario: str
    verdict: Verdict
    why: str = ""
    skip: frozenset[Any] = frozenset()
    unsent: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    after: str = ""

    @property
    def name(self) -> str:
        """Version and scenario."""
        return f"{self.version}/{self.scenario}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Replays:
    """All recordings, and what differs everywhere.

    `unsent`, `own`: reasons, by the method of a notification or the key of a value. `words`: what the recorded model's
    service said and what the mock's says instead. `crossing`: scenarios in which threads are answered at once, so that
    only what is said of each has an order.
    """

    rows: Sequence[Replayed]
    unsent: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    crossing: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """A script that the real binary and the mock played side by side; `difference` and `why` unless all was equal.

    `without`: the members of objects that are not compared.
    """

    script: str
    version: str
    result: Result
    difference: str = ""
    why: str = ""
    without: frozenset[str] = frozenset()


def load_replays(path: Path = REPLAY, recordings: Path = RECORDINGS) -> Replays:
    """The table of recordings: all that there are, those that the file does not name being equal.

    Raises:
        ValueError: the file is not what its head says.
    """
    data = _read(path)
    listed = [_replayed(path, row) for row in data.get("recording", ())]
    _no_twins(path, [row.name for row in listed])
    there = sorted(recordings.glob("*/*.jsonl*"))
    found = [Replayed(version=one.parent.name, scenario=one.name.partition(".")[0], verdict="equal") for one in there]
    lost = {row.name for row in listed} - {row.name for row in found}
    if lost:
        raise ValueError(f"{path.name}: {', '.join(sorted(lost))}: there is no such recording")
    named = {row.name: row for row in listed}
    after: Mapping[str, str] = data.get("after", {})
    rows = [replace(named.get(row.name, row), after=after.get(row.scenario, "")) for row in found]
    return Replays(rows=rows, **data["everywhere"])


def recording_file(name: str) -> Path:
    """The file of a recording, by its version and scenario."""
    return RECORDINGS / f"{name}.jsonl{'.gz' if name.partition('/')[2] in MEASURED else ''}"


_SETS = ("skip", "unsent", "own")


def _replayed(path: Path, row: Mapping[str, Any]) -> Replayed:
    sets = {name: frozenset(row[name]) for name in _SETS if name in row}
    made = Replayed(**{**row, **sets})
    if made.verdict not in get_args(Verdict) or made.verdict == "equal" or not made.why:
        raise ValueError(f"{path.name}: {made.name}: a verdict other than equal, and a reason, are needed")
    if bool(sets) is (made.verdict == "not replayed"):
        raise ValueError(f"{path.name}: {made.name}: an accepted difference, and no other, says what is left out")
    return made


def load_differential(path: Path = DIFFERENTIAL) -> Sequence[Compared]:
    """The scripts that were compared; none while there is no file.

    Raises:
        ValueError: the file is not what the head of replay.toml says.
    """
    data = _read(path) if path.is_file() else {}
    listed = data.get("equal", {})
    every = listed.pop("every version", ())  # every one that is listed beside it
    equal = [
        Compared(script=script, version=_number(version), result="equal")
        for version, scripts in listed.items()
        for script in (*every, *scripts)
    ]
    others = [
        Compared(**{**row, "version": _number(row["version"]), "without": frozenset(row.get("without", ()))})
        for row in data.get("compared", ())
    ]
    rows = [*equal, *others]
    for row in rows:
        if row.result not in get_args(Result) or (row.result == "equal") is bool(row.why):
            raise ValueError(
                f"{path.name}: {row.script} {row.version}: a known result, and a reason unless it is equal"
            )
    _no_twins(path, [f"{row.version} {row.script}" for row in rows])
    return rows


def _number(version: str) -> str:
    return NEWEST.number if version == "newest" else version


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _no_twins(path: Path, names: Sequence[str]) -> None:
    twins = {name for name in names if names.count(name) > 1}
    if twins:
        raise ValueError(f"{path.name}: {', '.join(sorted(twins))} stands there twice")
