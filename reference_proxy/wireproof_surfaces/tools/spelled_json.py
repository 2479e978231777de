"""JSON whose numbers keep their spelling: `1.50` stays `1.50` on the way through. Pure."""

from __future__ import annotations

import json
from typing import NoReturn


class Number(str):
    """A number as it was spelled."""

    __slots__ = ()


def loads(text: str) -> object:
    """The value, its numbers as `Number`.

    Raises:
        ValueError: the text is not JSON, or is nested too deeply.
    """
    try:
        # parse_constant: Python would take NaN and Infinity, which are no JSON.
        value: object = json.loads(text, parse_int=Number, parse_float=Number, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def compact(value: object) -> str:
    """The value without spaces, its numbers as they were spelled."""
    match value:
        case Number():
            return str(value)
        case dict():
            return "{" + ",".join(f"{compact(key)}:{compact(inner)}" for key, inner in value.items()) + "}"
        case list():
            return "[" + ",".join(compact(inner) for inner in value) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def same(one: str, other: str) -> bool:
    """Whether two texts are the same JSON value; texts that are no JSON are the same when they are equal."""
    try:
        # As Python's own numbers, so 1 and 1.0 are the same: two spellings of one call are one call.
        return _comparable(json.loads(one)) == _comparable(json.loads(other))
    except (ValueError, RecursionError):
        return one == other


def _comparable(value: object) -> object:
    """The value with its booleans marked: Python takes True for equal to 1."""
    match value:
        case bool():
            return ("boolean", value)
        case dict():
            return {key: _comparable(inner) for key, inner in value.items()}
        case list():
            return [_comparable(inner) for inner in value]
        case _:
            return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)
