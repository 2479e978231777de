"""What may stand in a field of a step: a type, a reader of what is written, and the same rule as JSON Schema.

A step declares its fields with the types at the end of this module (`seconds: Seconds`, `times: Positive = 1`), with
`bool`, or with a `Literal`. From these annotations the reader of script files, the error messages, the JSON Schema and
the table of steps in the docs are derived (`files.definitions`).

A reader is stricter than its schema in three points that JSON Schema cannot express or defines otherwise: text must
not hold lone surrogates, a number must be finite, and 1.0 is no whole number.

Not pydantic: its import alone costs a mock that is started with a file more time than reading the file.
"""

import json
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from types import NoneType
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args, get_origin

from wireproof_scripts.json_text import parse_json

MOST_BYTES = 64 * 2**20
"""What a step may write at once, for it is made in memory."""
MOST = 2**31 - 1
"""The largest whole number that each protocol can carry over which scripts are played."""
MOST_FIELDS = 2**29 - 1
"""The largest number of a field in protocol buffers."""
MOST_SECONDS = 10**9
"""31 years; the system waits for no time that is much longer."""

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Kind(Generic[T_co]):
    """What may stand in a field. Compared by identity, as an annotation must be hashable and a schema is not."""

    expected: str
    """What is right, as the error message says it after "expected"."""
    read: Callable[[object], T_co | None]
    """The value of the field for what is written there; None when that is wrong."""
    schema: Mapping[str, Any]
    """The same rule as JSON Schema."""
    choices: tuple[str, ...] = ()
    """The names to choose from, if the field takes a name; the error message suggests the nearest."""


def kind_of(annotation: object) -> Kind[Any]:
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


# Kinds of kinds, each of which makes the reader and the schema from one rule.


def one_of(*names: str) -> Kind[str]:
    """One of these names."""
    return Kind(
        expected=f"one of {', '.join(names)}",
        read=lambda value: value if isinstance(value, str) and value in names else None,
        schema={"enum": list(names)},
        choices=names,
    )


def names_of(plural: str, *names: str) -> Kind[tuple[str, ...]]:
    """A list of these names, or one of them without a list."""
    return _one_or_list(f"a list of {plural}: {', '.join(names)}", one_of(*names), least=0)


def _one_or_list(expected: str, one: Kind[T_co], *, least: int) -> Kind[tuple[T_co, ...]]:
    """A list of at least `least` of a kind, or one without a list."""

    def read(value: object) -> tuple[T_co, ...] | None:
        written = value if isinstance(value, list) else [value]
        values = tuple(right for item in written if (right := one.read(item)) is not None)
        return values if len(values) == len(written) >= least else None

    several = {"type": "array", "items": one.schema, **({"minItems": least} if least else {})}
    return Kind(expected=expected, read=read, schema={"anyOf": [one.schema, several]})


_BOUNDS: Mapping[str, Callable[[Any, float], bool]] = {
    "minimum": operator.ge,
    "exclusiveMinimum": operator.gt,
    "maximum": operator.le,
}


def _number(expected: str, **bounds: float) -> Kind[float]:
    """A finite number within bounds, which are named as in JSON Schema."""

    def read(value: object) -> float | None:
        # By exact type, as a bool is an int in Python: `pause: true` would be a second.
        if type(value) not in {int, float} or not isinstance(value, int | float) or not value < inf:
            return None
        return value if all(_BOUNDS[name](value, bound) for name, bound in bounds.items()) else None

    return Kind(expected=expected, read=read, schema={"type": "number", **bounds})


def _whole(expected: str, **bounds: int) -> Kind[int]:
    """A whole number within bounds, which are named as in JSON Schema."""
    number = _number(expected, **bounds)

    def read(value: object) -> int | None:
        return value if isinstance(value, int) and number.read(value) is not None else None

    return Kind(expected=expected, read=read, schema={**number.schema, "type": "integer"})


def _text(expected: str, is_right: Callable[[str], object] = lambda _: True, **rule: object) -> Kind[str]:
    """Text that is right, and the rule for that in JSON Schema; lone surrogates are never."""

    def read(value: object) -> str | None:
        return value if isinstance(value, str) and is_unicode(value) and is_right(value) else None

    return Kind(expected=expected, read=read, schema={"type": "string", **rule})


def is_unicode(value: str) -> bool:
    """Whether UTF-8, and so JSON, can hold a text: it has no lone surrogates."""
    return not any("\ud800" <= char <= "\udfff" for char in value)


def _matching(expected: str, pattern: str) -> Kind[str]:
    return _text(expected, re.compile(pattern).search, pattern=pattern)


# Single kinds

END = r"(?![\s\S])"
"""The end of a text, in a pattern. `$` is that in JavaScript; in Python it is also before a last line break."""

