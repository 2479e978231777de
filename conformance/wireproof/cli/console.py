"""The consoles that commands print to: coloured and moving on a terminal only, and plain where a person asks for it.

`NO_COLOR` (https://no-color.org) leaves no escape sequence at all: no colours, no bold letters, no bar that moves the
cursor. `FORCE_COLOR` colours what is piped, but a bar has no place there. `TERM=dumb` is a terminal without either.

Every line of them passes here, so that nothing that a target says steers the terminal, whoever prints it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment

from wireproof.cli.complaint import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType


class _HarmlessConsole(Console):
    """A console that escapes whatever would steer a terminal, but for what rich itself writes: colours and a bar."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is printed, of which those that are texts are escaped."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control or text.isprintable() else Segment(harmless(text), style)


def console(*, stderr: bool = False) -> Console:
    """A console of stdout, or of stderr; it reads the variables itself."""
    found = _HarmlessConsole(stderr=stderr)
    if found.no_color:
        # Rich itself would leave out the colours alone.
        return _HarmlessConsole(stderr=stderr, color_system=None, force_interactive=False)
    return found if found.file.isatty() else _HarmlessConsole(stderr=stderr, force_interactive=False)
