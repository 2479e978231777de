"""Crowds played and judged: each draw launched, certified, scored, and kept, so that it can be judged again without it.

Of a draw two files are kept: what was sent and what came, as `wireproof certify --output` keeps it, and the names of
its faults, since a draw of the same name has others as soon as there are further faults to draw from.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from wireproof.model.catalogue import load as load_catalogue
from wireproof.model.dialect import Dialect
from wireproof.model.target import Target
from wireproof.results import archive
from wireproof.results.certify import certify
from wireproof.results.judge_run import judge_run
from wireproof.scenarios import SCENARIOS
from wireproof.targets.bundled import (
    BODY_LIMIT,
    IDLE_TIMEOUT,
    KEEPALIVE,
    SETTINGS,
    SLOTS,
    SPARES,
    UNREADY_SETTINGS,
)
from wireproof.targets.launch import LOCAL, launch
from wireproof.targets.unready_instance import unready_instance
from wireproof_crowd.draws import Draw, DrawKind
from wireproof_crowd.scoring import Score, score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from wireproof.model.scenario import Scenario
    from wireproof.results.certificate import Certificate

KEY = "key-of-the-crowd"
SILENCE = 6.0
"""Seconds beyond the idle timeout that an exchange may be silent: as where each fault is certified alone."""
COMMIT = "1000"
"""Milliseconds that the status line waits for the first output, as there."""
JOBS = 24
"""Exchanges at a time, as there."""
READY_WAIT = "2000"
"""Milliseconds that the unready instance waits for its backend: on a busy machine its slots are not taken at once."""


def certified(faults: Sequence[str], *, scenarios: Sequence[Scenario] = SCENARIOS, jobs: int = JOBS) -> Certificate:
    """The certificate of the proxy with these faults, launched; of the faultless one if there are none.

    It is one run with all that a run can look at.
    """
    env = {**SETTINGS, "PROXY_API_KEY": KEY, "PROXY_COMMIT_MS": COMMIT}
    command = [sys.executable, "-m", "wireproof_mocks.miniatures", "+".join(faults) or "none"]
    with ExitStack() as stack:
        launched = stack.enter_context(launch(command, env=env))
        spares = [stack.enter_context(launch(command, env=env, at_need=True)) for _ in range(SPARES)]
        unready = stack.enter_context(
            unready_instance(
                command, env={**env, **UNREADY_SETTINGS, "PROXY_READY_WAIT_MS": READY_WAIT}, url=LOCAL, at_need=True
            )
        )
        target = Target(
            base_url=launched.base_url, model="codex", api_key=KEY, keepalive=KEEPALIVE,
            timeout=IDLE_TIMEOUT + SILENCE, idle_timeout=IDLE_TIMEOUT, body_limit=BODY_LIMIT, unready_url=unready,
            slots=SLOTS, spare_urls=tuple(spare.base_url for spare in spares), dialects=tuple(Dialect),
            default_mode=Dialect.OBSIDIAN_XML,
        )  # fmt: skip
        return certify(target, scenarios, load_catalogue(), jobs=jobs)


def play(draw: Draw, folder: Path) -> Score:
    """Launch and certify the proxy of a draw, and keep what was sent and what came in a folder."""
    certificate = certified(draw.faults)
    archive.save(_runs_of(folder, draw.name), certificate.target, certificate.runs)
    _faults_of(folder, draw.name).write_text(json.dumps(draw.faults), encoding="utf-8")
    return score(draw, certificate)


def play_many(draws: Iterable[Draw], *, processes: int, folder: Path) -> Iterator[Score]:
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
    certificate = judge_run(there.runs, there.target, load_catalogue(), seconds=0.0)
    return score(Draw(kind=DrawKind(kind), number=int(number), faults=tuple(faults)), certificate)


def _runs_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.gz"


def _faults_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"
