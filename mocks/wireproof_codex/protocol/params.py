"""Checks the parameters of requests, and refuses wrong ones with the texts of the real server's deserialiser (serde).

Unknown fields pass, and the first wrong field is the one that the error names. What each version takes was measured: it
is in `versions/params.json`.

Not pydantic: it reports fields in the order of a model, not of the text, and to import it takes longer than all else
that happens before the handshake.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wireproof_codex.protocol.json_object import Json

INVALID_REQUEST = -32600  # nearly every error has it: unknown methods and wrong parameters, too
INVALID_PARAMS = -32602  # seen of the real server for input that is too long
UNKNOWN = -32601
INTERNAL = -32603
OVERLOADED = -32001
OVERLOAD = "Server overloaded; retry later."


class Refused(Exception):  # noqa: N818 - an answer of the protocol, not a fault of the program
    """A request is answered with an error: its code, message and data."""

    def __init__(self, message: str, code: int = INVALID_REQUEST, data: object = None) -> None:
        super().__init__(message)
        self.message, self.code, self.data = message, code, data


def _invalid(expected: str, value: object) -> Refused:
    return Refused(f"Invalid request: invalid type: {shown(value)}, expected {expected}")


# By exact type, as a bool is an int in Python.
_SHOWN: Mapping[type, Callable[[Any], str]] = {
    NoneType: lambda _: "null",
    bool: lambda value: f"boolean `{json.dumps(value)}`",
    int: lambda value: f"integer `{value}`",
    float: lambda value: f"floating point `{value}`",
    str: lambda value: f"string {json.dumps(value, ensure_ascii=False)}",
    list: lambda _: "sequence",
    dict: lambda _: "map",
}


def shown(value: object) -> str:
    """A value of the wrong type, as the deserialiser names it."""
    return _SHOWN[type(value)](value)


_NUMBERS = {"u16": (0, 16), "u32": (0, 32), "u64": (0, 64), "usize": (0, 64), "i32": (-31, 31), "i64": (-63, 63)}
"""Bits below and above zero."""
_NONZERO = "a nonzero "


def _check_leaf(kind: str, value: object) -> None:
    number = kind.removeprefix(_NONZERO)
    if number in _NUMBERS:
        if not isinstance(value, int) or isinstance(value, bool):
            raise _invalid(kind, value)
        below, above = _NUMBERS[number]
        least = -(1 << -below) if below else int(number != kind)
        if not least <= value < 1 << above:
            raise Refused(f"Invalid request: invalid value: integer `{value}`, expected {kind}")
    elif kind == "f64":
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise _invalid(kind, value)
    elif not isinstance(value, str if kind.endswith("string") else bool):
        raise _invalid(kind, value)


def unknown_variant(name: object, names: Sequence[str]) -> str:
    """What the deserialiser says of a name that is none of these."""
    # serde joins two names with `or`, and lists three or more after `one of`.
    listed = [f"`{one}`" for one in names]
    expected = f"one of {', '.join(listed)}" if len(names) > _TWO else " or ".join(listed)
    return f"unknown variant `{name}`, expected {expected}"


def _unknown(name: str, names: Sequence[str]) -> Refused:
    return Refused(f"Invalid request: {unknown_variant(name, names)}")


_TWO = 2
_INSIDE: Mapping[str, tuple[type, str]] = {"[]": (list, "a sequence"), "{}": (dict, "a map")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameters:
    """What a version takes: the type of the parameters of each method, and the types that have names.

    A type is a text: `any`, `unit`, a word with which the deserialiser names what it expects (`a string`, `u32`), the
    name of a described type, or one of these behind `?` (null too), `[]` (a list of it) or `{}` (an object of it).
    Described types, as they stand in `versions/params.json`:

        {"fields": {name: type}, "needed": [name]}     an object; `needed` in the order in which fields are missed
        {"enum": [name], "maps": {name: type}}         one of the names, or an object with one name alone
        {"tagged": {name: {"fields", "needed"}}, "tag": "type", "open": true}
                                                       an object whose `tag` is one of the names, or, open, any name
        {"untagged": [type]}                           any of them
    """

    read: Callable[[], Json]
    """Reads `methods` and `types`; when they are asked for, since the handshake must not wait for a file."""

    @property
    def methods(self) -> Mapping[str, str]:
        """The type of the parameters of each method."""
        found: Mapping[str, str] = self.read()["methods"]
        return found

    @property
    def types(self) -> Mapping[str, Json]:
        """The types that have names."""
        found: Mapping[str, Json] = self.read()["types"]
        return found

    def fields(self, method: str) -> Mapping[str, str]:
        """The parameters of a method, by name; {} where it has none, or takes one of several objects."""
        named: Mapping[str, str] = self.types.get(self.methods.get(method, "").lstrip("?"), {}).get("fields", {})
        return named

    def check(self, method: str, params: object) -> Mapping[str, Any]:
        """The parameters of a request of a known method, without those that it does not know: nothing has checked them.

        Raises:
            Refused: they are not what the method takes; with the deserialiser's text.
        """
        kind = self.methods.get(method, "any")
        if kind == "unit" and params not in (None, {}):
            raise _invalid("unit", params)
        # Absent or null: wrong even where every parameter is optional, as for model/list.
        if params is None and kind != "unit" and not kind.startswith("?"):
            raise Refused("Invalid request: missing field `params`")
        if kind != "unit":
            self._check(kind, params)
        if not isinstance(params, dict):
            return {}
        known = self.fields(method)
        return {name: value for name, value in params.items() if name in known} if known else params

    def _check(self, kind: str, value: object) -> None:
        if kind[0] == "?":
            if value is not None:
                self._check(kind[1:], value)
        elif kind[:2] in _INSIDE:
            container, expected = _INSIDE[kind[:2]]
            if not isinstance(value, list | dict) or not isinstance(value, container):
                raise _invalid(expected, value)
            for inner in value.values() if isinstance(value, dict) else value:
                self._check(kind[2:], inner)
        elif kind in self.types:
            self._check_described(kind, self.types[kind], value)
        elif kind != "any":
            _check_leaf(kind, value)

    def _check_described(self, name: str, described: Json, value: object) -> None:
        match described:
            case {"fields": _}:
                if not isinstance(value, dict):
                    raise _invalid(_struct(name), value)
                self._check_fields(described, value)
            case {"tagged": kinds}:
                self._check_tagged(name, described, value)
            case {"enum": names}:
                self._check_enum(names, described.get("maps", {}), value)
            case {"untagged": kinds}:
                if not any(self._takes(kind, value) for kind in kinds):
                    raise Refused(f"Invalid request: data did not match any variant of untagged enum {name}")

    def _takes(self, kind: str, value: object) -> bool:
        try:
            self._check(kind, value)
        except Refused:
            return False
        return True

    def _check_fields(self, described: Json, given: Json) -> None:
        # serde reads the members in the order of the text, and sees only at the end which ones are missing.
        for name, value in given.items():
            if name in described["fields"]:
                self._check(described["fields"][name], value)
        for name in described["needed"]:
            if name not in given:
                raise Refused(f"Invalid request: missing field `{name}`")

    def _check_tagged(self, name: str, described: Json, value: object) -> None:
        kinds, tag = described["tagged"], described.get("tag", "type")
        content = "data" if all({*it["fields"]} == {"data"} for it in kinds.values()) else None
        if not isinstance(value, dict):
            raise _invalid(f"{'adjacently' if content else 'internally'} tagged enum {name}", value)
        if tag not in value:
            raise Refused(f"Invalid request: missing field `{tag}`")
        kind = value[tag]
        if type(kind) is int and kind >= len(kinds):
            index = f"variant index 0 <= i < {len(kinds)}"
            raise Refused(f"Invalid request: invalid value: integer `{kind}`, expected {index}")
        if not isinstance(kind, str):
            raise _invalid("variant identifier", kind)
        if kind in kinds:
            self._check_fields(kinds[kind], value)
        elif not described.get("open"):
            raise _unknown(kind, [*kinds])

    def _check_enum(self, names: Sequence[str], maps: Mapping[str, str], value: object) -> None:
        if isinstance(value, dict) and len(value) != 1:
            raise Refused("Invalid request: invalid value: map, expected map with a single key")
        if not isinstance(value, str | dict):
            raise _invalid("string or map", value)
        name, inner = (value, None) if isinstance(value, str) else next(iter(value.items()))
        if name not in names:
            raise _unknown(name, names)
        if name in maps and isinstance(value, dict):
            self._check(maps[name], inner)
        elif inner is not None:
            raise _invalid("unit", inner)


def _struct(name: str) -> str:
    """What is expected of an object of this type; of one in a variant its name is `Enum.variant`, or `….data`."""
    enum, *variant = name.split(".")
    match variant:
        case []:
            return f"struct {name}"
        case [kind, _]:
            return f"struct variant {enum}::{kind[0].upper()}{kind[1:]}"
    return "struct variant"


# The real server takes even `{"type": "bogus"}`: what it does not know, it passes on to the model's service.
_ITEM_FIELDS: Mapping[str, Sequence[str]] = {
    "message": ("role", "content"),
    "function_call": ("name", "arguments", "call_id"),
    "function_call_output": ("call_id", "output"),
    "reasoning": ("summary",),
}


def check_items(items: Sequence[Any], kind: str) -> None:
    """Check what thread/inject_items is given; items of an unknown type pass. `kind`: what each must be.

    Raises:
        Refused: naming the index and what is wrong.
    """
    for index, item in enumerate(items):
        wrong = _item_fault(item, kind)
        if wrong is not None:
            raise Refused(f"items[{index}] is not a valid response item: {wrong}")


def _item_fault(item: object, kind: str) -> str | None:
    if not isinstance(item, dict):
        return f"invalid type: {shown(item)}, expected {kind}"
    if "type" not in item:
        return "missing field `type`"
    missing = [name for name in _ITEM_FIELDS.get(str(item["type"]), ()) if name not in item]
    if missing:
        return f"missing field `{missing[0]}`"
    if item["type"] == "message":
        return _message_fault(item)
    return None


def _message_fault(item: Mapping[str, Any]) -> str | None:
    if not isinstance(item["role"], str):
        return f"invalid type: {shown(item['role'])}, expected a string"
    if not isinstance(item["content"], list):
        return f"invalid type: {shown(item['content'])}, expected a sequence"
    return None
