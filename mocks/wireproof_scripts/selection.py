"""Which script, and which part of it, answers a turn.

A marker decides: the last one in the turn's input, else the last one in the history. A marker that is written wrong or
names no script fails the turn with what would be right. Without a marker, the first script answers whose condition,
`when`, holds; without such a script, the default answer.

The parts of a script that is a `sequence` answer one request each. Of any other script the part is the one after the
last part whose calls all have results in the history. If there is none, it is as many parts on as other conversations
were seen before this one, never beyond the last part: a request that is sent again is answered again by the same part,
unless its turn has failed. When the calls of the last part have results, too, the default answer reports the result,
which ends the loop of a client even for a script of one call. A call whose id was not sent counts as answered when a
call of its tool is. The turns of a script with choices play them in rotation, or each choice of a request its own,
where a condition has chosen it.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from wireproof_scripts.asked.answered_calls import Asking, asking, parts_answered
from wireproof_scripts.asked.matching import why_not
from wireproof_scripts.asked.request import AskedTurn, Items
from wireproof_scripts.conversation import answered, as_message, input_text, is_user, message_text, searched_texts
from wireproof_scripts.default.answer import default_answer
from wireproof_scripts.markers import BrokenMarker, Marker, find_marker
from wireproof_scripts.nonces import Nonce, Nonces, TurnRecord
from wireproof_scripts.steps import (
    Call,
    Fail,
    Library,
    Notifications,
    Parts,
    Script,
    Step,
    only_cursor,
    only_endpoint,
)
from wireproof_scripts.steps.when import condition
from wireproof_scripts.values import value

if TYPE_CHECKING:
    from collections import defaultdict
    from collections.abc import Callable, Mapping

    from wireproof_scripts.steps.when import When

DEFAULT = "default"
"""The name under which the default answer is selected."""
_SHOWN = 20

By = Literal["marker", "when", "default"]
Conditions = Sequence[tuple["Script", "str | None", "When | None"]]
"""The scripts of a library that have a condition, in order, each with the text, in one case, or else the condition."""


def conditions_of(library: Library) -> Conditions:
    """What is looked at for every request: most of a library is chosen by markers alone."""
    return [
        (script, script.when.casefold(), None) if isinstance(script.when, str) else (script, None, script.when)
        for script in library.values()
        if script.when is not None
    ]


@value(frozen=True, kw_only=True, slots=True)
class Selection:
    """What a turn plays: the part `first` of `parts`, then the parts after it as the calls of each are answered."""

    script: str
    """The name of the script; `default` for the default answer."""
    parts: Parts
    first: int
    """The index of the part that is played first. `len(parts)` if all is played: then the default answer goes on."""
    nonce: Nonce
    """What the turn shares with others; fresh if no marker names one."""
    notifications: Notifications = "v2"
    problem: str | None = None
    """Why the turn was rejected, as a sentence for its client; None if it was not. A rejected turn plays one `Fail`,
    which its player sends as a bad request with this message."""
    conversation: str = ""
    """The name of the turn's conversation under its nonce: the same text for the same items."""
    by: By = "default"
    """What has chosen the script."""
    counter: defaultdict[str, int] | None = None
    """Where the request is counted, for a script whose parts are a sequence; None if it is not."""

    def begin(self) -> TurnRecord:
        """Count and record the turn under its nonce."""
        if self.counter is not None:
            self.counter[self.script] += 1
        return self.nonce.begin(self.script, self.first, self.conversation)


