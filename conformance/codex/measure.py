"""Measures versions of Codex: installs each, has conversations with it and with the mock, and says what is new.

    python conformance/codex/measure.py 0.171.0 0.151.0 [--all] [--only NAME …] [--into FOLDER] [--write]

A version that the mock does not know is compared with the nearest older one that it knows. Without options the core
set is had: text, tools, an interrupt, failures, history, and what is refused, in one session; with `--only own_tools`
plans, searches and the tools of an MCP server. Each conversation is recorded by `wireproof-codex record` in
FOLDER/VERSION/recordings; a recording that is there is not made again.
`--write` puts these sets into the tests' recordings.

What differs is said by its place in a message, with the number of conversations that show it, the real server first.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path[:0] = [str(HERE / "tests"), str(REPOSITORY / "mocks/tests/fidelity")]

from binaries import native  # noqa: E402 - the tests' own modules, found above
from conversations import CONVERSATIONS, measured  # noqa: E402
from side_by_side import COUNTED_AT_THE_END, Said, said_by_mock, said_by_real, write_scripts  # noqa: E402
from wireproof_fidelity.differences import differences  # noqa: E402
from wireproof_fidelity.table import CORE, MEASURED, PASSED_ON, load_differential, recording_file  # noqa: E402

from wireproof_codex.versions.marks import minor  # noqa: E402
from wireproof_codex.versions.version import NEWEST, VERSIONS  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

_WITHOUT = {row.script: row.without for row in load_differential() if row.version == NEWEST.number}
_EXAMPLES = 3


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a conversation ended: what differs; or `broken`, why it could not be had."""

    name: str
    hostile: bool = False
    differs: Sequence[str] = ()
    broken: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the versions; 1 if any differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    parser.add_argument("--all", action="store_true", help="have every conversation, not the core set alone")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="have these conversations")
    parser.add_argument("--into", type=Path, default=Path(".codex-versions"), metavar="FOLDER")
    parser.add_argument("--write", action="store_true", help="put the sets into the tests' recordings")
    options = parser.parse_args(arguments)
    names = options.only or (tuple(CONVERSATIONS) if options.all else (CORE,))
    return max([_measure(version, names, options.into.resolve(), write=options.write) for version in options.versions])


def _measure(version: str, names: Sequence[str], into: Path, *, write: bool) -> int:
    binary, known = _installed(version, into / version), _nearest(version)
    mine = [name for name in names if name in MEASURED or CONVERSATIONS[name].is_of(version)]
    with ThreadPoolExecutor(3) as pool:  # a conversation waits more than it computes
        outcomes = list(pool.map(lambda name: _compare(name, version, known, binary, into / version), mine))
    _say(version, known, outcomes)
    changed = [outcome for outcome in outcomes if outcome.differs]
    if write:
        for name in MEASURED.intersection(mine):
            _keep(into / version, version, name)
    return int(bool(changed))


def _keep(folder: Path, version: str, name: str) -> None:
    """Put a recorded set into the tests' recordings, without the paths of this machine."""
    text = _recording(folder, name).read_text(encoding="utf-8")
    homes = rf"{re.escape(str(folder))}/homes/[^/\"]+/real"
    text = re.sub(rf"{homes}/home", "/srv/codex-home", text)
    # What the recorder was started in stands in it as /workspace already.
    text = re.sub(rf"{homes}/work|(?<=[\">])/workspace(?=[\"<])", "/srv/workspace", text)
    text = text.replace(str(native(folder / "node_modules")), "codex")
    text = re.sub(r"http://127\.0\.0\.1:\d+/", "http://127.0.0.1:9/", text)  # the model's service
    file = recording_file(f"{version}/{name}")
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(gzip.compress(text.encode(), mtime=0))


def _nearest(version: str) -> str:
    """The newest version that the mock plays and that is not newer than this."""
    number = tuple(map(int, version.split(".")))
    return [one for one in VERSIONS if tuple(map(int, one.split("."))) <= number][-1]


def _installed(version: str, folder: Path) -> Path:
    """The native binary, installed by npm if it is not there."""
    found = native(folder / "node_modules")
    if found is None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}")
        npm = ["npm", "install", "--no-audit", "--no-fund", "--silent", f"@openai/codex@{version}"]
        subprocess.run(npm, cwd=folder, check=True)
        found = native(folder / "node_modules")
    if found is None:
        raise SystemExit(f"@openai/codex@{version} has no binary for this machine below {folder}")
    return found


def _recording(folder: Path, name: str) -> Path:
    return folder / "recordings" / f"{re.sub(r'[^a-z0-9]+', '_', name.lower())}.jsonl"


def _compare(name: str, version: str, known: str, binary: Path, folder: Path) -> Outcome:
    conversation, file = measured(name, version) if name in MEASURED else CONVERSATIONS[name], _recording(folder, name)
    kept = file.with_suffix(".said.json")
    file.parent.mkdir(exist_ok=True)
    record: list[str | Path] = [sys.executable, "-m", "wireproof_codex", "record", "--output", file, "--", binary]
    homes = folder / "homes" / file.stem
    shutil.rmtree(homes, ignore_errors=True)
    try:
        if kept.exists():
            theirs = Said(**json.loads(kept.read_text()), counts_race=minor(version) < COUNTED_AT_THE_END)
        else:
            # A run of `codex exec` has nothing to record.
            theirs = said_by_real(conversation, version, [binary] if conversation.runs else record, homes / "real")
            kept.write_text(json.dumps({"messages": theirs.messages, "asked": theirs.asked}))
        scripts = write_scripts(folder / f"{file.stem}.scripts.json")
        ours = said_by_mock(conversation, known, scripts, homes / "mock")
    except AssertionError as error:
        return Outcome(name=name, hostile=conversation.hostile, broken=str(error).partition("\n")[0][:500])
    without = _WITHOUT.get(name, frozenset()) | PASSED_ON
    sides = theirs.lines(without), [line.replace(known, version) for line in ours.lines(without)]
    if sides[0] == sides[1]:
        return Outcome(name=name, hostile=conversation.hostile)
    asked = {json.loads(number): method for number, method in theirs.asked.items()}
    return Outcome(
        name=name, hostile=conversation.hostile, differs=sorted(differences(*sides, asked)) or ["the order of messages"]
    )


def _say(version: str, known: str, outcomes: Sequence[Outcome]) -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for outcome in outcomes:
        for place in outcome.differs:
            places[place].append(outcome.name)
    counts = []
    for hostile in (False, True):
        had = [outcome for outcome in outcomes if outcome.hostile is hostile]
        counts.append(f"{sum(not outcome.differs and not outcome.broken for outcome in had)} of {len(had)}")
    played = VERSIONS[known].played_as
    print(f"{version}, beside {known} (played as {played}): {counts[0]} conversations equal, {counts[1]} hostile ones")
    for place, names in sorted(places.items(), key=lambda entry: -len(entry[1])):
        more = ", …" if len(names) > _EXAMPLES else ""
        print(f"  {len(names):3} {place}   [{', '.join(names[:_EXAMPLES])}{more}]")
    for outcome in outcomes:
        if outcome.broken:
            print(f"  not had: {outcome.name}: {outcome.broken}")


if __name__ == "__main__":
    sys.exit(main())
