"""A whole `wireproof certify` at a target that spoils answers: it ends with a verdict and its result, not otherwise.

What it is asked first is spoilt, too: the models, what finds out the surfaces and the backend, errors.
"""

from __future__ import annotations

import random
import tempfile
import threading
import time
import traceback
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from click.testing import CliRunner
from live_endpoint import KEY, MODEL, serving
from live_goods import OPENAI

from wireproof.cli.results import FORMATS
from wireproof.cli.root import root
from wireproof.results import folder
from wireproof.results.certificate import ExitStatus
from wireproof.scenarios import SCENARIOS
from wireproof_endpoint.in_process import endpoint_of
from wireproof_endpoint.serving import running
from wireproof_fuzz.judged import Death
from wireproof_fuzz.spoiler import spoiling

if TYPE_CHECKING:
    from click.testing import Result

RATES = (0.03, 0.1, 0.3, 1.0)
"""How many answers of a target are spoilt: with few, a run comes to its end; with all, not over its start."""
SCRIPTED = 6
"""Scenarios that are driven where a script answers."""
LONGEST = 120.0
"""Seconds that a run may take; its own limits of time are far below."""
BOUNDS = ("--timeout=1", "--answer-seconds=3", "--max-wait=1", "--max-seconds=30", "--yes", "--api-key-env=FUZZED_KEY")
ENDS = {ExitStatus.CERTIFIED, ExitStatus.FAILED, ExitStatus.UNREACHABLE, ExitStatus.PARTIAL}
_ASKS_TO_REPORT = "please report this"


def death_of_run(number: int) -> Death | None:
    """What the run of this number dies of; None: it ends in a verdict."""
    chance = random.Random(f"run {number}")  # noqa: S311 (it protects nothing)
    rate, since = chance.choice(RATES), time.monotonic()
    raised: list[str] = []
    with ExitStack() as stack:
        stack.callback(setattr, threading, "excepthook", threading.excepthook)
        threading.excepthook = lambda given: raised.append(f"{given.exc_type.__name__} in a thread: {given.exc_value}")
        there = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "result"
        base, words = _target(chance, stack)
        url, spoiler = stack.enter_context(spoiling(base, number, rate))
        words = ["certify", f"--url={url}", f"--output={there}", f"--format={chance.choice(FORMATS)}", *BOUNDS, *words]
        done = CliRunner().invoke(root, words, env={"FUZZED_KEY": KEY})
        wrong = raised or _wrong(done, there)
    took = time.monotonic() - since
    if not wrong and took > LONGEST:
        wrong = [f"it took {took:.0f} s"]
    if not wrong:
        return None
    said = f"run {number} ({spoiler.spoilt} of {spoiler.answered} answers spoilt): {'; '.join(wrong)}\n{_trace(done)}"
    return Death(number=number, where=wrong[0], said=said)


def _target(chance: random.Random, stack: ExitStack) -> tuple[str, list[str]]:
    """The base URL of a target without a fault, and the words of a command that certifies it."""
    if chance.random() < 0.5:  # noqa: PLR2004 (half of them)
        server = stack.enter_context(serving(OPENAI))
        return server.url(OPENAI.name), chance.choice(([], [f"--model={MODEL}"]))
    base = stack.enter_context(running(endpoint_of(dict, api_key=KEY)))
    return base, [f"--only={one.name}" for one in chance.sample(SCENARIOS, SCRIPTED)]


def _wrong(done: Result, there: Path) -> list[str]:
    """What is wrong with the end of a command."""
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return [repr(done.exception)]
    if done.exit_code not in ENDS:
        return [f"exit status {done.exit_code}: {done.stderr}"]
    found = [line for line in done.stderr.splitlines() if _ASKS_TO_REPORT in line or line.startswith("Traceback")]
    try:
        report = folder.read(there).report
    except folder.FolderError as error:
        return [*found, str(error)]
    found += sorted({one.reason for one in report.outcomes if _ASKS_TO_REPORT in one.reason})
    if report.status != done.exit_code:
        found.append(f"exit status {done.exit_code}, and {report.status} in the result")
    return found


def _trace(done: Result) -> str:
    raised = done.exception
    return "" if raised is None or isinstance(raised, SystemExit) else "".join(traceback.format_exception(raised))