def select(  # noqa: PLR0913 - each is another thing that a request says
    library: Library,
    nonces: Nonces,
    *,
    history: Items,
    given: Items,
    tools: Items,
    call_id: str,
    developer: str = "",
    schema: Mapping[str, Any] | None = None,
    model: str | None = None,
    headers: Mapping[str, str] | None = None,
    number: int | None = None,
    choice: int = 0,
    conditions: Conditions | None = None,
    own_ids: bool = False,
) -> Selection:
    """What a turn plays that received the input `given` after `history`.

    `tools` are those that the client declared; `call_id` is the id for a call in the default answer, which obeys the
    instructions `developer` and matches the JSON `schema`. `model`, `headers` and `number`: as in `AskedTurn`.
    `choice`: of the request's answer, whose choices are one request. `conditions`: those of the library, if they are
    known. `own_ids`: the client may give calls ids of its own, also where a marker chooses, as the suite does, which
    looks at them; `asked.answered_calls` then says whose results theirs are.
    """
    # `input: []` goes on from injected results.
    conversation = [*history, as_message(given)] if given else list(history)
    asked = AskedTurn(
        conversation=conversation, developer=developer, tools=tools, model=model, headers=headers, number=number
    )
    marker = _marker(history, given)
    if isinstance(marker, BrokenMarker):
        return rejected(marker.problem)
    if marker is not None:
        found = _by_marker(library, nonces, marker, [*history, as_message(given)], choice, own_ids=own_ids)
        return replace(found, by="marker")
    script = _by_condition(conditions_of(library) if conditions is None else conditions, asked)
    if script is not None:
        return _of_conversation(script, asked, nonces, choice)
    steps = default_answer(conversation, tools, call_id, developer=developer, schema=schema)
    return Selection(script=DEFAULT, parts=(steps,), first=0, nonce=Nonce())


def rejected(problem: str, script: str = "", nonce: Nonce | None = None) -> Selection:
    """A turn that fails at once because what it asks for cannot be played; `problem` is the message for its client."""
    return Selection(script=script, parts=((Fail(),),), first=0, nonce=nonce or Nonce(), problem=problem)


def without_cursor(selection: Selection) -> Selection:
    """The selection for a backend other than Cursor's: rejected if a step of the script is only for that one."""
    return _without(only_cursor, "wireproof-cursor", selection)


def for_app_server(selection: Selection) -> Selection:
    """The selection for the mock of the app-server: rejected if a step is only for Cursor's, or for the endpoint."""
    return _without(only_endpoint, "wireproof serve", without_cursor(selection))


def _without(only: Callable[[Step], str], player: str, selection: Selection) -> Selection:
    step = _first(only, selection.parts)
    if step is None:
        return selection
    why = f"{type(step).__name__}: {only(step)}"
    problem = f"The script {selection.script} is played by {player} alone: {why}."
    return rejected(problem, selection.script, selection.nonce)


def _first(only: Callable[[Step], str], parts: Parts) -> Step | None:
    # Loops: it is asked of every step that may be played, with each request.
    for part in parts:
        for step in part:
            if only(step):
                return step
    return None


def part_to_play(parts: Parts, known: set[str], seen: int, since: Items = ()) -> int:
    """The index of the part to play; `len(parts)` when the calls of the last part are answered.

    `known` are the answered calls in the form of `conversation.answered`, `seen` counts the earlier turns. `since` is
    what came since the script was chosen, if its client may have ids of its own.
    """
    for index in reversed(range(len(parts))):
        calls = set(map(_key, asking(parts[index])))
        if calls and calls <= known:
            return index + 1
    return (parts_answered(parts, since) if since else 0) or min(seen, len(parts) - 1)


def _since(conversation: Items, text: str) -> Items:
    """The items from the last message of the user that has this text."""
    places = (at for at in reversed(range(len(conversation))) if is_user(conversation[at]))
    return conversation[next((at for at in places if text in message_text(conversation[at])), 0) :]


def _key(call: Asking) -> str:
    """How an answered call is recognised: by its id, or by its tool if no shape carries the id."""
    if not isinstance(call, Call):
        return call.id
    # A `<use_tool>` block has no place for an id: the proxy makes one up.
    return call.id if call.id and set(call.shapes) != {"use-tool"} else f"tool {call.name}"


def _marker(history: Items, given: Items) -> Marker | BrokenMarker | None:
    found = find_marker(input_text(given))
    texts = iter(reversed(searched_texts(history)))
    while found is None and (text := next(texts, None)) is not None:
        found = find_marker(text)
    return found


