"""Changes of JSON: one value, member or entry of an object becomes what no server should send.

Bodies are changed as data where JSON can say the change, and as text where only text can: a member twice, NaN, a number
of thousands of digits, lists in each other by the thousand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

Json = Any
_RAW = re.compile(r'"@@text (\d+)@@"')
"""What stands in JSON where one of `TEXTS` is to be put; no server writes it."""
VALUES: tuple[Json, ...] = (
    None, True, False, 0, -1, 1, 1.5, -0.0, 1e308, 10**30, 2**63, -(2**63), 10**400,
    "", " ", "0", "null", "a" * 5000, "\x00", "\x1b[2J\x1b]0;owned\x07", "\u202egnp.exe", "\ud800", "\udfff\ud800",
    "\ue000", "{", '{"a":', "[[[", '{"a": 1, "a": 2}', "NaN", "../../x", "<script>alert(1)</script>",
    "\r\n\r\ndata: [DONE]\n\n", "]]>", "assistant", "tool_calls", "stop", "error", "function", "completed",
    "response.completed",
    "<use_tool>", [], [[]], [None], [{}], [0], ["a"], [[], {}, None, 1, "x", 1.5, True], {}, {"": None},
    {"a": {"a": {}}}, {"error": {"message": []}}, {"type": []}, {"index": {}}, {"\ud800": "\ud800"},
)  # fmt: skip
"""Values that a member may have that has another type, or another meaning."""
MEMBERS = (
    "error",
    "choices",
    "usage",
    "index",
    "type",
    "delta",
    "tool_calls",
    "id",
    "output",
    "",
    "\ud800",
    "__proto__",
)
"""Members that are added."""
_DEPTHS = (60, 300, 900, 2000, 9000)
TEXTS = (
    "NaN", "-Infinity", "9" * 5000, "1e999999", "-", "1e-400", '"\\ud800"', '"\\u0000"', '"\x01"', "undefined",
    *("[" * deep + "]" * deep for deep in _DEPTHS), *('{"a":' * deep + "1" + "}" * deep for deep in _DEPTHS),
    "[" * 100_000, '{"a":' * 900, '1, "choices": {}, "choices": []', '"x", "id": 1, "id": {}',
)  # fmt: skip
"""What stands in a body as text: no JSON at all, or JSON that cannot be made of data."""


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A member of an object or an entry of a list."""

    within: Json
    key: str | int

    @property
    def value(self) -> Json:
        return self.within[self.key]

    def put(self, value: Json) -> None:
        self.within[self.key] = value


def _places(value: Json) -> Iterator[_Place]:
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        place = _Place(within=value, key=key)
        yield place
        yield from _places(place.value)


Change = Callable[["Random", _Place, list[_Place]], None]
"""Changes the object that a place is in; it has all places of the object."""


def _add(chance: Random, place: _Place, _: list[_Place]) -> None:
    value = deepcopy(chance.choice(VALUES))
    if isinstance(place.within, dict):
        place.within[chance.choice(MEMBERS)] = value
    else:
        place.within.insert(chance.randrange(len(place.within) + 1), value)


def _rename(chance: Random, place: _Place, _: list[_Place]) -> None:
    if isinstance(place.within, dict):
        place.within[chance.choice(MEMBERS)] = place.within.pop(place.key)


def _twice(_: Random, place: _Place, __: list[_Place]) -> None:
    if isinstance(place.within, list):
        place.within.append(deepcopy(place.value))


def _nearly(chance: Random, place: _Place, _: list[_Place]) -> None:
    """A number that is one off, a text that lost or doubled a character."""
    match place.value:
        case bool() as value:
            place.put(not value)
        case int() | float() as value:
            place.put(chance.choice((-value, value + 1, value - 1, 0.5, value * 1000, str(value))))
        case str() as value if value:
            at = chance.randrange(len(value))
            place.put(chance.choice((value[:at], value[:at] + value[at] + value[at:], value.upper(), value[::-1])))
        case list() as value:
            chance.shuffle(value)
        case _:
            place.put(None)


CHANGES: Mapping[str, Change] = {
    "other value": lambda chance, place, _: place.put(deepcopy(chance.choice(VALUES))),
    "drop": lambda _, place, __: place.within.__delitem__(place.key),
    "add": _add,
    "rename": _rename,
    "twice": _twice,
    "from elsewhere": lambda chance, place, every: place.put(deepcopy(chance.choice(every).value)),
    "in a list": lambda _, place, __: place.put([place.value]),
    "in an object": lambda chance, place, _: place.put({chance.choice(MEMBERS): place.value}),
    "as text": lambda _, place, __: place.put(json.dumps(place.value)),
    "nearly": _nearly,
    "raw text": lambda chance, place, _: place.put(f"@@text {chance.randrange(len(TEXTS))}@@"),
}
"""The changes, by their names."""


def changed(chance: Random, value: Json) -> str:
    """The text of a value with one change somewhere in it."""
    value = [deepcopy(value)]  # in a list, so that the value as a whole has a place, too
    every = [*_places(value)]
    place = chance.choice(every)
    chance.choice([*CHANGES.values()])(chance, place, every)
    return ",".join(map(written, value))


def written(value: Json) -> str:
    """A value as JSON text, with what only text can say."""
    return _RAW.sub(lambda found: TEXTS[int(found[1])], json.dumps(value))
