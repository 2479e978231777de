"""Lines and envelopes of the app-server: one JSON object per line, JSON-RPC without its `jsonrpc` member.

The envelope is read as the real server reads it: whatever has an id (text or 64-bit integer) and a method is a request;
a method without such an id is a notification, also when the id is 1.5 or null; then come answers. Anything else is not
answered, only mentioned on stderr. Input that is not UTF-8 ends the process. Keys are written in the order
of the real server (`error` before `id`), text as raw UTF-8.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import isfinite
from typing import Final

from wireproof_scripts.json_text import is_too_deep

Id = str | int

_I64 = range(-(2**63), 2**63)  # an id beyond is no id, which makes the message a notification
_INTEGERS = range(-(2**63), 2**64)  # what the real server's parser keeps as integers


class UnreadableLineError(ValueError):
    """A line that is no message; the text says why, as far as stderr needs it."""


class NotUtf8Error(ValueError):
    """Input bytes that are not UTF-8."""


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """A request of the client; `params` is None when it is absent or null."""

    id: Id
    method: str
    params: object


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification of the client."""

    method: str
    params: object


@dataclass(frozen=True, slots=True)
class ClientReply:
    """The client's answer to a request of the server; exactly one of the two is meant (`error` None: `result`)."""

    id: Id
    result: object
    error: object


Message = ClientRequest | Notification | ClientReply


class LineSplitter:
    """Bytes in any pieces in, whole lines out; the text of a line without its end."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._searched = 0  # a long line in many pieces is searched for its end only once

    def feed(self, piece: bytes) -> list[bytes]:
        """Take `piece` and return the lines that it completes."""
        self._rest += piece
        if self._rest.find(b"\n", self._searched) < 0:
            self._searched = len(self._rest)
            return []
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest, self._searched = bytearray(rest), len(rest)
        return lines

    def end(self) -> list[bytes]:
        """The last line when it had no end, else nothing."""
        rest, self._rest = bytes(self._rest), bytearray()
        return [rest] if rest else []


def read(line: bytes) -> Message:
    """The message on `line`.

    Raises:
        NotUtf8Error: the bytes are not UTF-8.
        UnreadableError: no JSON, or no message.
    """
    try:
        # A carriage return at the end may stay: to JSON it is white space, so CRLF is taken, as by the real server.
        text = line.decode()
    except UnicodeDecodeError as error:
        raise NotUtf8Error("stream did not contain valid UTF-8") from error
    try:
        data = parse(text)
        _check(data, text)
    except ValueError as error:
        raise UnreadableLineError(str(error)) from error
    message = _message(data) if isinstance(data, dict) else None
    if message is None:
        raise UnreadableLineError("data did not match any variant of untagged enum JSONRPCMessage")
    return message


def parse(text: str) -> object:
    """The value of a JSON text, read as strictly as the real server's parser does.

    Python's own reader takes NaN and Infinity, makes infinity of 1e999, and keeps integers of any length. Here the
    first two are errors, and an integer beyond 64 bits becomes a float, so that all that was read can be written.

    Raises:
        ValueError: it is no JSON (json.JSONDecodeError with the place, where the place is known).
    """
    try:
        return _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("recursion limit exceeded") from error


def _check(data: object, text: str) -> None:
    """Refuse what Python reads as JSON and the real server does not."""
    if "\\" in text:
        _ENCODER.encode(data).encode()  # an escaped lone surrogate is no text
    if is_too_deep(data, text):
        raise ValueError("recursion limit exceeded")


def _message(data: dict[str, object]) -> Message | None:
    method, identity = data.get("method"), _id(data.get("id"))
    # The order is that of the real server's untagged enum: request, notification, result, error; the first that fits.
    if isinstance(method, str):
        params = data.get("params")
        return Notification(method, params) if identity is None else ClientRequest(identity, method, params)
    if identity is not None and ("result" in data or isinstance(data.get("error"), dict)):
        return ClientReply(identity, data.get("result"), None if "result" in data else data["error"])
    return None


def _id(value: object) -> Id | None:
    if isinstance(value, str) or (type(value) is int and value in _I64):  # not isinstance: true is no id
        return value
    return None


def _constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _float(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise ValueError("number out of range")
    return value


def _int(digits: str) -> int | float:
    value = int(digits) if len(digits) <= _MOST_DIGITS else None
    return value if value is not None and value in _INTEGERS else _float(digits)


_MOST_DIGITS = 20  # of any integer in `_INTEGERS`, and far from where Python refuses to read one
_DECODER: Final = json.JSONDecoder(parse_constant=_constant, parse_float=_float, parse_int=_int)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ASCII: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def _write(data: object) -> bytes:
    """The line of a message: always one line of JSON, whatever a script made the message hold."""
    try:
        return _ENCODER.encode(data).encode() + b"\n"
    except UnicodeEncodeError:  # half a character has no UTF-8: every character beyond ASCII is escaped instead
        return _ASCII.encode(data).encode() + b"\n"
    except ValueError:
        return _write(_finite(data))


def _finite(value: object) -> object:
    """The value with null for every NaN and infinity, as the real server's writer spells them."""
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def result(identity: Id, value: object) -> bytes:
    """The line that answers a request."""
    return _write({"id": identity, "result": value})


def error(identity: Id, code: int, message: str, data: object = None) -> bytes:
    """The line that refuses a request."""
    known = {} if data is None else {"data": data}  # before `message`, as in the real server
    return _write({"error": {"code": code, **known, "message": message}, "id": identity})


# Ids of the two directions share nothing: a client may use the same numbers for its own requests.
def request(method: str, identity: int, params: object) -> bytes:
    """The line of a request to the client."""
    return _write({"method": method, "id": identity, "params": params})


def notification(method: str, params: object, emitted_at_ms: int | None) -> bytes:
    """The line of a notification. `emitted_at_ms` is written beside `params`; None leaves it out."""
    if emitted_at_ms is None:
        return _write({"method": method, "params": params})
    return _write({"method": method, "params": params, "emittedAtMs": emitted_at_ms})  # answers and requests have none