def _by_marker(
    library: Library, nonces: Nonces, marker: Marker, conversation: Items, choice: int, *, own_ids: bool
) -> Selection:
    nonce = nonces.get(marker.nonce)
    script = library.get(marker.script)
    if script is None:
        return rejected(unknown_script(marker.script, library), marker.script, nonce)
    choices = script.choices or (script.parts,)
    # The choices of one request are turns of one conversation.
    parts, name = choices[nonce.played[script.name] % len(choices)], _name(conversation)
    if script.sequence != "no":
        counter = nonce.asked if script.sequence == "conversation" else nonces.asked
        return replace(_in_sequence(script, parts, nonce, counter, choice), conversation=name)
    seen = nonce.conversations[script.name].number(name)
    # What came before the marker was asked for by another script.
    since = _since(conversation, str(marker)) if own_ids else ()
    first = part_to_play(parts, answered(conversation), seen, since)
    return replace(_of_script(script, parts, first, nonce), conversation=name)


def _of_conversation(script: Script, asked: AskedTurn, nonces: Nonces, choice: int) -> Selection:
    """What a script plays that a condition has chosen: for any client, also for one that gives calls its own ids."""
    parts = script.choices[choice % len(script.choices)] if script.choices else script.parts
    if script.sequence == "endpoint":
        return replace(_in_sequence(script, parts, Nonce(), nonces.asked, choice), by="when")
    if script.sequence == "conversation":
        # A conversation is known by how it begins. No marker has a nonce of such a name.
        begin = next((at for at, item in enumerate(asked.conversation) if is_user(item)), 0) + 1
        nonce = nonces.get(f"conversation {_name([*asked.conversation[:begin], {'developer': asked.developer}])}")
        return replace(_in_sequence(script, parts, Nonce(), nonce.asked, choice), by="when")
    if len(parts) == 1 and not asking(parts[0]):
        # Most scripts: there is no other part, whatever was said before.
        return _of_script(script, parts, 0, Nonce(), by="when")
    when = condition(script.when or "")
    seen = sum(not why_not(when, one) for one in asked.earlier())
    first = part_to_play(parts, answered(asked.conversation), seen)
    if first == 0 and asked.last_result is not None:
        # No id of its calls has come back: the client may have ids of its own.
        first = min(parts_answered(parts, _since(asked.conversation, "")), len(parts))
    return _of_script(script, parts, first, Nonce(), by="when")


def _in_sequence(script: Script, parts: Parts, nonce: Nonce, counter: defaultdict[str, int], choice: int) -> Selection:
    # The first choice of this request was counted when it began.
    before = counter[script.name] - (choice > 0)
    selection = _of_script(script, parts, min(before, len(parts) - 1), nonce)
    return replace(selection, counter=None if choice else counter)


def _of_script(script: Script, parts: Parts, first: int, nonce: Nonce, by: By = "default") -> Selection:
    return Selection(
        script=script.name,
        parts=parts,
        first=first,
        nonce=nonce,
        notifications=script.notifications,
        by=by,
    )


def _name(conversation: Items) -> str:
    """A short text that only this conversation has."""
    return hashlib.sha256(json.dumps(conversation, sort_keys=True).encode()).hexdigest()


def unknown_script(name: str, library: Library) -> str:
    """The message for a marker whose script does not exist."""
    close = difflib.get_close_matches(name, library, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"known scripts: {_some(library)}."
    return f"The marker asks for the script {name}, which does not exist; {hint}"


def _some(library: Library) -> str:
    names, more = list(library)[:_SHOWN], len(library) - _SHOWN
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _by_condition(conditions: Conditions, asked: AskedTurn) -> Script | None:
    said = None if asked.text is None else asked.text.casefold()
    for script, text, when in conditions:
        if text is not None:
            if said is not None and text in said:
                return script
        elif when is not None and not why_not(when, asked):
            return script
    return None
