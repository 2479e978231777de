"""JSON as it is sent: keys in their order, characters unescaped, no blanks, one line."""

from __future__ import annotations

import json
from functools import lru_cache
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Json = dict[str, Any]
"""An object, as JSON has it."""

# One encoder: `json.dumps` makes a new one for each value whose options are not the usual ones.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
# What it makes for each value itself, in C, made once: half the cost of most. Not every Python has it.
_MAKE = getattr(json.encoder, "c_make_encoder", None)
_IN_C = _MAKE and _MAKE(None, _ENCODER.default, encode_basestring, None, ":", ",", False, False, True)  # noqa: FBT003 - a function in C

string = encode_basestring
"""A text as JSON, quotes and all; the same as `written` of it, at a tenth of the cost."""


def written(value: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> str:
    """An object, or a list of them, as JSON."""
    return _ENCODER.encode(value) if _IN_C is None else "".join(_IN_C(value, 0))


def members(payload: Mapping[str, Any]) -> str:
    """The members of an object that is nearly always the same, as they stand behind others; its values are texts."""
    return _members(tuple(payload.items()))


@lru_cache
def _members(items: tuple[tuple[str, str], ...]) -> str:
    return "".join([f",{string(name)}:{string(text)}" for name, text in items])


def encoded(payload: Mapping[str, Any]) -> bytes:
    """An object as JSON in UTF-8."""
    # replace: half a surrogate pair has no UTF-8.
    return written(payload).encode(errors="replace")
