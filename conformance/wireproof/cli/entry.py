"""The command `wireproof`: `serve` and `scripts` by themselves, everything else with all that it takes to certify."""

from __future__ import annotations

import gc
import sys

SEARCHED = 20_000
"""How many objects must be new before garbage is looked for. A run keeps nearly all that it makes until its end."""


def main() -> None:
    """Run the command line."""
    # What imports make stays: to look for garbage among it takes time and finds none.
    gc.disable()
    # Before anything is imported: an endpoint that tests start must not wait for what judges proxies.
    if sys.argv[1:2] == ["serve"]:
        from wireproof.cli.serve import serve_command  # noqa: PLC0415

        serve_command.main(sys.argv[2:], prog_name="wireproof serve")
    elif sys.argv[1:2] == ["scripts"]:
        from wireproof.cli.scripts import scripts_group  # noqa: PLC0415

        gc.enable()
        scripts_group.main(sys.argv[2:], prog_name="wireproof scripts")
    else:
        from wireproof.cli.cli import main as all_commands  # noqa: PLC0415

        gc.freeze()
        gc.set_threshold(SEARCHED)
        gc.enable()
        all_commands(prog_name="wireproof")
