"""Why a script answers a request, and why the others do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay_scripts.conversation import as_message, is_user, message_text
from assay_scripts.selection import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay_endpoint.received import Received
    from assay_scripts.selection import Selection
    from assay_scripts.steps import Script


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
    said = next((message_text(item) for item in reversed(conversation) if is_user(item)), "").casefold()
    chosen = selection.script
    by_text = [script for script in scripts if script.when is not None]
    found = [_of(script, said, selection) for script in by_text]
    if refuses or any(one.answers for one in found):
        return tuple(found)
    why = _NOT_MATCHED if chosen == DEFAULT else selection.problem or "the marker names it"
    return (*found, Considered(script=chosen or "none", answers=True, why=why + _part(selection)))


_NOT_MATCHED = "no script matches, so the default answers"


def _of(script: Script, said: str, selection: Selection) -> Considered:
    matches = script.when is not None and script.when.casefold() in said
    if script.name == selection.script:
        why = f"the last message of the user contains {script.when!r}" if matches else "the marker names it"
        return Considered(script=script.name, answers=True, why=why + _part(selection))
    if matches:
        why = f"it matches, too: {selection.script} comes before it, or a marker names that"
    else:
        why = f"the last message of the user does not contain {script.when!r}"
    return Considered(script=script.name, answers=False, why=why)


def _part(selection: Selection) -> str:
    """Which part of the script plays."""
    parts, first = len(selection.parts), selection.first
    if selection.script == DEFAULT or parts == 1 == first + 1:
        return ""
    if first == parts:
        return "; all its parts are played, so the default answer goes on"
    return f"; part {first + 1} of {parts}"
