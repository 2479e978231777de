"""Crowds played and judged: each draw launched, certified, scored, and kept, so that it can be judged again without it.

Of a draw two files are kept: what was sent and what came, as `wireproof certify --output` keeps it, and the names of
its faults, since a draw of the same name has others as soon as there are further faults to draw from.
"""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from wireproof.model.catalogue import load as load_catalogue
from wireproof.results import archive
from wireproof.results.judge_run import RunInfo, Terms, judge_run
from wireproof.scenarios import SCENARIOS
from wireproof_crowd.certifying import certified
from wireproof_crowd.draws import Draw, DrawKind
from wireproof_crowd.scoring import Score, score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


def play(draw: Draw, folder: Path | None = None) -> Score:
    """Launch and certify the proxy of a draw; with a folder, keep what was sent and what came there."""
    certificate = certified(draw.faults)
    if folder is not None:
        archive.save(_runs_of(folder, draw.name), certificate.target, certificate.runs)
        _faults_of(folder, draw.name).write_text(json.dumps(draw.faults), encoding="utf-8")
    return score(draw, certificate)


def play_many(draws: Iterable[Draw], *, processes: int, folder: Path | None = None) -> Iterator[Score]:
    """The scores of draws, in their order; so many are played at a time."""
    # Each in a new process: what a run leaves behind in ours would be more to fork with each draw.
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(partial(play, folder=folder), draws)


def kept(folder: Path, beginning: str = "") -> list[str]:
    """The names of the draws that are kept in a folder, of those whose names begin so."""
    return sorted(path.stem for path in folder.glob(f"{beginning}*.gz") if _faults_of(folder, path.stem).exists())


def judge_again(name: str, folder: Path) -> Score:
    """The score of a draw that is kept, as it is judged now."""
    there = archive.load(_runs_of(folder, name), SCENARIOS)
    kind, _, number = name.split("-")
    faults = json.loads(_faults_of(folder, name).read_text(encoding="utf-8"))
    certificate = judge_run(there.runs, there.target, load_catalogue(), Terms(), RunInfo(began="", seconds=0.0))
    return score(Draw(kind=DrawKind(kind), number=int(number), faults=tuple(faults)), certificate)


def _runs_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.gz"


def _faults_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"
