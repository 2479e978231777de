"""What differs between two sessions, by the place in a message: what a reader of two versions asks first.

    differences(theirs, ours) → {"turn/completed params.turn.items: [{…}] / []": 1, …}

Both sides are lines of `comparable`. Messages are aligned by what they are: the method of a request or notification,
the id of an answer. Of two that stand for each other every field is named that one of them lacks, and every value that
is another; of one without a partner, that it is sent by one side alone.
"""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

REAL, MOCK = "only the real server", "only the mock"
_ID = re.compile(r"<id \d+>")
_SHOWN = 160
"""Characters of a value that are shown."""


def differences(theirs: Sequence[str], ours: Sequence[str], asked: Mapping[object, str] | None = None) -> Counter[str]:
    """Each difference with how often it is there.

    `asked`: by its id, the method of each request of the client, which names the answers.
    """
    asked = asked or {}
    real, mock = [json.loads(line) for line in theirs], [json.loads(line) for line in ours]
    names = [_name(message, asked) for message in real], [_name(message, asked) for message in mock]
    found: Counter[str] = Counter()
    for what, begin, end, other, other_end in difflib.SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if what == "equal":
            for one, another in zip(real[begin:end], mock[other:other_end], strict=True):
                found.update(_within(_name(one, asked), one, another))
        else:
            found.update(f"{name}: {REAL}" for name in names[0][begin:end])
            found.update(f"{name}: {MOCK}" for name in names[1][other:other_end])
    return found


def _name(message: Mapping[str, Any], asked: Mapping[object, str]) -> str:
    """What a message is."""
    if "method" in message:
        kind = str(message.get("params", {}).get("item", {}).get("type", ""))
        return f"{message['method']} ({kind})" if kind else str(message["method"])
    if "id" not in message:  # of a run of `codex exec`: a line of a stream, a file, the status
        [(where, said)] = message.items()
        return f"{where} {said['type']}" if isinstance(said, dict) else where
    return f"answer of {asked.get(message['id'], message['id'])}"


def _within(place: str, real: Any, mock: Any) -> Iterator[str]:
    match real, mock:
        case dict(), dict():
            yield from (f"{place}.{key}: {REAL}, {_shown(real[key])}" for key in real if key not in mock)
            yield from (f"{place}.{key}: {MOCK}, {_shown(mock[key])}" for key in mock if key not in real)
            both = [key for key in real if key in mock]
            if both != [key for key in mock if key in real]:
                yield f"{place}: the order of its fields"
            for key in both:
                yield from _within(f"{place}.{key}", real[key], mock[key])
        case list(), list() if len(real) == len(mock):
            for one, another in zip(real, mock, strict=True):
                yield from _within(f"{place}[]", one, another)
        case _ if real != mock and not (_is_id(real) and _is_id(mock)):
            yield f"{place}: {_shown(real)} / {_shown(mock)}"


def _is_id(value: Any) -> bool:
    """Whether it is an id: of two with other numbers, others came before one of them, which is said of those."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _shown(value: Any) -> str:
    text = _ID.sub("<id>", json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
