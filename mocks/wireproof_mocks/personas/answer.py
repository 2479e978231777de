"""What clients make of an answer: its text, its calls, and how it ended. And what stops them: `NotServedError`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


class NotServedError(Exception):
    """The client cannot go on; the text says what it met and what it would have needed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientCall:
    """A tool call as a client understands it."""

    name: str
    arguments: Json
    id: str = ""
    """Empty where the form has none."""
    raw: str = ""
    """The text of the arguments, as it is sent back with the history."""

    def __str__(self) -> str:
        """The call on one line."""
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


@dataclass(frozen=True, kw_only=True, slots=True)
class CallResult:
    """What came of a call: the text that the model is to read."""

    call: ClientCall
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class UnderstoodAnswer:
    """One answer of the proxy, as the client understands it."""

    text: str = ""
    calls: tuple[ClientCall, ...] = ()
    finish: str | None = None
    """The finish reason, or the status of a response; None where none came."""
