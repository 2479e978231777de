"""A request's body as a JSON object, or the error that says what is wrong: size, media type, UTF-8, JSON, object.

What the backend could not read is refused here: its parser, serde_json, takes no more than 127 levels and no number
that is no double, and a message that it cannot read is dropped without an answer.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NoReturn

from wireproof_surfaces.errors import BAD_REQUEST, NOT_JSON, NOT_OBJECT, NOT_UTF8, TOO_LARGE, WRONG_MEDIA, ApiError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed import SupportsRead

PIECE = 65536
DEEPEST = 100
"""Levels of lists and objects in a body; what is passed on to the backend gets a few around it."""


def read_object(stream: SupportsRead[bytes], *, length: int | None, media_type: str, limit: int) -> Mapping[str, Any]:
    """The body's JSON object; `length` is what the request announces, None when it does not say.

    Raises:
        ApiError: 413, 415 or 400, whichever rule is broken first.
    """
    try:
        # The order is http.precedence.*: size, media type, then what is in it.
        data = _read(stream, length, limit)
    # A malformed chunk, or a body that breaks off: the client's fault.
    except (ValueError, OSError):
        raise ApiError(BAD_REQUEST, message="The request body could not be read to its end.") from None
    return object_in(data, media_type)


def object_in(data: bytes, media_type: str) -> Mapping[str, Any]:
    """The JSON object that these bytes are.

    Raises:
        ApiError: 415 or 400, whichever rule is broken first.
    """
    if media_type != "application/json":
        raise ApiError(WRONG_MEDIA)
    try:
        body = _decoded(data.decode())
    except UnicodeDecodeError:
        raise ApiError(NOT_UTF8) from None
    except (ValueError, RecursionError):
        raise ApiError(NOT_JSON) from None
    if not isinstance(body, dict):
        raise ApiError(NOT_OBJECT)
    # The count is cheap, and spares nearly every body the walk.
    if data.count(b"[") + data.count(b"{") > DEEPEST and _levels_below(body, DEEPEST):
        raise ApiError(NOT_JSON, message=f"The request body is nested more than {DEEPEST} levels deep.")
    return body


def _decoded(text: str) -> Any:  # noqa: ANN401 - any JSON
    """The JSON that a text is."""
    try:
        body, end = _SCAN(text, 0)
    except StopIteration:
        end = -1
    # With blanks around it, or none at all: what is wrong is said there.
    return body if end == len(text) else _DECODER.decode(text)


def _read(stream: SupportsRead[bytes], length: int | None, limit: int) -> bytes:
    pieces, size = [], 0
    if length is None or length <= limit:
        # A body in chunks announces no length, so the limit is looked at after each piece.
        while size <= limit and size != length and (piece := stream.read(PIECE)):
            pieces.append(piece)
            size += len(piece)
    if size <= limit and (length is None or length <= limit):
        return b"".join(pieces)
    # The rest is left where it is: the server ends the connection.
    raise ApiError(TOO_LARGE, message=f"The request body is larger than {limit} bytes.")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _double(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ApiError(NOT_JSON, message="The request body holds a number that is too large.")
    return number


def _integer(text: str) -> int:
    _double(text)
    return int(text)


def _levels_below(value: dict[str, Any] | list[Any], depth: int) -> bool:
    """Whether lists or objects are left below `depth` levels of them; `value` is one."""
    # Level by level, not by recursion: how deep it goes is the question. By their types alone, and with no function for
    # each: a request of an agent has thousands of values.
    level = [value]
    for _ in range(depth):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True


# parse_constant: Python would take NaN and Infinity, which are no JSON. One decoder: `json.loads` makes a new one for
# each text whose options are not the usual ones.
_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_double, parse_int=_integer)
_SCAN: Callable[[str, int], tuple[Any, int]] = _DECODER.scan_once  # type: ignore[attr-defined]
"""Reads the value that begins at a place, and says where it ends: as `decode` does behind blanks."""
