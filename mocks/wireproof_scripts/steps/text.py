"""Steps of text: each becomes deltas of the answer, piece by piece."""

# No `from __future__ import annotations` here: the annotations of the fields are read when the program runs.
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import ClassVar, Literal

from wireproof_scripts.kinds import Count, Positive, Text, Texts
from wireproof_scripts.steps.template import TemplateText
from wireproof_scripts.values import value

Phase = Literal["commentary", "final_answer"]


@value(frozen=True, slots=True)
class TextDelta:
    """One delta of the answer's text: what a step of text becomes when it is played."""

    text: str
    """It may hold lone surrogates, which must be written as JSON escapes."""
    choice: int | None = None
    """The choice that is sent with it; None if none is."""
    whole: bool = False
    """This is the complete text, not a delta."""
    phase: str | None = None
    """The phase of its message, where the script says it."""


@dataclass(frozen=True, slots=True)
class Say:
    """Text of the answer."""

    pieces: Texts
    """The text, one delta a piece."""
    times: Positive = 1
    """How many times all the pieces are sent."""
    choice: Count | None = None
    """The index of the choice that is sent with the text (`notifications: story` only); none is sent without it."""
    whole: bool = False
    """Send no deltas, only the complete text."""
    phase: Phase | None = None
    """What the message is to the model, which begins another one where this differs: what it says of its work, or the
    answer. Without it, text before a call is commentary (Codex and its service only)."""

    @property
    def text(self) -> str:
        """The complete text."""
        return "".join(self.pieces) * self.times

    def deltas(self) -> Iterator[TextDelta]:
        """The text as it is sent."""
        if self.whole:
            return iter((TextDelta(self.text, self.choice, whole=True, phase=self.phase),))
        # One after the other, so that a million deltas take no memory.
        pieces = chain.from_iterable(repeat(self.pieces, self.times))
        return map(TextDelta, pieces, repeat(self.choice), repeat(False), repeat(self.phase))  # noqa: FBT003 - `whole`


@dataclass(frozen=True, slots=True)
class Template:
    """Text of the answer with something of what was asked.

    `{user_text}` is the last message of the user, `{tool_result}` the last result of a tool; empty where there is none.
    `{{` and `}}` are braces.
    """

    text: TemplateText
    """The text; it is sent word by word."""

    def deltas(self) -> Iterator[TextDelta]:
        """The text as it is sent."""
        return map(TextDelta, re.findall(r"\s*\S+|\s+$", self.text))


@dataclass(frozen=True, slots=True)
class Surrogates:
    """Text in one delta, every character of it written as a JSON escape, those beyond U+FFFF as two surrogates."""

    text: Text
    """The text."""
    apart: bool = False
    """Send each UTF-16 code unit as a delta of its own, as if the text had been cut between surrogates."""
    app_server: ClassVar[str] = "the app-server spells its own output"

    def deltas(self) -> Iterator[TextDelta]:
        """The text as it is sent."""
        # Python joins no surrogates: each code unit becomes a character of its own, which JSON writes as one escape.
        units = self.text.encode("utf-16-be")
        text = "".join(chr(int.from_bytes(units[at : at + 2], "big")) for at in range(0, len(units), 2))
        return map(TextDelta, text if self.apart else (text,))
