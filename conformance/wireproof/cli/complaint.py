"""What ends a command, as a line on stderr. Apart from the consoles, whose library some commands start without."""

from __future__ import annotations

import click

from wireproof.wire.quoting import visible

USAGE = 2
"""The exit status of what cannot be done as it is asked for, as click ends by itself."""


def complain(error: object) -> None:
    """Print it without what would steer a terminal: it may repeat what a target, or a file of others, says."""
    click.echo(harmless(f"wireproof: {error}"), err=True)


def refusal(error: object) -> SystemExit:
    """What ends a command that cannot do what was asked, and says why."""
    # One line, without the usage that click prints: the command was spelt right.
    complain(error)
    return SystemExit(USAGE)


def harmless(text: str) -> str:
    """A text whose lines can be printed."""
    return "\n".join(map(visible, text.split("\n")))
