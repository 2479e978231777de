"""What a server core gives to its edge, and when it is to die."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StderrLine:
    """A line for stderr."""

    text: str


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """The process ends with this status, at once."""

    status: int


@dataclass(frozen=True, slots=True)
class GarbageLine:
    """A line that is no message."""

    line: bytes


@dataclass(frozen=True, slots=True)
class Pieces:
    """From here on the output is written in pieces of these sizes in bytes, over and over; () as it comes."""

    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CrashAt:
    """The process dies at the request of this method that comes as the `count`-th, before it is answered."""

    method: str
    count: int = 1


Output = bytes | StderrLine | ProcessExit | GarbageLine | Pieces
