"""The suite under pytest: one item per scenario and requirement, the same engine and verdicts as `assay certify`.

Inert unless asked: without an `--assay-…` option nothing is collected and nothing is slowed down.

    pytest --pyargs assay.suites --assay-url http://127.0.0.1:8787/v1 --assay-model codex
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.results.certificate import Certificate
    from assay.targets.options import TargetOptions

GROUP = "assay (certify an OpenAI-compatible proxy)"
SUITES = Path(__file__).parents[1] / "suites"
UNREACHABLE = 3
"""The exit status when the target cannot be reached or driven, as that of `assay certify`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options, all of which begin with --assay-."""
    group = parser.getgroup("assay", GROUP)
    group.addoption("--assay-url", metavar="URL", help="base URL of the proxy, up to and with /v1")
    group.addoption("--assay-launch", metavar="CMD", help="command that starts the proxy; {port} is replaced")
    group.addoption("--assay-bundled", action="store_true", help="certify the proxy that comes with Assay")
    group.addoption("--assay-model", metavar="M", default="", help="model to ask for")
    group.addoption("--assay-api-key-env", metavar="VAR", help="environment variable that holds the key")
    group.addoption("--assay-keepalive", metavar="SECONDS", type=float, help="the proxy's keep-alive interval")
    group.addoption("--assay-idle-timeout", metavar="SECONDS", type=float, help="how long a backend may be silent")
    group.addoption("--assay-body-limit", metavar="BYTES", type=int, help="the largest body that the proxy takes")
    group.addoption("--assay-slots", metavar="N", type=int, help="how many turns the proxy runs at once")
    group.addoption(
        "--assay-known-failing", metavar="FILE", type=Path, help="`<scenario>:<requirement> <reason>` lines"
    )
    group.addoption("--assay-timeout", metavar="SECONDS", type=float, default=10.0, help="limit on silence")


def asked(config: pytest.Config) -> bool:
    """Whether any target was named."""
    return any(config.getoption(name) for name in ("assay_url", "assay_launch", "assay_bundled"))


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that cannot be meant."""
    if not asked(config):
        return
    from assay.judging.known_failing import KnownFailingError  # noqa: PLC0415 (a plugin nobody asked must not slow pytest down)
    from assay.targets.options import OptionError  # noqa: PLC0415

    if config.getoption("assay_bundled") and (config.getoption("assay_url") or config.getoption("assay_launch")):
        raise pytest.UsageError("--assay-bundled is a target of its own: leave --assay-url and --assay-launch away")
    try:
        _wanted(config).check()
        _wanted(config).key()
        _known(config)
    except (OptionError, KnownFailingError) as error:
        raise pytest.UsageError(str(error)) from error


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Nothing of the suite is collected when no target is named."""
    return True if collection_path.parent == SUITES and not asked(config) else None


def _wanted(config: pytest.Config) -> TargetOptions:
    from assay.targets.options import TargetOptions  # noqa: PLC0415 (see pytest_configure)

    option = config.getoption
    return TargetOptions(
        url=option("assay_url"),
        command=option("assay_launch"),
        model=option("assay_model"),
        api_key_env=option("assay_api_key_env"),
        keepalive=option("assay_keepalive"),
        idle_timeout=option("assay_idle_timeout"),
        body_limit=option("assay_body_limit"),
        slots=option("assay_slots"),
        timeout=option("assay_timeout"),
    )


def _known(config: pytest.Config) -> Mapping[str, str]:
    """The failures that are declared as known, with their reasons."""
    path: Path | None = config.getoption("assay_known_failing")
    if path is None:
        return {}
    from assay.judging import known_failing  # noqa: PLC0415 (see pytest_configure)
    from assay.model.catalogue import load  # noqa: PLC0415
    from assay.reading.selection import keys  # noqa: PLC0415
    from assay.scenarios import SCENARIOS  # noqa: PLC0415

    return known_failing.load(path, keys(SCENARIOS, load()))


class AssaySession:
    """The one run of a session: driven when the first item asks for it, judged once."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._certificate: Certificate | None = None

    @property
    def certificate(self) -> Certificate:
        """The certificate, made at the first call; a target that cannot be reached ends the whole session."""
        if self._certificate is None:
            self._certificate = self._certify()
        return self._certificate

    def _certify(self) -> Certificate:
        from assay.judging import known_failing  # noqa: PLC0415 (see pytest_configure)
        from assay.model.catalogue import load  # noqa: PLC0415
        from assay.model.verdict import HarnessError  # noqa: PLC0415
        from assay.results.certificate import certify  # noqa: PLC0415
        from assay.scenarios import SCENARIOS  # noqa: PLC0415
        from assay.targets.options import reach  # noqa: PLC0415

        try:
            with reach(_wanted(self._config)) as target:
                certificate = certify(target, SCENARIOS, load())
        except HarnessError as error:
            pytest.exit(f"assay: {error}", returncode=UNREACHABLE)
        outcomes = known_failing.apply(certificate.outcomes, _known(self._config))
        return dataclasses.replace(certificate, outcomes=outcomes)


@pytest.fixture(scope="session")
def assay_session(pytestconfig: pytest.Config) -> AssaySession:
    """The run that all items of the session share."""
    return AssaySession(pytestconfig)
