"""The suite under pytest: one item per scenario and requirement, the same options and verdicts as `assay certify`.

    pytest --pyargs assay.suites --assay-url http://127.0.0.1:8787/v1 --assay-model codex

Inert unless asked: without an option that names a target nothing is collected, and nothing is imported but the
definitions of the options. (So the imports of the engine stand inside the functions.)

A requirement that could not be observed is a skipped item. Since skipped items look green, a session fails, with a
section that says why, when a MUST was observed in none of its items; `--assay-allow-partial` accepts that.
"""

from __future__ import annotations

import argparse
import threading
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.targets.kinds import Flag, OptionError
from assay.targets.options import RunOptions, TargetOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet
    from contextlib import AbstractContextManager

    from assay.faces.plan import Plan
    from assay.results.certificate import Certificate
    from assay.targets.option import Option

GROUP = "assay (certify an OpenAI-compatible proxy)"
SUITES = Path(__file__).parents[1] / "suites"
TARGETS = ("assay_url", "assay_command", "assay_gateway", "assay_bundled", "assay_target")
"""The options that name a target: without one of them the plugin does nothing."""
REST = "*"
"""The requirement of the item for all requirements that a scenario has no item of its own for."""
FIRST = "gw0"
"""The name of the first worker of pytest-xdist."""
UNOBSERVED = "assay_unobserved"
"""The key under which a worker of pytest-xdist reports to its controller."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `assay certify`, all with `--assay-` before their names; and one for the bundled proxy.

    `assay certify` takes the bundled proxy when no other is named; here that must mean that nothing is asked for.
    """
    group = parser.getgroup("assay", GROUP)
    group.addoption("--assay-bundled", action="store_true", help="Certify the proxy that comes with Assay.")
    group.addoption(
        "--assay-target",
        metavar="FILE",
        help="Target file with options of `assay certify`, as `assay init` writes it; other options override it.",
    )
    for option in (*TargetOptions.options(), *RunOptions.options()):
        group.addoption(
            *(f"--assay-{name}" for name in option.names), dest=f"assay_{option.field}", **_argparse(option)
        )


def _argparse(option: Option) -> dict[str, Any]:
    """An option in argparse's words. It has no default there: what was not given is the dataclass's to fill in."""
    # argparse fills help texts in with `%`.
    words: dict[str, Any] = {"help": option.full_help.replace("%", "%%")}
    if isinstance(option.kind, Flag):
        # Its default is False, which is the dataclass's too.
        return words | {"action": "store_true"}
    words |= {"metavar": option.kind.metavar, "type": _reader(option)}
    return words | ({"action": "append"} if option.repeatable else {})


def _reader(option: Option) -> Callable[[str], object]:
    def read(value: str) -> object:
        try:
            return option.read(value)
        except OptionError as error:
            raise argparse.ArgumentTypeError(str(error)) from error  # the one error whose message argparse shows

    return read


class AssaySession:
    """The one run of a session: driven when the first item asks for it, judged once."""

    def __init__(self, plan: Plan, *, writes: bool = True) -> None:
        self.plan = plan
        self.writes = writes
        """Whether it writes the result to the folder of `--assay-output`: of the workers of pytest-xdist the first."""
        self.unobserved: dict[str, str] = {}
        """The MUSTs of the session's items that were not observed → why; set when the session ends."""
        self._certificate: Certificate | None = None

    @property
    def certificate(self) -> Certificate:
        """The certificate, made at the first call; a target that cannot be reached ends the whole session."""
        if self._certificate is None:
            self._certificate = self._certify()
        return self._certificate

    def _certify(self) -> Certificate:
        from assay.model.verdict import HarnessError  # noqa: PLC0415 (see the head of this module)
        from assay.results.certificate import Exit  # noqa: PLC0415
        from assay.results.folder import FolderError  # noqa: PLC0415
        from assay.results.report import Ended  # noqa: PLC0415

        try:
            with _terminable():
                certificate = self.plan.certify()
            if self.writes:
                self.plan.write(certificate)
        except HarnessError as error:
            if self.writes:
                self.plan.write_not_driven(Ended.UNREACHABLE, str(error))
            # Each of hundreds of items would fail for this one reason.
            pytest.exit(f"assay: {error}", returncode=Exit.UNREACHABLE)
        except KeyboardInterrupt as interrupt:
            if self.writes:
                self.plan.write_interrupted(interrupt)
            raise
        except (OptionError, FolderError) as error:
            pytest.exit(f"assay: {error}", returncode=pytest.ExitCode.USAGE_ERROR)
        return certificate

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """`<scenario>:<requirement>` of every item, and per scenario one `<scenario>:*` for all else found in it."""
        from assay.model.dialect import Dialect  # noqa: PLC0415 (see the head of this module)
        from assay.reading.applicable import applicable  # noqa: PLC0415

        return tuple(
            f"{scenario.name}:{row}"
            for scenario in self.plan.possible
            # All dialects: items are collected before the target has been asked which it speaks.
            for row in (*(row.id for row in applicable(scenario, self.plan.catalogue, Dialect)), REST)
        )

    def finish(self, keys: AbstractSet[str]) -> None:
        """Note what was not observed, once the items with these keys have run.

        Where they are not all items (after `-k`, say), only their own requirements count: the rest is not missed.
        """
        # None: no item ran (--collect-only, or all were deselected), so nothing was looked for.
        if self._certificate is not None:
            # What no item of the session is about can be missed only by a session that was to look at everything.
            complete = keys == set(self.keys)
            mine = {key.partition(":")[2] for key in keys}
            found = self._certificate.unobserved
            self.unobserved = {row: why for row, why in found.items() if complete or row in mine}


