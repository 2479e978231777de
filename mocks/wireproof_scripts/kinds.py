"""What may stand in a field of a step: a type, a reader of what is written, and the same rule as JSON Schema.

A step declares its fields with the types at the end of this module (`seconds: Seconds`, `times: Positive = 1`), with
`bool`, or with a `Literal`. From these annotations the reader of script files, the error messages, the JSON Schema and
the table of steps in the docs are derived (`files.definitions`).

A reader is stricter than its schema in three points that JSON Schema cannot express or defines otherwise: text must
not hold lone surrogates, a number must be finite, and 1.0 is no whole number.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

MOST_BYTES = 64 * 2**20
"""What a step may write at once, for it is made in memory."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Kind:
    """What may stand in a field. Compared by identity, as an annotation must be hashable and a schema is not."""

    expected: str
    """What is right, as the error message says it after "expected"."""
    read: Callable[[Any], Any]
    """The value of the field for what is written there; None when that is wrong."""
    schema: Mapping[str, Any]
    """The same rule as JSON Schema."""
    choices: tuple[str, ...] = ()
    """The names to choose from, if the field takes a name; the error message suggests the nearest."""


def kind_of(annotation: Any) -> Kind:  # noqa: ANN401 - annotations have no common type
    """The kind that an annotation of a field stands for. `X | None` is the kind of X: None is a matter of the default.

    Raises:
        TypeError: the annotation stands for none.
    """
    match get_args(annotation):
        case (_, Kind() as kind):
            return kind
        case (inner, none) if none is NoneType:
            return kind_of(inner)
        case names if get_origin(annotation) is Literal:
            return one_of(*names)
    if annotation is bool:
        return FLAG
    raise TypeError(f"the annotation {annotation} is not one of wireproof_scripts.kinds, a Literal or bool")


def one_of(*names: str) -> Kind:
    """One of these names."""
    return Kind(
        expected=f"one of {', '.join(names)}",
        read=lambda value: value if value in names else None,  # a tuple, as what is written may not be hashable
        schema={"enum": list(names)},
        choices=names,
    )


def names_of(plural: str, *names: str) -> Kind:
    """A list of these names, or one of them without a list."""

    def read(value: object) -> tuple[str, ...] | None:
        values = [value] if isinstance(value, str) else value
        return tuple(values) if isinstance(values, list) and all(item in names for item in values) else None

    one = {"enum": list(names)}
    schema = {"anyOf": [{"type": "array", "items": one}, one]}
    return Kind(expected=f"a list of {plural}: {', '.join(names)}", read=read, schema=schema)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and _is_text(value) else None


def _is_text(value: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in value)


_BYTES = re.compile("[\udc80-\udcff]")  # what `surrogateescape` writes as the bytes 80 to FF


def _line(value: object) -> str | None:
    """Text in which lone surrogates are allowed as far as they stand for bytes."""
    return value if isinstance(value, str) and _is_text(_BYTES.sub("", value)) else None


def _texts(value: object) -> tuple[str, ...] | None:
    values = [value] if isinstance(value, str) else value
    if isinstance(values, list) and values and all(_text(item) is not None for item in values):
        return tuple(values)
    return None


