"""`python -m wireproof_crowd`: play draws and keep them, or judge kept ones again.

  play FOLDER --size 12 --kind random --draws 20    launch and certify draws, and keep in FOLDER what was sent and came
  judge-again FOLDER --only random-12               judge what is kept there, without any proxy
  show random-12-003                                the faults of a draw, and the rows that they break
  sample                                            record the exchanges of the faultless proxy from which order follows

A draw that is kept already is not played again.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_crowd import samples
from wireproof_crowd.crowds import certified, judge_again, kept, play_many
from wireproof_crowd.draws import SIZES, DrawKind, draw
from wireproof_crowd.scoring import lines, summary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof_crowd.scoring import Score


def main() -> int:
    """Do what the arguments say."""
    given = _parser().parse_args()
    match given.command:
        case "play":
            _play(given)
        case "judge-again":
            with ProcessPoolExecutor(given.processes) as pool:
                _show(pool.map(partial(judge_again, folder=given.folder), kept(given.folder, given.only)))
        case "show":
            kind, size, number = given.name.split("-")
            for row, fault in draw(DrawKind(kind), int(size), int(number)).rows.items():
                print(f"{fault}  {row}")
        case "sample":
            samples.record(certified(()))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wireproof_crowd", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    play, again = commands.add_parser("play"), commands.add_parser("judge-again")
    for each in (play, again):
        each.add_argument("folder", type=Path)
        each.add_argument("--processes", type=int, default=1, help="how many draws at a time")
    play.add_argument("--size", type=int, action="append", choices=SIZES)
    play.add_argument("--kind", type=DrawKind, action="append")
    play.add_argument("--draws", type=int, default=10, help="how many of each size and kind")
    play.add_argument("--from", type=int, default=0, dest="first", help="the number of the first")
    again.add_argument("--only", default="", help="draws whose names begin so, as in random-24 or random-24-003")
    commands.add_parser("show").add_argument("name")
    commands.add_parser("sample")
    return parser


def _play(given: argparse.Namespace) -> None:
    given.folder.mkdir(parents=True, exist_ok=True)
    there = {*kept(given.folder)}
    wanted = (
        draw(kind, size, number)
        for size in given.size or SIZES
        for kind in given.kind or DrawKind
        for number in range(given.first, given.first + given.draws)
    )
    draws = [one for one in wanted if one.name not in there]
    _show(play_many(draws, processes=given.processes, folder=given.folder))


def _show(scores: Iterable[Score]) -> None:
    seen = []
    for one in scores:
        seen.append(one)
        print(*lines(one), sep="\n", flush=True)
    print(*summary(seen), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