TEXT = _text("text")
NAME = _text("text that is not empty", bool, minLength=1)
FLAG = Kind(
    expected="true or false",
    read=lambda value: value if isinstance(value, bool) else None,
    schema={"type": "boolean"},
)
_SECONDS = _number(f"a number of seconds from 0 to {MOST_SECONDS}", minimum=0, maximum=MOST_SECONDS)
_FROM_ONE = _whole(f"a whole number from 1 to {MOST}", minimum=1, maximum=MOST)
_INTEGER = _whole("a whole number")
_HEADER_NAME = _matching("a header's name", f"^[A-Za-z0-9!#$%&'*+.^_`|~-]+{END}")
_HEADER_VALUE = _matching("a header's value", rf"^[\t -~\u00a0-\u00ff]*{END}")
_BYTES = re.compile("[\udc80-\udcff]")  # what `surrogateescape` writes as the bytes 80 to FF


def _line(value: object) -> str | None:
    """Text in which lone surrogates are allowed as far as they stand for bytes."""
    return value if isinstance(value, str) and is_unicode(_BYTES.sub("", value)) else None


def _arguments(value: object) -> str | None:
    if not isinstance(value, dict | list):
        return TEXT.read(value)
    try:
        return TEXT.read(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except ValueError:  # NaN or an infinity, which YAML can write and JSON cannot
        return None


def _json(value: object) -> str | None:
    text = _arguments(value)
    try:
        parse_json(text or "")  # of what is no text at all: "" is no JSON either
    except ValueError:
        return None
    return text


def _as_text(value: object, *kinds: Kind[object]) -> str | None:
    """What is written, as text, if it is of one of the kinds."""
    return str(value) if any(kind.read(value) is not None for kind in kinds) else None


def _headers(value: object) -> dict[str, str] | None:
    """Header names, and values that HTTP can write."""
    if not isinstance(value, dict) or not all(_HEADER_NAME.read(name) for name in value):
        return None
    values = {name: text for name, one in value.items() if (text := _as_text(one, _HEADER_VALUE, _INTEGER)) is not None}
    return values if len(values) == len(value) else None


_TEXT_OR_JSON = {"type": ["string", "object", "array"]}
_HEADERS_SCHEMA = {
    "type": "object",
    "propertyNames": {"pattern": _HEADER_NAME.schema["pattern"]},
    "additionalProperties": {"anyOf": [_HEADER_VALUE.schema, _INTEGER.schema]},
}

Text = Annotated[str, TEXT]
Name = Annotated[str, NAME]
Line = Annotated[str, Kind(expected="text", read=_line, schema=TEXT.schema)]
"""Text that may hold the characters U+DC80 to U+DCFF, which stand for the bytes 80 to FF."""
Texts = Annotated[tuple[str, ...], _one_or_list("a text, or a list of texts", TEXT, least=1)]
Arguments = Annotated[str, Kind(expected="text, or a JSON object", read=_arguments, schema=_TEXT_OR_JSON)]
"""Text as it is, or JSON data that becomes its text."""
JsonText = Annotated[str, Kind(expected="JSON, or a JSON object", read=_json, schema=_TEXT_OR_JSON)]
"""As `Arguments`, but the text must be JSON, too."""
Seconds = Annotated[float, _SECONDS]
Rate = Annotated[float, _number("a number above 0", exclusiveMinimum=0)]
Share = Annotated[float, _number("a number from 0 to 1", minimum=0, maximum=1)]
Count = Annotated[int, _whole(f"a whole number from 0 to {MOST}", minimum=0, maximum=MOST)]
Positive = Annotated[int, _FROM_ONE]
Size = Annotated[int, _whole(f"a number of bytes from 1 to {MOST_BYTES}", minimum=1, maximum=MOST_BYTES)]
Sizes = Annotated[
    tuple[int, ...], _one_or_list(f"a number of bytes from 1 to {MOST}, or a list of them", _FROM_ONE, least=1)
]
ExitStatus = Annotated[int, _whole("an exit status from 0 to 255", minimum=0, maximum=255)]
FieldNumber = Annotated[int, _whole(f"a field's number from 1 to {MOST_FIELDS}", minimum=1, maximum=MOST_FIELDS)]
HttpStatus = Annotated[int, _whole("an HTTP status from 200 to 599", minimum=200, maximum=599)]
Headers = Annotated[
    Mapping[str, str],
    Kind(expected="an object of header names and their values", read=_headers, schema=_HEADERS_SCHEMA),
]
RetryAfter = Annotated[
    str,
    Kind(
        expected="a number of seconds, or a date",
        read=lambda value: _as_text(value, _HEADER_VALUE, _SECONDS),
        schema={"anyOf": [_HEADER_VALUE.schema, _SECONDS.schema]},
    ),
]
