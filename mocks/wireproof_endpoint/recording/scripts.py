"""Exchanges as scripts: one for each thing that a user said, with a part for each answer to it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wireproof_endpoint.recording.answer import called, calls_of
from wireproof_endpoint.recording.asked import RecordedConversations
from wireproof_scripts.asked.header_keys import mask_of
from wireproof_scripts.conversation import text_of
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.json_form import script_from_json, script_to_json
from wireproof_scripts.steps import Call, Say, Script, Think
from wireproof_scripts.steps.http import Refusal, Status
from wireproof_scripts.steps.when import When, Words
from wireproof_surfaces.surfaces.responses_input import CALLS, OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wireproof_endpoint.recording.so_far import Json
    from wireproof_scripts.steps import Step

Part = tuple["Step", ...]

_NAME = 40
_WORD = re.compile(r"[a-z0-9]+")


@dataclass
class _Recording:
    """The answers to one thing that a user said."""

    when: str
    """What that is; empty where nobody said anything."""
    digest: str | None
    """Of the conversation up to it."""
    parts: list[Part] = field(default_factory=list)
    """One answer each, as calls and their results go on."""
    asked: list[Part] = field(default_factory=list)
    """The answer to each request, in their order."""
    repeats: bool = False
    """Whether the same request had another answer: then each request has a part, in their order."""

    def add(self, number: int, steps: Part) -> None:
        """Add the answer to a request whose conversation has so many answers already."""
        if number == len(self.parts):
            self.parts.append(steps)
        elif self.parts[number] != steps:
            self.repeats = True
        self.asked.append(steps)


class Scripts:
    """The scripts of what was recorded so far."""

    def __init__(self) -> None:
        self._recordings: dict[str, _Recording] = {}
        self._answers: dict[str, tuple[str, int]] = {}
        """Id of a response → the recording and the part that it is."""
        self._conversations = RecordedConversations()

    def add(self, body: Json, steps: Part, id_: str = "", *, original: Json | None = None) -> str | None:
        """Add the answer to a request; why another one will be chosen in its place, if one will.

        `original`: the request as it came, where `body` is what it would be in chat.

        Raises:
            ScriptError: no script can say so, or be chosen for it. Nothing of it is added: the file of all could not be
                read with it.
        """
        known = self._answers.get(str(body.get("previous_response_id")))
        key, when, before = _place(body)
        _check(when, (*before, steps))
        digest = self._conversations.digest(body if original is None else original, messages=original is not None)
        if when or (known is None and digest is not None):
            number = len(before)
            recording = self._recordings.setdefault(key, _Recording(when, digest))
        elif known is not None:
            key, number = known[0], known[1] + 1
            recording = self._recordings[key]
        else:
            raise ScriptError("", "the request has no text of a user, by which its script could be chosen")
        # What came before the recording began is known from the request itself.
        recording.parts += before[len(recording.parts) : number]
        recording.add(number, steps)
        if id_:
            self._answers[id_] = (key, number)
        self._conversations.answered(body, id_, steps)
        return self._clash(key, recording)

    def _clash(self, key: str, recording: _Recording) -> str | None:
        others = (other for name, other in self._recordings.items() if name != key)
        if recording.digest is None and any(_same(other, recording) for other in others):
            said = recording.when[:60]
            return f"another conversation was asked {said!r}, too: the first one's script answers both"
        return None

    def scripts(self, keys: Iterable[str] = ()) -> list[Script]:
        """All of them, in the order in which they are to be looked at, with `***` in the place of each key."""
        found, names, mask = list[Script](), set[str](), mask_of(keys, forms=True)
        earlier: list[_Recording] = []
        by_digest: set[int] = set()
        for recording in self._recordings.values():
            # The first one's text stays its condition alone, and comes behind: it also answers what is new.
            if not recording.when or any(_same(recording, other) for other in earlier):
                by_digest.add(id(recording))
            earlier.append(recording)
        # A text may hold another one: the longer is looked for first. Of two that are alike the first one stays first.
        ordered = sorted(earlier, key=lambda one: (id(one) not in by_digest or one.digest is None, -len(one.when)))
        for recording in ordered:
            text = mask(recording.when)
            exactly = id(recording) in by_digest and recording.digest is not None
            name = _name(text, names)
            names.add(name)
            given = recording.asked if recording.repeats else recording.parts
            found.append(
                Script(
                    name=name,
                    title=f"Recorded: {' '.join(text.split())[:80]}",
                    when=When(digest=Words("is", recording.digest)) if exactly and recording.digest else text,
                    parts=tuple(tuple(_masked(step, mask) for step in part) for part in given),
                    sequence="conversation" if recording.repeats else "no",
                )
            )
        return found


def _check(when: str, parts: tuple[Part, ...]) -> None:
    """Read what a file would say: values of an answer, and of a request, may be of any type."""
    script_from_json(script_to_json(Script(name="recorded", title="", when=when or None, parts=parts)))


def _same(one: _Recording, other: _Recording) -> bool:
    """Whether the same was said in both."""
    return one.when.casefold() == other.when.casefold()


def _masked(step: Step, mask: Callable[[str], str]) -> Step:
    """The step without keys; one that is cut into pieces is made whole, so that none is found in two of them."""
    match step:
        case Say(pieces=pieces) if mask("".join(pieces)) != "".join(pieces):
            return replace(step, pieces=(mask("".join(pieces)),))
        case Think(text=text, raw=raw) if mask(text) != text or mask("".join(raw)) != "".join(raw):
            return replace(step, text=mask(text), pieces=(), raw=(mask("".join(raw)),) if raw else ())
        case Refusal(text):
            return Refusal(mask(text))
        case Call(arguments=str(arguments)) if mask(arguments) != arguments:
            return replace(step, arguments=mask(arguments), pieces=())
        case Status(body=str(body)):
            return replace(step, body=mask(body))
    return step


def _place(body: Json) -> tuple[str, str, tuple[Part, ...]]:
    """A key for the conversation up to what the user said last, what that is, and the answers to it in the request."""
    items = _items(body)
    last = max((at for at, item in enumerate(items) if item.get("role") == "user"), default=None)
    if last is None:
        return json.dumps(body, sort_keys=True, default=str), "", ()
    around = [body.get(name) for name in ("previous_response_id", "instructions", "tools", "functions")]
    text = json.dumps([*around, items[: last + 1]], sort_keys=True)
    key = hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()
    return key, text_of(items[last].get("content")), _answered(items[last + 1 :])


def _items(body: Json) -> list[Json]:
    given = body.get("messages") or body.get("input") or []
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return [item for item in given if isinstance(item, dict)]


def _answered(items: Sequence[Json]) -> tuple[Part, ...]:
    """The answers that a client sent back, each up to the results of its calls."""
    parts: list[Part] = []
    steps: list[Step] = []
    for item in items:
        if item.get("role") in {"tool", "function"} or item.get("type") in OUTPUTS:
            parts += [tuple(steps)] if steps else []
            steps = []
        else:
            steps += _said(item)
    return tuple(parts)


def _said(item: Json) -> list[Step]:
    if said := CALLS.get(str(item.get("type"))):
        return [Call(id=item["call_id"], name=item["name"], arguments=item[said])]
    text = text_of(item.get("content"))
    named = ((call.get("id") or "", *called(call)) for call in calls_of(item))
    calls = [Call(id=id_, name=name, arguments=arguments) for id_, name, arguments in named]
    return [*([Say((text,))] if text else []), *calls]


def _name(when: str, taken: set[str]) -> str:
    """A name that says what was asked, and that no other script has."""
    words = "-".join(_WORD.findall(when.casefold()))[:_NAME].strip("-") or "recorded"
    names = (words if number == 1 else f"{words}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