def _terminable() -> AbstractContextManager[None]:
    """What lets SIGTERM interrupt the run; nothing in a thread, which cannot take signals."""
    from assay.targets.interrupts import terminable  # noqa: PLC0415 (see the head of this module)

    return terminable() if threading.current_thread() is threading.main_thread() else nullcontext()


SESSION = pytest.StashKey[AssaySession]()


def session_of(config: pytest.Config) -> AssaySession | None:
    """The run of a pytest session; None when no target is named."""
    return config.stash.get(SESSION, None)


def pytest_configure(config: pytest.Config) -> None:
    """Check the options, and refuse those that cannot be meant."""
    # First of all: pytest calls this in every project in whose environment Assay is installed.
    if not any(config.getoption(name) for name in TARGETS):
        return
    others = ("assay_url", "assay_command", "assay_target")
    if config.getoption("assay_bundled") and any(config.getoption(name) for name in others):
        raise pytest.UsageError(
            "--assay-bundled is a target of its own: leave --assay-url, --assay-launch and --assay-target away"
        )
    from assay.faces.plan import USAGE_ERRORS, plan  # noqa: PLC0415 (see the head of this module)
    from assay.targets.target_file import load, merged  # noqa: PLC0415

    # By prefix and not by a list, so that an option is defined in one place.
    ours = {name: value for name, value in vars(config.option).items() if name.startswith("assay_")}
    values = {name.removeprefix("assay_"): value for name, value in ours.items()}
    try:
        named = config.getoption("assay_target")
        planned = plan(*merged(load(Path(named)) if named else None, values))
    except USAGE_ERRORS as error:
        raise pytest.UsageError(str(error)) from error
    # Only workers of pytest-xdist have one. Each drives a run of its own, and all would write to the same folder.
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    config.stash[SESSION] = AssaySession(planned, writes=worker.get("workerid", FIRST) == FIRST)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Nothing of the suite is collected when no target is named."""
    # None and not False: other plugins may still ignore it.
    return True if collection_path.parent == SUITES and session_of(config) is None else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session in which all is green but a MUST was not observed."""
    run = session_of(session.config)
    if run is None:
        return
    run.finish(_keys(session))
    # Only workers of pytest-xdist have one. A worker does not end the session; its controller does.
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[UNOBSERVED] = run.unobserved
    # A status that says more (failed, interrupted, no tests) is left as it is.
    elif run.unobserved and not run.plan.run.allow_partial and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _keys(session: pytest.Session) -> set[str]:
    """The `<scenario>:<requirement>` of each item that was to run; a controller of pytest-xdist has no items."""
    # Items of other suites in the same session say nothing of the target.
    items: list[Any] = [item for item in getattr(session, "items", []) if item.path.parent == SUITES]
    return {item.callspec.params["key"] for item in items if hasattr(item, "callspec")}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:  # noqa: ANN401 (a class of pytest-xdist, which need not be installed)
    """Take over what a worker has not observed; each worker has a run of its own, and all miss the same."""
    run = session_of(node.config)
    # A worker that crashed has sent nothing.
    missed: Mapping[str, str] = getattr(node, "workeroutput", {}).get(UNOBSERVED, {})
    if run is not None:
        run.unobserved = {**run.unobserved, **missed}


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:  # noqa: ANN401 (pytest does not export its class)
    """Say which MUSTs were not observed, and what that means for the session."""
    run = session_of(config)
    if run is None or not run.unobserved:
        return
    accepted = run.plan.run.allow_partial
    terminalreporter.section("assay: certified in part" if accepted else "assay: not observed")
    for row, why in run.unobserved.items():
        terminalreporter.line(f"{row}: {why}")
    count = f"{len(run.unobserved)} {'MUST' if len(run.unobserved) == 1 else 'MUSTs'} could not be observed"
    terminalreporter.line(
        f"{count}, which --assay-allow-partial accepts"
        if accepted
        else f"{count}, so the session is not a success; --assay-allow-partial accepts that"
    )


@pytest.fixture(scope="session")
def assay_session(pytestconfig: pytest.Config) -> AssaySession:
    """The run that all items of the session share."""
    return pytestconfig.stash[SESSION]
