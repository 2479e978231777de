"""Exchanges as scripts: one for each thing that a user said, with a part for each answer to it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wireproof_scripts.asked.header_keys import mask_of
from wireproof_scripts.steps import Call, Say, Script, Think
from wireproof_scripts.steps.http import Refusal, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wireproof_endpoint.recording.answer import Json
    from wireproof_scripts.steps import Step

Part = tuple["Step", ...]

_NAME = 40
_WORD = re.compile(r"[a-z0-9]+")


@dataclass
class _Recording:
    when: str
    parts: list[Part] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where an answer belongs."""

    key: str
    """The conversation up to what the user said last."""
    when: str
    """What that is."""
    before: tuple[Part, ...]
    """The answers to it that the request holds, as far as it holds them."""


class Scripts:
    """The scripts of what was recorded so far."""

    def __init__(self) -> None:
        self._recordings: dict[str, _Recording] = {}
        self._answers: dict[str, tuple[str, int]] = {}
        """Id of a response → the recording and the part that it is."""

    def add(self, body: Json, steps: Part, id_: str = "") -> str | None:
        """Add the answer to a request; what keeps it from being chosen again, if anything does."""
        known = self._answers.get(str(body.get("previous_response_id")))
        place = _place(body)
        if place.when:
            recording = self._recordings.setdefault(place.key, _Recording(place.when))
            key, number = place.key, len(place.before)
        elif known is not None:
            key, number = known[0], known[1] + 1
            recording = self._recordings[key]
        else:
            return "the request has no text of a user, by which its script could be chosen"
        # What came before the recording began is known from the request itself.
        recording.parts += place.before[len(recording.parts) : number]
        if number == len(recording.parts):
            recording.parts.append(steps)
        if id_:
            self._answers[id_] = (key, number)
        return self._clash(key, recording)

    def _clash(self, key: str, recording: _Recording) -> str | None:
        others = (other for name, other in self._recordings.items() if name != key)
        if any(other.when.casefold() == recording.when.casefold() for other in others):
            said = recording.when[:60]
            return f"another conversation was asked {said!r}, too: the first one's script answers both"
        return None

    def scripts(self, keys: Iterable[str] = ()) -> list[Script]:
        """All of them, in the order in which they are to be looked at, with `***` in the place of each key."""
        found, names, mask = list[Script](), set[str](), mask_of(keys)
        # A text may hold another one: the longer is looked for first. Of two that are alike the first one stays first.
        for recording in sorted(self._recordings.values(), key=lambda recording: -len(recording.when)):
            when = mask(recording.when)
            name = _name(when, names)
            names.add(name)
            title = f"Recorded: {' '.join(when.split())[:80]}"
            parts = tuple(tuple(_masked(step, mask) for step in part) for part in recording.parts)
            found.append(Script(name=name, title=title, when=when, parts=parts))
        return found


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


def _place(body: Json) -> _Place:
    items = _items(body)
    last = max((at for at, item in enumerate(items) if item.get("role") == "user"), default=None)
    if last is None:
        return _Place(key="", when="", before=())
    text = json.dumps([body.get("previous_response_id"), items[: last + 1]], sort_keys=True)
    key = hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()
    return _Place(key=key, when=_text(items[last].get("content")), before=_answered(items[last + 1 :]))


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
        if _is_result(item):
            parts += [tuple(steps)] if steps else []
            steps = []
        else:
            steps += _said(item)
    return tuple(parts)


def _is_result(item: Json) -> bool:
    return item.get("role") == "tool" or item.get("type") == "function_call_output"


def _said(item: Json) -> list[Step]:
    if item.get("type") == "function_call":
        return [Call(id=item["call_id"], name=item["name"], arguments=item["arguments"])]
    text = _text(item.get("content"))
    calls = [
        Call(id=call["id"], name=call["function"]["name"], arguments=call["function"]["arguments"])
        for call in item.get("tool_calls") or []
    ]
    return [*([Say((text,))] if text else []), *calls]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _name(when: str, taken: set[str]) -> str:
    """A name that says what was asked, and that no other script has."""
    words = "-".join(_WORD.findall(when.casefold()))[:_NAME].strip("-") or "recorded"
    names = (words if number == 1 else f"{words}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
