"""What older versions of Codex cannot do, so that no proxy in front of them can show it."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from wireproof.model.target import Missing
from wireproof.model.verdict import HarnessError
from wireproof.wire.fields import json_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
        done = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HarnessError(f"{binary} cannot be run: {error}") from error
    found = _VERSION.search(done.stdout)
    if found is None:
        raise HarnessError(f"{binary} is no Codex: for --version it prints {done.stdout.strip()!r:.100}")
    return int(found[1]), int(found[2])
