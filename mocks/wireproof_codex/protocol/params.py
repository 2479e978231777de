"""Checks the parameters of requests, and refuses wrong ones with the texts of the real server's deserialiser (serde).

Only what the real server reads is checked: unknown fields pass, null in an optional field means that it is absent, and
the first wrong field is the one that the error names. Which parameters a method has is in `versions.params`.

Not pydantic: it reports fields in the order of a model, not of the text, and to import it takes longer than all else
that happens before the handshake.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

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


Check = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class ParameterCheck:
    """One parameter: how its value is checked, and whether it must be there."""

    check: Check
    required: bool = False


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


def _typed(kind: type, expected: str) -> Check:
    def check(value: object) -> None:
        if not isinstance(value, kind):
            raise _invalid(expected, value)

    return check


TEXT = _typed(str, "a string")
FLAG = _typed(bool, "a boolean")
LIST = _typed(list, "a sequence")
MAP = _typed(dict, "a map")


def list_of(check: Check) -> Check:
    """A check of lists whose every item passes `check`."""

    def check_all(value: object) -> None:
        if not isinstance(value, list):
            raise _invalid("a sequence", value)
        for item in value:
            check(item)

    return check_all


def _count(value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _invalid("u32", value)
    if not 0 <= value < 1 << 32:
        raise Refused(f"Invalid request: invalid value: integer `{value}`, expected u32")


COUNT: Check = _count


# serde joins two names with `or`, and lists three or more after `one of`.
def one_of(*names: str, maps: bool = False) -> Check:
    """A check of texts that must be one of `names`; `maps`: a map, whose key is such a name, passes unseen."""
    listed = " or ".join(f"`{name}`" for name in names)
    if len(names) != _TWO:
        listed = f"one of {', '.join(f'`{name}`' for name in names)}"

    def check(value: object) -> None:
        if maps and isinstance(value, dict):
            return
        if not isinstance(value, str):
            raise _invalid("string or map", value)
        if value not in names:
            raise Refused(f"Invalid request: unknown variant `{value}`, expected {listed}")

    return check


_TWO = 2


def struct(**fields: ParameterCheck) -> Check:
    """A check of objects with these fields."""

    def check(value: object) -> None:
        if not isinstance(value, dict):
            raise _invalid("a map", value)
        check_fields(fields, value)

    return check


Table = Mapping[str, Mapping[str, ParameterCheck]]


def check_fields(fields: Mapping[str, ParameterCheck], given: Mapping[str, Any]) -> None:
    """Check the values that are given, in their order, then what is missing.

    Raises:
        Refused: with the deserialiser's text.
    """
    # serde reads the members in the order of the text, and sees only at the end which ones are missing.
    for name, value in given.items():
        field = fields.get(name)
        if field is not None and (value is not None or field.required):  # null in an optional field: absent
            field.check(value)
    for name, field in fields.items():
        if field.required and name not in given:
            raise Refused(f"Invalid request: missing field `{name}`")


def tagged(kinds: Table, enum: str, content: str | None = None) -> Check:
    """A check of objects whose `type` is one of `kinds`; their fields stand beside it, or in the object `content`."""
    known = one_of(*kinds)

    def check(item: object) -> None:
        if not isinstance(item, dict):
            raise _invalid(f"{'internally' if content is None else 'adjacently'} tagged enum {enum}", item)
        if not isinstance(item.get("type"), str):
            raise Refused("Invalid request: missing field `type`")
        known(item["type"])
        if content is not None and content not in item:
            raise Refused(f"Invalid request: missing field `{content}`")
        inner = item if content is None else item[content]
        MAP(inner)
        check_fields(kinds[item["type"]], inner)

    return check


WITHOUT_PARAMS = frozenset(
    {
        "account/rateLimits/read",
        "account/usage/read",
        "configRequirements/read",
        "getUserAgent",
        "getUserSavedConfig",
        "userInfo",
    }
)
"""Methods whose `params` may be absent, and must be empty."""


def check_params(method: str, params: object, table: Table) -> Mapping[str, Any]:
    """The parameters of a request of a known method, checked by the table of its version.

    Raises:
        Refused: with the deserialiser's text.
    """
    if method in WITHOUT_PARAMS:
        if params:
            raise _invalid("unit", params)
        return {}
    # Absent or null: wrong even where every parameter is optional, as for model/list.
    if params is None:
        raise Refused("Invalid request: missing field `params`")
    if not isinstance(params, dict):
        raise _invalid("a map", params)
    check_fields(table.get(method, {}), params)
    return params


# The real server takes even `{"type": "bogus"}`: what it does not know, it passes on to the model's service.
_ITEM_FIELDS: Mapping[str, Sequence[str]] = {
    "message": ("role", "content"),
    "function_call": ("name", "arguments", "call_id"),
    "function_call_output": ("call_id", "output"),
    "reasoning": ("summary",),
}


def check_items(items: Sequence[Any]) -> None:
    """Check what thread/inject_items is given; items of an unknown type pass.

    Raises:
        Refused: naming the index and what is wrong.
    """
    for index, item in enumerate(items):
        wrong = _item_fault(item)
        if wrong is not None:
            raise Refused(f"items[{index}] is not a valid response item: {wrong}")


def _item_fault(item: object) -> str | None:
    if not isinstance(item, dict):
        return f"invalid type: {shown(item)}, expected internally tagged enum ResponseItem"
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
