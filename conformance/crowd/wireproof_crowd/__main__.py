"""`python -m wireproof_crowd`: play draws and keep them, or judge kept ones again.

    play FOLDER --size 12 --kind random --draws 20 --from 0    launch and certify draws, and keep what was sent and came
    judge-again FOLDER                                         judge what is kept there, without any proxy
    show random-12-003                                         the faults of a draw

A draw that is kept already is not played again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from wireproof.model.catalogue import load as load_catalogue
from wireproof.results.archive import load, save
from wireproof.results.judge_run import RunInfo, Terms, judge_run
from wireproof.scenarios import SCENARIOS
from wireproof_crowd.certifying import certified
from wireproof_crowd.drawing import SIZES, Draw, Kind, draw
from wireproof_crowd.scoring import Score, score, share


def main() -> int:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(prog="wireproof_crowd", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    play = commands.add_parser("play")
    play.add_argument("folder", type=Path)
    play.add_argument("--size", type=int, action="append", choices=SIZES)
    play.add_argument("--kind", type=Kind, action="append")
    play.add_argument("--draws", type=int, default=10)
    play.add_argument("--from", type=int, default=0, dest="since")
    again = commands.add_parser("judge-again")
    again.add_argument("folder", type=Path)
    again.add_argument("--only", default="", help="draws whose names begin so, as in random-24 or random-24-003")
    again.add_argument("--processes", type=int, default=1)
    show = commands.add_parser("show")
    show.add_argument("name")
    given = parser.parse_args()
    match given.command:
        case "play":
            return _play(given.folder, [
                draw(kind, size, number)
                for size in given.size or SIZES
                for kind in given.kind or Kind
                for number in range(given.since, given.since + given.draws)
            ])
        case "judge-again":
            return _judge_again(given.folder, given.only, given.processes)
        case _:
            one = _named(given.name)
            print("\n".join(f"{fault}  {row}" for row, fault in one.rows.items()))
            return 0


def _named(name: str) -> Draw:
    kind, size, number = name.split("-")
    return draw(Kind(kind), int(size), int(number))


def _play(folder: Path, draws: list[Draw]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    scores = []
    for one in draws:
        file = folder / f"{one.name}.gz"
        if file.exists():
            continue
        certificate = certified(one.faults)
        save(file, certificate.target, certificate.runs)
        file.with_suffix(".json").write_text(json.dumps({"faults": one.faults, "seconds": certificate.seconds}))
        scores.append(score(one, certificate))
        print(f"{one.name} {certificate.seconds:.1f} s  {scores[-1].found}/{len(one.faults)}", flush=True)
    _report(scores)
    return 0


def _judge_again(folder: Path, only: str, processes: int) -> int:
    files = sorted(folder.glob(f"{only}*.gz"))
    began = time.monotonic()
    if processes > 1:
        with ProcessPoolExecutor(processes) as pool:
            scores = list(pool.map(_judged, files))
    else:
        scores = list(map(_judged, files))
    _report(scores)
    print(f"{time.monotonic() - began:.0f} s")
    return 0


def _judged(file: Path) -> Score:
    archive = load(file, SCENARIOS)
    kept = json.loads(file.with_suffix(".json").read_text())
    kind, _, number = file.stem.split("-")
    one = Draw(kind=Kind(kind), number=int(number), faults=tuple(kept["faults"]))
    course = RunInfo(began="", seconds=0.0)
    return score(one, judge_run(archive.runs, archive.target, load_catalogue(), Terms(), course))


def _report(scores: list[Score]) -> None:
    for one in scores:
        for missed in one.missed:
            print(f"{one.draw.name} missed  {missed.fault} -> {missed.row}: {missed.why}" + (f" | behind {missed.behind}" if missed.behind else ""))
        for accused in one.accused:
            print(f"{one.draw.name} accused {accused.row}: {accused.where[:300]}")
    for size, those in itertools.groupby(sorted(scores, key=lambda one: one.draw.size), key=lambda one: one.draw.size):
        these = list(those)
        accused = sum(len(one.accused) for one in these)
        print(f"{size:3} faults, {len(these):3} draws: {share(these):7.2%} found, {accused} clean rows accused in {sum(bool(one.accused) for one in these)} draws")


if __name__ == "__main__":
    sys.exit(main())