def _arguments(value: object) -> str | None:
    if not isinstance(value, dict | list):
        return _text(value)
    try:
        return _text(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except ValueError:  # NaN or an infinity, which YAML can write and JSON cannot
        return None


def _json(value: object) -> str | None:
    text = _arguments(value)
    try:
        json.loads(text or "")  # of what is no text at all: "" is no JSON either
    except ValueError:
        return None
    return text


def _seconds(value: object) -> float | None:
    # bool is a subclass of int: without the check, `pause: true` would be a second.
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if number and 0 <= value < float("inf") else None  # type: ignore[operator,return-value]


def _whole(least: int, most: float = float("inf")) -> Callable[[object], int | None]:
    # Not isinstance: true is no number.
    return lambda value: value if type(value) is int and least <= value <= most else None


def _between(least: float, most: float) -> Callable[[object], Any]:
    def read(value: object) -> Any:  # noqa: ANN401 - a number, as it was written
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return value if number and least <= value <= most else None  # type: ignore[operator]

    return read


def _above(least: float) -> Callable[[object], float | None]:
    return lambda value: value if (_seconds(value) or least) > least else None  # type: ignore[return-value]


END = r"(?![\s\S])"
"""The end of a text, in a pattern. `$` is that in JavaScript; in Python it is also before a last line break."""
_HEADER_NAME = f"^[A-Za-z0-9!#$%&'*+.^_`|~-]+{END}"
_HEADER_VALUE = rf"^[\t -~\u00a0-\u00ff]*{END}"


def _headers(value: object) -> dict[str, str] | None:
    """Header names, and values that HTTP can write."""
    if not isinstance(value, dict):
        return None
    written = {name: str(one) if type(one) is int else one for name, one in value.items()}
    right = all(_fits(_HEADER_NAME, name) and _fits(_HEADER_VALUE, one) for name, one in written.items())
    return written if right else None


def _fits(pattern: str, value: object) -> bool:
    return isinstance(value, str) and re.search(pattern, value) is not None


def _retry_after(value: object) -> str | None:
    if isinstance(value, str):
        return value if _fits(_HEADER_VALUE, value) else None
    return None if _seconds(value) is None else str(value)


def _sizes(value: object) -> tuple[int, ...] | None:
    values = value if isinstance(value, list) else [value]
    read = tuple(_whole(1)(item) for item in values)
    return tuple(size for size in read if size) if read and all(read) else None


def _one_or_list(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


_STRING = {"type": "string"}
_FROM_ONE = {"type": "integer", "minimum": 1}
_TEXT_OR_JSON = {"type": ["string", "object", "array"]}

TEXT = Kind(expected="text", read=_text, schema=_STRING)
NAME = Kind(
    expected="text that is not empty", read=lambda value: _text(value) or None, schema={**_STRING, "minLength": 1}
)
FLAG = Kind(
    expected="true or false",
    read=lambda value: value if isinstance(value, bool) else None,
    schema={"type": "boolean"},
)

Text = Annotated[str, TEXT]
Name = Annotated[str, NAME]
Line = Annotated[str, Kind(expected="text", read=_line, schema=_STRING)]
"""Text that may hold the characters U+DC80 to U+DCFF, which stand for the bytes 80 to FF."""
Texts = Annotated[
    tuple[str, ...],
    Kind(expected="a text, or a list of texts", read=_texts, schema=_one_or_list(_STRING)),
]
Arguments = Annotated[str, Kind(expected="text, or a JSON object", read=_arguments, schema=_TEXT_OR_JSON)]
"""Text as it is, or JSON data that becomes its text."""
JsonText = Annotated[str, Kind(expected="JSON, or a JSON object", read=_json, schema=_TEXT_OR_JSON)]
"""As `Arguments`, but the text must be JSON, too."""
Seconds = Annotated[
    float,
    Kind(expected="a number of seconds, 0 or more", read=_seconds, schema={"type": "number", "minimum": 0}),
]
Rate = Annotated[
    float,
    Kind(expected="a number above 0", read=_above(0), schema={"type": "number", "exclusiveMinimum": 0}),
]
HttpStatus = Annotated[
    int,
    Kind(
        expected="an HTTP status from 200 to 599",
        read=_whole(200, 599),
        schema={"type": "integer", "minimum": 200, "maximum": 599},
    ),
]
Share = Annotated[
    float,
    Kind(expected="a number from 0 to 1", read=_between(0, 1), schema={"type": "number", "minimum": 0, "maximum": 1}),
]
_VALUE = {**_STRING, "pattern": _HEADER_VALUE}
Headers = Annotated[
    Mapping[str, str],
    Kind(
        expected="an object of header names and their values",
        read=_headers,
        schema={
            "type": "object",
            "propertyNames": {"pattern": _HEADER_NAME},
            "additionalProperties": {"anyOf": [_VALUE, {"type": "integer"}]},
        },
    ),
]
RetryAfter = Annotated[
    str,
    Kind(
        expected="a number of seconds, or a date",
        read=_retry_after,
        schema={"anyOf": [_VALUE, {"type": "number", "minimum": 0}]},
    ),
]
Count = Annotated[
    int,
    Kind(expected="a whole number, 0 or more", read=_whole(0), schema={"type": "integer", "minimum": 0}),
]
Positive = Annotated[int, Kind(expected="a whole number, 1 or more", read=_whole(1), schema=_FROM_ONE)]
Size = Annotated[
    int,
    Kind(
        expected=f"a number of bytes from 1 to {MOST_BYTES}",
        read=_whole(1, MOST_BYTES),
        schema={**_FROM_ONE, "maximum": MOST_BYTES},
    ),
]
Sizes = Annotated[
    tuple[int, ...],
    Kind(expected="a number of bytes, or a list of them, each 1 or more", read=_sizes, schema=_one_or_list(_FROM_ONE)),
]
