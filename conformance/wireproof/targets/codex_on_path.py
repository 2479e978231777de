"""The mock as the command `codex`, for a proxy that starts what is on its `PATH` and not what `CODEX_BIN` names."""

from __future__ import annotations

import os
import shlex
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["on_path"]

# What CODEX_BIN names is run here, too: it may be a real Codex, or one that never answers. A name without a path would
# be this command itself.
_COMMAND = """#!/bin/sh
: > {used}
case "$CODEX_BIN" in
/*) exec "$CODEX_BIN" "$@" ;;
*) exec {mock} "$@" ;;
esac
"""


@contextmanager
def on_path(env: Mapping[str, str], mock: str) -> Iterator[tuple[dict[str, str], Path]]:
    """The variables with such a command on the `PATH`, and the file that is there once it was run."""
    with tempfile.TemporaryDirectory(prefix="wireproof-codex-") as folder:
        used, command = Path(folder) / "used", Path(folder) / "codex"
        command.write_text(_COMMAND.format(used=shlex.quote(str(used)), mock=shlex.quote(mock)), encoding="utf-8")
        command.chmod(0o700)  # a proxy starts it as a program
        yield {**env, "PATH": os.pathsep.join(filter(None, (folder, env.get("PATH", ""))))}, used
