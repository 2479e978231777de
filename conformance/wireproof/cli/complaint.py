"""What a command says: plain lines, and the one on stderr that ends it.

Apart from the consoles, whose library some commands start without.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from wireproof.results.certificate import ExitStatus
from wireproof.targets.interrupts import terminable
from wireproof.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Iterator


def complain(error: object) -> None:
    """Print it without what would steer a terminal: it may repeat what a target, or a file of others, says."""
    click.echo(harmless(f"wireproof: {error}"), err=True)


def say(text: str) -> None:
    """Print lines, likewise: the name of a file or of a model may hold anything, too."""
    click.echo(harmless(text))


def refusal(error: object) -> SystemExit:
    """What ends a command that cannot do what was asked, and says why."""
    # One line, without the usage that click prints: the command was spelt right.
    complain(error)
    return SystemExit(ExitStatus.USAGE)


@contextmanager
def driving(*failures: type[Exception]) -> Iterator[None]:
    """Drive something within the block, which a signal ends; end the command where that or a failure happens."""
    try:
        with terminable():
            yield
    except failures as error:
        complain(error)
        raise SystemExit(ExitStatus.UNREACHABLE) from error
    # click would print "Aborted!" and exit with 1.
    except KeyboardInterrupt as error:
        complain("interrupted")
        raise SystemExit(ExitStatus.INTERRUPTED) from error


def harmless(text: str) -> str:
    """A text whose lines can be printed."""
    return "\n".join(map(visible, text.split("\n")))
