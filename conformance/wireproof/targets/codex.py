"""Codex as a backend: what its older versions cannot do, so that no proxy in front of them can show it; and a real one.

A mock of its model's service plays the scripts to a real Codex. It gets a home of its own, without a login and with
everything switched off that would send data elsewhere. The mock is the command `codex` as well, for a proxy that starts
what is on its `PATH` and not what `CODEX_BIN` names.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof.model.target import Missing
from wireproof.model.verdict import HarnessError
from wireproof.wire.fields import json_of
from wireproof_scripts.library import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Version = tuple[int, int]

PATIENCE = 10.0
"""Seconds in which a Codex must print its version."""
FIRST: Version = (0, 89)
MISSING: Mapping[Missing, tuple[Version, Version]] = {
    Missing.TOOLS: (FIRST, (0, 92)),  # `dynamicTools` is ignored in silence before
    # A thread begun with tools takes a history only by thread/inject_items. Before 0.92 there are no such tools, and
    # thread/resume takes one.
    Missing.HISTORY: ((0, 92), (0, 125)),
    Missing.REASONS: (FIRST, (0, 100)),
    Missing.COUNTS: (FIRST, (0, 169)),
    Missing.ENDS: ((0, 131), (0, 145)),
    Missing.HANGUPS: (FIRST, (0, 160)),
}
"""Capability → the first version without it, and the first one with it again, of the versions that were tried."""
# The mock has no model's service behind it whose connection could be kept.
UNPLAYED = frozenset({Missing.HANGUPS})
"""Capabilities that the mock has, whatever version it plays."""
# Without tools there is no history beside them.
IN_V1 = frozenset({Missing.TOOLS, Missing.ROLES})
"""Capabilities that conversations of v1 do not have, whatever the version."""
NEWER = (0, 98)
"""The first version, of those tried, that takes the configuration of the newest."""
# The model is one that Codex does not know: one that it knows may get no tools but write programs instead (0.169.0:
# gpt-6.1-sol). With "never" no request for approval is sent. With retries an answer would begin again under another id,
# its text repeated.
CONFIG = """\
model = "mock-model"
model_provider = "wireproof"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
analytics.enabled = false
{features}

[model_providers.wireproof]
name = "Wireproof"
base_url = "{url}"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
"""
# Without it 0.89.0 tries for 3 s to load a list of models at the start of each thread.
OLDER_FEATURES = "features.remote_models = false"
# Else 0.169.0 asks GitHub for plugins at its start, and tries endlessly to reach a service that refuses connections.
FEATURES = "features.plugins = false\nfeatures.apps = false\nfeatures.unbounded_connection_retries = false"
# What CODEX_BIN names is run here, too: it may be a real Codex, or one that never answers. A name without a path would
# be this command itself.
_COMMAND = """#!/bin/sh
: > {used}
case "$CODEX_BIN" in
/*) exec "$CODEX_BIN" "$@" ;;
*) exec {mock} "$@" ;;
esac
"""
_NUMBER = re.compile(r"(\d+)\.(\d+)\.\d+")
_VERSION = re.compile(r"codex-cli (\d+)\.(\d+)\.\d+")


def missing_in(version: Version) -> frozenset[Missing]:
    """The capabilities that this version does not have."""
    return frozenset(capability for capability, (since, until) in MISSING.items() if since <= version < until)


def missing_in_mock(said: str) -> frozenset[Missing] | None:
    """The capabilities that the mock does not have, by its own report (`reflect: backend`); None: that is no report."""
    match json_of(said):
        case {"codex": str(number), "protocol": str(protocol)} if found := _NUMBER.match(number):
            missing = missing_in((int(found[1]), int(found[2]))) - UNPLAYED
            return missing - {Missing.HISTORY} | IN_V1 if protocol == "v1" else missing
        case _:
            return None


def version_of(binary: Path | str) -> Version:
    """The version that a Codex, real or mock, prints for `--version`.

    Raises:
        HarnessError: the binary cannot be run, or does not print its version as Codex does.
    """
    try:
        # The status needs no look of its own: a program that fails prints no version either.
        done = subprocess.run(
            [binary, "--version"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HarnessError(f"{binary} cannot be run: {error}") from error
    found = _VERSION.search(done.stdout)
    if found is None:
        raise HarnessError(f"{binary} is no Codex: for --version it prints {done.stdout.strip()!r:.100}")
    return int(found[1]), int(found[2])


@dataclass(frozen=True, kw_only=True)
class RealCodex:
    """A Codex that a proxy can start."""

    env: Mapping[str, str]
    """The variables of the proxy that name the Codex and its home."""
    missing: frozenset[Missing]
    """The capabilities that this version does not have."""


@contextmanager
def real_codex(binary: Path) -> Iterator[RealCodex]:
    """A Codex that is ready to be started, and the service behind it, for the length of a `with` block.

    Raises:
        HarnessError: the binary cannot be run, or does not print its version as Codex does.
    """
    from wireproof_mocks.upstream.serving import serving  # noqa: PLC0415 (a server would slow every start)

    version = version_of(binary)
    with serving(LIBRARY) as service, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        config = CONFIG.format(features=FEATURES if version >= NEWER else OLDER_FEATURES, url=service.url)
        Path(home, "config.toml").write_text(config, encoding="utf-8")
        # Absolute, since the proxy may run in another folder. HOME as well, so that nothing of the user's is read.
        env = {"CODEX_BIN": str(binary.absolute()), "CODEX_HOME": home, "HOME": home}
        yield RealCodex(env=env, missing=missing_in(version))


@contextmanager
def on_path(env: Mapping[str, str], mock: str) -> Iterator[tuple[dict[str, str], Path]]:
    """The variables with such a command on the `PATH`, and the file that is there once it was run."""
    with tempfile.TemporaryDirectory(prefix="wireproof-codex-") as folder:
        used, command = Path(folder) / "used", Path(folder) / "codex"
        command.write_text(_COMMAND.format(used=shlex.quote(str(used)), mock=shlex.quote(mock)), encoding="utf-8")
        command.chmod(0o700)  # a proxy starts it as a program
        yield {**env, "PATH": os.pathsep.join(filter(None, (folder, env.get("PATH", ""))))}, used
