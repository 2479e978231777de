"""The rules of scripts that span fields of a step, or steps of a part: what no single value shows to be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_scripts.calls.blocks import BLOCKS
from wireproof_scripts.files.definitions import NAMES
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.values import at, shown
from wireproof_scripts.kinds import MOST_BYTES
from wireproof_scripts.steps import (
    Call,
    Command,
    Gate,
    Hang,
    Open,
    Overload,
    Pace,
    Pause,
    Plan,
    Raw,
    Say,
    Step,
    Think,
    Usage,
)
from wireproof_scripts.steps.http import Bytes, Drip, Ending, Heading, Stall, Truncate
from wireproof_scripts.steps.template import EXPECTED, is_template, texts_in

if TYPE_CHECKING:
    from collections.abc import Sequence

_SILENT = Heading | Ending | Pause | Pace | Gate | Hang | Stall | Drip | Truncate | Open | Usage | Overload
"""Steps for which nothing is sent, or after which nothing is."""


def check_part(part: Sequence[Step], place: str) -> None:
    """Check the steps of a part against each other.

    Raises:
        ScriptError: one decides the head of the response, which is sent before it, or is never played.
    """
    sent = next((index for index, step in enumerate(part) if not isinstance(step, _SILENT)), len(part))
    end = next((index for index, step in enumerate(part) if isinstance(step, Ending)), len(part))
    for index, step in enumerate(part):
        name = NAMES[type(step)]
        if isinstance(step, Heading) and index > sent:
            why = f"{name} must come before the answer begins, and {NAMES[type(part[sent])]} is sent first; move it up"
            raise ScriptError(at(f"{place}[{index}]", name), why)
        if index > end:
            why = f"{name} is never played: {NAMES[type(part[end])]} before it ends the answer; what answers the next "
            why += "request is a part of its own, with `sequence`"
            raise ScriptError(at(f"{place}[{index}]", name), why)


def check_step(step: Step, place: str) -> None:
    """Check the fields of a step against each other.

    Raises:
        ScriptError: they do not fit.
    """
    match step:
        case Call():
            _check_call(step, place)
        case Think(text=whole) | Command(output=whole):
            _check_pieces(step.pieces, [whole], "the text" if isinstance(step, Think) else "the output", place)
        case Plan(steps=planned, done=done) if done > len(planned):
            raise ScriptError(at(place, "done"), f"expected at most {len(planned)}, the number of steps, found {done}")
        case Bytes(text, times) | Raw(text, times):
            _check_size(len(text), times, place)
        case Say(pieces, times, whole=True):
            _check_size(sum(map(len, pieces)), times, place)


def _check_size(size: int, times: int, place: str) -> None:
    """Check what is made as one piece of memory, however it is written: text that is sent in deltas is not."""
    if size * times > MOST_BYTES:
        found = f"{size} characters, {times} times"
        raise ScriptError(at(place, "times"), f"expected at most {MOST_BYTES} in one step, found {found}")


def _check_pieces(pieces: Sequence[str], wholes: Sequence[str], what: str, place: str) -> None:
    if pieces and "".join(pieces) not in wholes:
        raise ScriptError(at(place, "pieces"), f"joined they must be {what}, found {shown(''.join(pieces))}")


def _check_call(call: Call, place: str) -> None:
    blocks = [BLOCKS[shape](call) for shape in call.shapes if shape in BLOCKS]
    what = "the arguments, or the call's textual block" if blocks else "the arguments"
    _check_pieces(call.pieces, [call.arguments, *blocks], what, place)
    # Codex names the call in item/tool/call, and its client answers under that name.
    if not call.id and ("native" in call.shapes or call.late_id):
        raise ScriptError(at(place, "id"), "a native call and a late id need text that is not empty")
    if call.fill:
        wrong = next((text for text in texts_in(call.arguments) if not is_template(text)), None)
        if wrong is not None:
            raise ScriptError(at(place, "arguments"), f"expected {EXPECTED}, found {shown(wrong)}")
        if call.pieces:
            raise ScriptError(at(place, "pieces"), "arguments that are filled are not known before; leave pieces out")
