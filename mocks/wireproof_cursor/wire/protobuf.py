"""Fields of messages that have no schema here: the details of errors, which the compiled messages leave out."""

from __future__ import annotations


def field(number: int, value: int | str | bytes) -> bytes:
    """One encoded field: a number as a varint, all else as its length and its bytes."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])
