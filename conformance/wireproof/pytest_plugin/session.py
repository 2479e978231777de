"""The one run of a session of pytest: driven when the first item asks for it, judged once."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import pytest

from wireproof.cli.saved import certificate_of_all
from wireproof.model.verdict import HarnessError
from wireproof.pytest_plugin.cases import cases, said
from wireproof.results import folder
from wireproof.results.certificate import ExitStatus
from wireproof.results.document import Ended
from wireproof.results.folder import FolderError
from wireproof.targets.interrupts import terminable
from wireproof.targets.kinds import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from wireproof.cli.plan import RunPlan
    from wireproof.model.verdict import Outcome
    from wireproof.pytest_plugin.cases import ItemCase
    from wireproof.results.certificate import Certificate

RESULT, FAILED, LOCK = "result", "failed", "lock"
"""What workers share in their folder: the result, the file that says why there is none, the lock."""


class WireproofSession:
    """The one run of a session: driven when the first item asks for it, judged once."""

    def __init__(self, plan: RunPlan, *, shared: Path | None = None) -> None:
        self.plan = plan
        self._shared = shared
        """The folder in which the workers of pytest-xdist share one run; None: there are none."""
        self.unobserved: dict[str, str] = {}
        """The MUSTs of the session's items that were not observed → why; set when the session ends."""
        self.status: int | None = None
        """The exit status of a session that has no certificate; None: it has one, or has not asked for it yet."""
        self._certificate: Certificate | None = None

    @cached_property
    def why_not(self) -> str:
        """Why there is no certificate, in a line; "": there is one. The first call drives the target."""
        try:
            self._certificate = self._certify()
        except HarnessError as error:
            self.status = int(ExitStatus.UNREACHABLE)
            return f"wireproof: {error}"
        except (OptionError, FolderError) as error:
            self.status = int(pytest.ExitCode.USAGE_ERROR)
            return f"wireproof: {error}"
        return ""

    @property
    def certificate(self) -> Certificate:
        """The certificate of a session that has one: `why_not` is asked first."""
        if self._certificate is None:
            raise RuntimeError(self.why_not)
        return self._certificate

    def _certify(self) -> Certificate:
        """Drive the target, unless another worker of pytest-xdist has done so: then its result is read.

        Each would drive a run of its own otherwise: the target would be sent everything as often as there are workers,
        and bounds of cost would hold for each of them alone.
        """
        there = self._shared
        if there is None:
            return self._drive()
        with _alone(there / LOCK):
            if (there / FAILED).exists():
                raise HarnessError((there / FAILED).read_text(encoding="utf-8"))
            if (there / RESULT).exists():
                return certificate_of_all(folder.read(there / RESULT), self.plan.catalogue)
            try:
                certificate = self._drive()
            except HarnessError as error:
                (there / FAILED).write_text(str(error), encoding="utf-8")
                raise
            replace(self.plan, run=replace(self.plan.run, output=there / RESULT)).write(certificate)
            return certificate

    def _drive(self) -> Certificate:
        """Drive the target, and write the result where one is to be written."""
        try:
            with terminable():
                certificate = self.plan.certify()
            self.plan.write(certificate)
        except HarnessError as error:
            self.plan.write_not_driven(Ended.UNREACHABLE, str(error))
            raise
        except KeyboardInterrupt as interrupt:
            self.plan.write_interrupted(interrupt)
            raise
        return certificate

    def end(self, session: pytest.Session) -> NoReturn:
        """End a session that has no certificate, with its status and one line."""
        if self._shared is None:
            pytest.exit(self.why_not, returncode=self.status)
        # What ends a worker of pytest-xdist is a crash to its controller; this ends them all.
        session.shouldstop = self.why_not
        pytest.fail(self.why_not, pytrace=False)

    def select(self, cases: AbstractSet[ItemCase]) -> None:
        """Leave out of the run the scenarios that none of these cases is about, as `--wireproof-only` would."""
        wanted = {case.scenario for case in cases}
        if wanted and wanted != {case.scenario for case in self.cases}:
            self.plan = self.plan.only(wanted)

    @cached_property
    def cases(self) -> tuple[ItemCase, ...]:
        """What the session has items for."""
        return tuple(cases(self.plan.possible, self.plan.catalogue, self.plan.target.dialects))

    @cached_property
    def said(self) -> Mapping[ItemCase, Sequence[Outcome]]:
        """What the certificate says of each case."""
        return said(self.certificate, self.plan.catalogue, self.cases)

    def finish(self, cases: AbstractSet[ItemCase]) -> None:
        """Note what was not observed, once the items of these cases have run.

        Where they are not all items (after `-k`, say), only their own requirements count: the rest is not missed.
        """
        # None: no item ran (--collect-only, or all were deselected), so nothing was looked for.
        if self._certificate is not None:
            # What no item of the session is about can be missed only by a session that was to look at everything.
            complete = cases == set(self.cases)
            mine = {case.requirement for case in cases}
            found = self._certificate.unobserved
            self.unobserved = {row: why for row, why in found.items() if complete or row in mine}


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """The time in which no other worker is here; the lock ends with the process that has it."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
