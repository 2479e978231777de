"""`python -m wireproof_mocks.upstream [--port PORT] [--scripts FILE]`: serve until interrupted; print the base URL."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_mocks.upstream.serving import serving
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.read import load_scripts
from wireproof_scripts.library import LIBRARY
from wireproof_surfaces.http.stop_signals import stop_signals

if TYPE_CHECKING:
    from collections.abc import Sequence

_LAST_PORT = 65535


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status (2: it cannot be followed, the reason is on stderr)."""
    parser = argparse.ArgumentParser(prog="python -m wireproof_mocks.upstream", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="any free one when it is 0 or not given")
    parser.add_argument("--scripts", type=Path, help="YAML or JSON file of your scripts")
    options = parser.parse_args(arguments)
    if not 0 <= options.port <= _LAST_PORT:
        parser.error(f"--port: expected a port from 0 to {_LAST_PORT}, found {options.port}")
    try:
        library = {**LIBRARY, **(load_scripts(options.scripts) if options.scripts else {})}
        with stop_signals() as wait, serving(library, options.port) as upstream:
            sys.stdout.write(f"{upstream.url}\n")
            sys.stdout.flush()
            wait()
    except (ScriptError, OSError) as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
