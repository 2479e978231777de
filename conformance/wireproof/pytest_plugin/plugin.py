"""The one plugin of Wireproof: the suite under pytest, and the fixture `wireproof_endpoint` for tests of clients.

The suite has one item per scenario, form and requirement, and the options and verdicts of `wireproof certify`:

    pytest --pyargs wireproof.suites --wireproof-url http://127.0.0.1:8787/v1 --wireproof-model codex

Inert unless asked: without an option that names a target nothing is collected, and nothing is imported but the
definitions of the options; of the endpoint nothing, until a test uses the fixture. (So the imports of both stand inside
the functions.)

A requirement that could not be observed is a skipped item. Since skipped items look green, a session fails, with a
section that says why, when a MUST was observed in none of its items; `--wireproof-allow-partial` accepts that.
"""

from __future__ import annotations

import argparse
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from wireproof.pytest_plugin.stash import BROKEN, FOLDER, SESSION
from wireproof.targets.kinds import OptionError
from wireproof.targets.options import RunOptions, TargetOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wireproof.clients.passive import ClientFinding
    from wireproof.pytest_plugin.cases import ItemCase
    from wireproof.pytest_plugin.session import WireproofSession
    from wireproof.targets.option import Option
    from wireproof_endpoint.fixture import EndpointFixture

GROUP = "wireproof (certify an OpenAI-compatible proxy)"
SUITES = Path(__file__).parents[1] / "suites"
TARGETS = ("wireproof_url", "wireproof_command", "wireproof_gateway", "wireproof_bundled", "wireproof_target")
"""The options that name a target: without one of them the plugin does nothing."""
CLIENT_SUITE = SUITES / "client"
"""The suite of clients, whose items are ordinary ones."""
SHARED = "wireproof_shared"
"""The key under which a worker of pytest-xdist gets the folder of the one run of all workers."""
UNOBSERVED, STATUS = "wireproof_unobserved", "wireproof_status"
"""The keys under which a worker of pytest-xdist reports to its controller."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `wireproof certify`, all with `--wireproof-` before their names; and one for the bundled proxy.

    `wireproof certify` takes the bundled proxy when no other is named; here that must mean that nothing is asked for.
    """
    group = parser.getgroup("wireproof", GROUP)
    group.addoption("--wireproof-bundled", action="store_true", help="Certify the proxy that comes with Wireproof.")
    group.addoption(
        "--wireproof-target",
        metavar="FILE",
        help="Target file with options of `wireproof certify`, as `wireproof init` writes it; others override it.",
    )
    group.addoption(
        "--wireproof-client",
        metavar="COMMAND",
        help="Client to judge by --pyargs wireproof.suites.client, as `wireproof client` starts it.",
    )
    group.addoption(
        "--wireproof-client-tool",
        metavar="NAME[=JSON]",
        help="Tool of the client that is called, with its arguments. If omitted, one that it declares.",
    )
    for option in (*TargetOptions.options(), *RunOptions.options()):
        dest = f"wireproof_{option.field}"
        group.addoption(*(f"--wireproof-{name}" for name in option.names), dest=dest, **_argparse(option))
        if option.off:
            group.addoption(
                f"--wireproof-{option.off}",
                dest=dest,
                action="store_false",
                default=None,
                help=f"Turn --wireproof-{option.name} off.",
            )


def _argparse(option: Option) -> dict[str, Any]:
    """An option in argparse's words. It has no default there: what was not given is the dataclass's to fill in."""
    # argparse fills help texts in with `%`.
    words: dict[str, Any] = {"help": option.full_help.replace("%", "%%")}
    if option.off:
        return words | {"action": "store_true", "default": None}
    words |= {"metavar": option.kind.metavar, "type": _reader(option)}
    return words | ({"action": "append"} if option.repeatable else {})


def _reader(option: Option) -> Callable[[str], object]:
    def read(value: str) -> object:
        try:
            return option.read(value)
        except OptionError as error:
            raise argparse.ArgumentTypeError(str(error)) from error  # the one error whose message argparse shows

    return read


class _Node(Protocol):
    """A worker, as a controller of pytest-xdist has it; its class is that of a package that need not be installed."""

    config: pytest.Config
    workerinput: dict[str, object]


def session_of(config: pytest.Config) -> WireproofSession | None:
    """The run of a pytest session; None when no target is named."""
    return config.stash.get(SESSION, None)


