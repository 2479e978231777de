"""The consoles that commands print to: coloured and moving on a terminal only, and plain where a person asks for it.

`NO_COLOR` (https://no-color.org) leaves no escape sequence at all: no colours, no bold letters, no bar that moves the
cursor. `FORCE_COLOR` colours what is piped, but a bar has no place there. `TERM=dumb` is a terminal without either.
"""

from __future__ import annotations

from rich.console import Console


def console(*, stderr: bool = False) -> Console:
    """A console of stdout, or of stderr; it reads the variables itself."""
    found = Console(stderr=stderr)
    if found.no_color:
        # Rich itself would leave out the colours alone.
        return Console(stderr=stderr, color_system=None, force_interactive=False)
    return found if found.file.isatty() else Console(stderr=stderr, force_interactive=False)
