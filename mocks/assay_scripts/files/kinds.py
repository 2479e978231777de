"""The words of the JSON form of scripts: the name of every step, and what may stand in each of its fields."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from assay_codex.versions.failures import CAUSES
from assay_scripts.steps import (
    Asks,
    Call,
    Code,
    Command,
    Crash,
    Cut,
    ErrorNotice,
    Fail,
    Finish,
    Gate,
    Hang,
    Open,
    Overload,
    Patch,
    Pause,
    Question,
    Raw,
    Reflect,
    Repeat,
    Retry,
    Say,
    Shape,
    Step,
    Surrogates,
    Think,
    Told,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

STEPS: Mapping[str, type[Step]] = {
    "say": Say,
    "think": Think,
    "pause": Pause,
    "gate": Gate,
    "open": Open,
    "call": Call,
    "command": Command,
    "patch": Patch,
    "code": Code,
    "question": Question,
    "retry": Retry,
    "usage": Usage,
    "finish": Finish,
    "fail": Fail,
    "crash": Crash,
    "hang": Hang,
    "overload": Overload,
    "error-notice": ErrorNotice,
    "repeat": Repeat,
    "surrogates": Surrogates,
    "cut": Cut,
    "raw": Raw,
    "reflect": Reflect,
}


@dataclass(frozen=True, slots=True)
class Kind:
    """What may stand in a field: in words, and a reader that gives the value or None."""

    words: str
    read: Callable[[Any], Any]
    choices: tuple[str, ...] = ()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and _is_text(value) else None


def _is_text(value: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in value)


def _texts(value: object) -> tuple[str, ...] | None:
    values = [value] if isinstance(value, str) else value
    if isinstance(values, list) and values and all(_text(item) is not None for item in values):
        return tuple(values)
    return None


def _shapes(value: object) -> tuple[str, ...] | None:
    values = [value] if isinstance(value, str) else value
    return tuple(values) if isinstance(values, list) and all(item in _SHAPES for item in values) else None


def _sizes(value: object) -> tuple[int, ...] | None:
    values = value if isinstance(value, list) else [value]
    read = tuple(_whole(1)(item) for item in values)
    return tuple(size for size in read if size) if read and all(read) else None


def _line(value: object) -> str | None:
    """Text whose lone surrogates, if it has any, all stand for bytes."""
    return value if isinstance(value, str) and _is_text(_BYTES.sub("", value)) else None


_BYTES = re.compile("[\udc80-\udcff]")


def _arguments(value: object) -> str | None:
    if not isinstance(value, dict | list):
        return _text(value)
    try:
        return _text(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except ValueError:  # a number that JSON has not
        return None


def _json(value: object) -> str | None:
    text = _arguments(value)
    try:
        json.loads(text or "")
    except ValueError:
        return None
    return text


def _seconds(value: object) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if number and 0 <= value < float("inf") else None  # type: ignore[operator,return-value]


def _whole(least: int) -> Callable[[Any], int | None]:
    return lambda value: value if type(value) is int and value >= least else None


def _choice(*names: str) -> Kind:
    return Kind(f"one of {', '.join(names)}", lambda value: value if value in names else None, names)


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


_SHAPES: tuple[str, ...] = get_args(Shape)
TOLD = _choice(*get_args(Told))
TEXT = Kind("text", _text)
NAME = Kind("text that is not empty", lambda value: _text(value) or None)
_SECONDS = Kind("a number of seconds, 0 or more", _seconds)
_COUNT = Kind("a whole number, 0 or more", _whole(0))
_TIMES = Kind("a whole number, 1 or more", _whole(1))
_FLAG = Kind("true or false", _flag)
_CAUSE = _choice(*CAUSES)
_ASKS = _choice(*get_args(Asks))

KINDS: Mapping[type[Step], Mapping[str, Kind]] = {
    Say: {"pieces": Kind("a text, or a list of texts", _texts), "times": _TIMES, "choice": _COUNT, "whole": _FLAG},
    Think: {
        "text": TEXT,
        "pieces": Kind("a list of texts", _texts),
        "raw": Kind("a list of texts", _texts),
        "encrypted": TEXT,
    },
    Pause: {"seconds": _SECONDS},
    Gate: {"name": NAME, "timeout": _SECONDS, "late": TEXT},
    Open: {"name": NAME},
    Call: {
        "id": TEXT,
        "name": NAME,
        "arguments": Kind("text, or a JSON object", _arguments),
        "shape": _choice(*_SHAPES),
        "also": Kind(f"a list of shapes: {', '.join(_SHAPES)}", _shapes),
        "pieces": Kind("a list of texts", _texts),
        "late_id": _FLAG,
        "unfinished": _FLAG,
        "choice": _COUNT,
    },
    Command: {
        "id": NAME,
        "command": NAME,
        "output": TEXT,
        "pieces": Kind("a list of texts", _texts),
        "stderr": _FLAG,
        "status": _COUNT,
        "reason": TEXT,
        "asks": _ASKS,
    },
    Patch: {"id": NAME, "path": NAME, "content": TEXT, "asks": _ASKS},
    Code: {
        "id": NAME,
        "source": TEXT,
        "tool": TEXT,
        "arguments": Kind("JSON, or a JSON object", _json),
        "output": TEXT,
    },
    Question: {
        "id": NAME,
        "question": TEXT,
        "header": TEXT,
        "options": Kind("a list of texts", _texts),
        "asks": _ASKS,
    },
    Retry: {"attempt": _TIMES, "attempts": _COUNT, "details": TEXT},
    Usage: {**dict.fromkeys(("input", "output", "cached", "reasoning"), _COUNT), "unknown": _FLAG},
    Finish: {"reason": _choice("stop", "length", "content_filter"), "choice": _COUNT},
    Fail: {"cause": _CAUSE},
    Crash: {"status": _COUNT},
    Hang: {},
    Overload: {"times": _TIMES},
    ErrorNotice: {"cause": _CAUSE},
    Repeat: {"last": _TIMES},
    Surrogates: {"text": TEXT, "apart": _FLAG},
    Cut: {"sizes": Kind("a number of bytes, or a list of them, each 1 or more", _sizes)},
    Raw: {"text": Kind("text", _line), "times": _TIMES},
    Reflect: {"what": _choice("received", "turns"), "wait": _SECONDS},
}