def pytest_configure(config: pytest.Config) -> None:
    """Check the options, and refuse invalid values and combinations."""
    # First of all: pytest calls this in every project in whose environment Wireproof is installed.
    if not any(config.getoption(name) for name in TARGETS):
        return
    others = ("wireproof_url", "wireproof_command", "wireproof_target")
    if config.getoption("wireproof_bundled") and any(config.getoption(name) for name in others):
        raise pytest.UsageError(
            "--wireproof-bundled is a target of its own: leave --wireproof-url, --wireproof-launch and"
            " --wireproof-target away"
        )
    from wireproof.cli.plan import USAGE_ERRORS, plan  # noqa: PLC0415 (see the head of this module)
    from wireproof.pytest_plugin.session import WireproofSession  # noqa: PLC0415
    from wireproof.targets.target_file import load, merged  # noqa: PLC0415

    # By prefix and not by a list, so that an option is defined in one place.
    ours = {name: value for name, value in vars(config.option).items() if name.startswith("wireproof_")}
    values = {name.removeprefix("wireproof_"): value for name, value in ours.items()}
    try:
        named = config.getoption("wireproof_target")
        planned = plan(*merged(load(Path(named)) if named else None, values))
    except USAGE_ERRORS as error:
        raise pytest.UsageError(str(error)) from error
    # Only workers of pytest-xdist have one.
    shared: str | None = getattr(config, "workerinput", {}).get(SHARED)
    config.stash[SESSION] = WireproofSession(planned, shared=Path(shared) if shared else None)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: _Node) -> None:
    """Give each worker the folder in which all share one run."""
    if session_of(node.config) is None:
        return
    if FOLDER not in node.config.stash:
        there = TemporaryDirectory(prefix="wireproof-")
        node.config.add_cleanup(there.cleanup)
        node.config.stash[FOLDER] = there.name
    node.workerinput[SHARED] = node.config.stash[FOLDER]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Nothing of the suite is collected when no target is named, nor of that of clients when no client is."""
    if CLIENT_SUITE in {collection_path, collection_path.parent}:
        return None if config.getoption("wireproof_client") else True
    # None and not False: other plugins may still ignore it.
    return True if collection_path.parent == SUITES and session_of(config) is None else None


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the session's items in place of the suite's module, which holds no test functions."""
    if module_path.parent != SUITES or module_path.name == "__init__.py":
        return None
    from wireproof.pytest_plugin.items import MODULE, Suite  # noqa: PLC0415 (see the head of this module)

    # Its path from pytest's root leads through somebody's site-packages, and is another one if the module is named.
    found: pytest.Collector = Suite.from_parent(parent, path=module_path, nodeid=MODULE)
    return found


def pytest_collection_finish(session: pytest.Session) -> None:
    """Drive no more than the items need that were selected, by `-k` or by their ids."""
    run = session_of(session.config)
    if run is not None:
        run.select(_cases(session))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session in which all is green but a MUST was not observed."""
    run = session_of(session.config)
    if run is None:
        return
    run.finish(_cases(session))
    # Only workers of pytest-xdist have one. A worker does not end the session; its controller does.
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output |= {UNOBSERVED: run.unobserved, STATUS: run.status}
    elif run.status is not None:
        session.exitstatus = run.status
    # A status that says more (failed, interrupted, no tests) is left as it is.
    elif run.unobserved and not run.plan.run.allow_partial and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _cases(session: pytest.Session) -> set[ItemCase]:
    """The case of each item that was to run; a controller of pytest-xdist has no items."""
    # Items of other suites in the same session say nothing of the target.
    return {item.case for item in getattr(session, "items", []) if item.path.parent == SUITES}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: _Node) -> None:
    """Take over what a worker has not observed, and whether it had no certificate; all workers miss the same."""
    run = session_of(node.config)
    # A worker that crashed has sent nothing.
    output: Mapping[str, Any] = getattr(node, "workeroutput", {})
    if run is not None:
        run.unobserved = {**run.unobserved, **output.get(UNOBSERVED, {})}
        run.status = output.get(STATUS, run.status)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """List each broken requirement once, then the MUSTs that were not observed, and what that means for the session."""
    run = session_of(config)
    if run is None:
        return
    _list_broken(terminalreporter)
    if run.unobserved:
        _list_unobserved(terminalreporter, run.unobserved, accepted=run.plan.run.allow_partial)


def _list_broken(terminal: pytest.TerminalReporter) -> None:
    """Each broken requirement with its sentence: one is broken in many items, and pytest cuts their lines off."""
    found = Counter(
        value for report in terminal.stats.get("failed", ()) for name, value in report.user_properties if name == BROKEN
    )
    if not found:
        return
    terminal.section(f"wireproof: {len(found)} broken {'requirement' if len(found) == 1 else 'requirements'}")
    for row, items in found.items():
        terminal.line(f"{row}  ({items} {'item' if items == 1 else 'items'})")


def _list_unobserved(terminal: pytest.TerminalReporter, unobserved: Mapping[str, str], *, accepted: bool) -> None:
    terminal.section("wireproof: certified in part" if accepted else "wireproof: not observed")
    for row, why in unobserved.items():
        terminal.line(f"{row}: {why}")
    count = f"{len(unobserved)} {'MUST' if len(unobserved) == 1 else 'MUSTs'} could not be observed"
    terminal.line(
        f"{count}, which --wireproof-allow-partial accepts"
        if accepted
        else f"{count}, so the session is not a success; --wireproof-allow-partial accepts that"
    )


@pytest.fixture
def wireproof_endpoint() -> Iterator[EndpointFixture]:
    """An endpoint that answers by scripts: `play`, `url`, `key`, `transport`, `requests`, `assert_all_played`."""
    from wireproof_endpoint.fixture import EndpointFixture  # noqa: PLC0415 (see the head of this module)

    with ExitStack() as stack:
        yield EndpointFixture(stack, judge=_findings)


def _findings(requests: Sequence[Any]) -> Sequence[ClientFinding]:
    """What a client did wrong; what judges is imported when a test asks."""
    from wireproof.clients.passive import findings  # noqa: PLC0415 (see the head of this module)

    return findings(requests)
