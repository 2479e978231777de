"""One run for all workers of pytest-xdist: the first that needs the certificate drives the target, the others read it.

Each would drive a run of its own otherwise: the target would be sent everything as often as there are workers, and
bounds of cost would hold for each of them alone.
"""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof.cli.saved import certificate_of_all
from wireproof.model.verdict import HarnessError
from wireproof.results import folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from wireproof.cli.plan import RunPlan
    from wireproof.results.certificate import Certificate

RESULT = "result"
FAILED = "failed"
"""The file that says why there is no result."""
LOCK = "lock"


def certified(there: Path, plan: RunPlan, drive: Callable[[], Certificate]) -> Certificate:
    """The certificate of the run of all workers, driven unless another of them has done so.

    Args:
        there: A folder of the session, the same for all workers.
        plan: The run.
        drive: What drives it.

    Raises:
        HarnessError: the target could not be reached or driven, by this worker or by an earlier one.
    """
    with _alone(there / LOCK):
        if (there / FAILED).exists():
            raise HarnessError((there / FAILED).read_text(encoding="utf-8"))
        if (there / RESULT).exists():
            return certificate_of_all(folder.read(there / RESULT), plan.catalogue)
        try:
            certificate = drive()
        except HarnessError as error:
            (there / FAILED).write_text(str(error), encoding="utf-8")
            raise
        replace(plan, run=replace(plan.run, output=there / RESULT)).write(certificate)
        return certificate


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """The time in which no other worker is here; the lock ends with the process that has it."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
