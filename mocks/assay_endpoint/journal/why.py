"""Why a script answers a request, and why the others do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay_scripts.asked.matching import described, tried
from assay_scripts.asked.request import Asked
from assay_scripts.conversation import as_message
from assay_scripts.selection import DEFAULT
from assay_scripts.steps.when import condition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay_endpoint.received import Received
    from assay_scripts.asked.matching import Tried
    from assay_scripts.selection import Selection
    from assay_scripts.steps import Script
    from assay_scripts.steps.when import When


@dataclass(frozen=True, kw_only=True, slots=True)
class Considered:
    """A script that could have answered."""

    script: str
    answers: bool
    """Whether it does."""
    why: str
    """Why it does, or does not, as a sentence without its full stop."""


def considered(
    scripts: Iterable[Script], received: Received, selection: Selection, *, refuses: bool = False
) -> tuple[Considered, ...]:
    """The scripts that are chosen by what a request says, in order, and the one that answers if it is another.

    Scripts that only a marker chooses are not among them, unless one does. `refuses`: the default does not answer.
    """
    conversation = [*received.history, *([as_message(received.given)] if received.given else [])]
    asked = selection.asked or Asked(conversation=conversation)
    chosen = selection.script
    whens = {script.name: condition(script.when) for script in scripts if script.when is not None}
    found = [_of(one, whens[one.script], selection) for one in tried(scripts, asked)]
    if refuses or any(one.answers for one in found):
        return tuple(found)
    why = _NOT_MATCHED if chosen == DEFAULT else selection.problem or "the marker names it"
    return (*found, Considered(script=chosen or "none", answers=True, why=why + _part(selection)))


_NOT_MATCHED = "no script matches, so the default answers"


def _of(one: Tried, when: When, selection: Selection) -> Considered:
    if one.script == selection.script:
        why = "the marker names it" if selection.by == "marker" else described(when)
        return Considered(script=one.script, answers=True, why=why + _part(selection))
    why = f"it matches, too: {selection.script} comes before it, or a marker names that" if one.held else one.why_not
    return Considered(script=one.script, answers=False, why=why)


def _part(selection: Selection) -> str:
    """Which part of the script plays."""
    parts, first = len(selection.parts), selection.first
    if selection.script == DEFAULT or parts == 1 == first + 1:
        return ""
    if first == parts:
        return "; all its parts are played, so the default answer goes on"
    return f"; part {first + 1} of {parts}"
