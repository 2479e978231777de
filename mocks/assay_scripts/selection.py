"""Which script, and which part of it, answers a turn.

A marker decides: the last one in the turn's input, else the last in the history; one that is written wrong or names no
script fails the turn with what would be right. Without one, a user's script whose `when` stands in the last user
message, else the friendly default. Which part: the one after the last whose calls all have results in the history, else
as many parts on as turns were seen, never beyond the last. With the calls of the last part answered, the default answer
says what the tool said: a script of one call ends a client's loop. A call whose id was not told counts as answered when
a call of its tool is. The turns of a script with choices play them in rotation.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from assay_codex.versions.failures import Cause
from assay_scripts.conversation import answered, as_message, input_text, is_user, message_text, searched_texts
from assay_scripts.default_answer import default_answer
from assay_scripts.markers import BrokenMarker, Marker, find_marker
from assay_scripts.nonces import Nonce, Nonces
from assay_scripts.steps import Call, Fail, Library, Parts, Script, Step, Told, ends_turn

Items = Sequence[Mapping[str, Any]]

_DEFAULT = "default"
_SHOWN = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Casting:
    """What a turn plays: the part `first` of `parts`, then the ones after it while tools are answered in the turn."""

    script: str
    parts: Parts
    first: int
    nonce: Nonce
    told: Told = "v2"
    trouble: Cause | None = None


def cast(library: Library, nonces: Nonces, *, history: Items, given: Items, tools: Items, call_id: str) -> Casting:
    """Choose for a turn that was given the input `given` after `history`."""
    marker = _marker(history, given)
    if isinstance(marker, BrokenMarker):
        return rejected(marker.problem)
    if marker is not None:
        return _by_marker(library, nonces, marker, [*history, as_message(given)])
    conversation = [*history, as_message(given)] if given else list(history)
    script = _by_text(library, conversation)
    if script is not None:
        seen = sum(_contains(item, script) for item in conversation) - 1
        first = part_to_play(script.parts, answered(conversation), seen)
        return Casting(script=script.name, parts=script.parts, first=first, nonce=Nonce(), told=script.told)
    steps = default_answer(conversation, tools, call_id)
    return Casting(script=_DEFAULT, parts=(steps,), first=0, nonce=Nonce())


def rejected(problem: str, script: str = "", nonce: Nonce | None = None) -> Casting:
    """A turn that fails at once, because what was asked for cannot be played: the client's mistake, told as one."""
    trouble = Cause(message=problem, info="badRequest", began=False)
    return Casting(script=script, parts=((Fail(),),), first=0, nonce=nonce or Nonce(), trouble=trouble)


def part_to_play(parts: Parts, known: set[str], seen: int) -> int:
    """The index of the part; `len(parts)` when the calls of the last one are answered, as `known` tells."""
    for index in reversed(range(len(parts))):
        calls = _calls(parts[index])
        if calls and calls <= known:
            return index + 1
    return min(seen, len(parts) - 1)


def _calls(part: tuple[Step, ...]) -> set[str]:
    in_time = takewhile(lambda step: not ends_turn(step), part)
    return {_sign(step) for step in in_time if isinstance(step, Call)}


def _sign(call: Call) -> str:
    """What is known of a call once it is answered: its id, or its tool where no shape tells the id."""
    return call.id if call.id and set(call.shapes) != {"use-tool"} else f"tool {call.name}"


def _marker(history: Items, given: Items) -> Marker | BrokenMarker | None:
    found = find_marker(input_text(given))
    texts = iter(reversed(searched_texts(history)))
    while found is None and (text := next(texts, None)) is not None:
        found = find_marker(text)
    return found


def _by_marker(library: Library, nonces: Nonces, marker: Marker, conversation: Items) -> Casting:
    nonce = nonces.get(marker.nonce)
    script = library.get(marker.script)
    if script is None:
        return rejected(unknown_script(marker.script, library), marker.script, nonce)
    choices = script.choices or (script.parts,)
    seen, choice = divmod(nonce.played[script.name], len(choices))
    first = part_to_play(choices[choice], answered(conversation), seen)
    return Casting(script=script.name, parts=choices[choice], first=first, nonce=nonce, told=script.told)


def unknown_script(name: str, library: Library) -> str:
    """What is said of a marker whose script is not known."""
    close = difflib.get_close_matches(name, library, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"known scripts: {_some(library)}."
    return f"The marker asks for the script {name}, which does not exist; {hint}"


def _some(library: Library) -> str:
    names, more = list(library)[:_SHOWN], len(library) - _SHOWN
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _by_text(library: Library, conversation: Items) -> Script | None:
    last = next((item for item in reversed(conversation) if is_user(item)), None)
    if last is None:
        return None
    return next((script for script in library.values() if _contains(last, script)), None)


def _contains(item: Mapping[str, Any], script: Script) -> bool:
    return script.when is not None and is_user(item) and script.when.casefold() in message_text(item).casefold()
