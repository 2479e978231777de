"""How far a run is: a bar with the time left on a terminal, a plain line for each tenth where the output is piped."""

from __future__ import annotations

import time
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console

    from wireproof.model.dialect import Dialect
    from wireproof.model.scenario import Form, Scenario
    from wireproof.results import certify

LONG = 100
"""How many steps a run has at least for which a log gets lines: a shorter one is over before they are read."""
TENTHS = 10
SHOWN = 1.0
"""Seconds of the shortest wait that is shown."""


@contextmanager
def progress(
    console: Console, scenarios: Sequence[Scenario], dialects: Sequence[Dialect]
) -> Iterator[certify.Progress]:
    """What is to be called after each scenario and form."""
    total = sum(len(scenario.forms(dialects)) for scenario in scenarios)
    if not console.is_interactive:
        yield _lines(console, total)
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TimeRemainingColumn(),
    )  # fmt: skip
    # Transient: the report stands alone at the end.
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("driving", total=total)
        yield lambda scenario, form: bar.update(task, advance=1, description=f"driving {scenario.name} ({form})")


def show_wait(console: Console, seconds: float, why: str) -> None:
    """Show a wait, and until when it lasts, on a line of its own."""
    if seconds >= SHOWN:
        until = (datetime.now().astimezone() + timedelta(seconds=seconds)).strftime("%H:%M:%S")
        line = f"waiting {seconds:,.0f} s, until {until}: {why}"
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def _lines(console: Console, total: int) -> Callable[[Scenario, Form], None]:
    """Prints a line for each tenth of a long run."""
    began, done = time.monotonic(), 0

    def advance(_scenario: Scenario, _form: Form) -> None:
        nonlocal done
        done += 1
        # When this step is the first of another tenth; the last needs no line, since the report follows.
        if total >= LONG and done < total and done * TENTHS // total > (done - 1) * TENTHS // total:
            left = (time.monotonic() - began) / done * (total - done)
            line = f"driving: {done} of {total}, about {left:.0f} s left"
            console.print(line, soft_wrap=True, markup=False, highlight=False)

    return advance
