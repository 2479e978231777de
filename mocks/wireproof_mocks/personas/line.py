"""What a persona prints of a conversation: one line for each thing that it sent, understood or did."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class LineKind(StrEnum):
    """What a line is about."""

    SENT = "sent"
    """A request."""
    UNDERSTOOD = "understood"
    """What the client made of the answer."""
    TOOL = "tool"
    """What came of a tool call."""
    LOG = "log"
    """A line that the real client writes to its console."""
    NOTICE = "notice"
    """A message that the real client shows to its user."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line."""

    kind: LineKind
    text: str


Print = Callable[[Line], object]
"""Where the lines go."""

SHOWN = 160
"""How many characters of a text a line shows."""


def short(text: str) -> str:
    """A text on one line, cut where it is long."""
    one = visible(" ".join(text.split()))
    return one if len(one) <= SHOWN else f"{one[: SHOWN - 1]}…"


def visible(text: str) -> str:
    """A text with everything escaped that a terminal would obey, turn around or fail at.

    A model writes the names and arguments that a user is to approve: they must not be able to draw over the question.
    """
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def as_json(value: object) -> str:
    """A value as JSON, as it is shown."""
    return visible(json.dumps(value, ensure_ascii=False))
