"""What the grammars share: tables of transitions, and the faults that a single frame can have.

A grammar is one or more machines, each an enum of states, an enum of signs, and a table with one cell for every state
and sign. A cell is the next state, or a hole: the id of the requirement that such a stream breaks, the parts of the
answer that are lost by it, and the state in which reading goes on, since one fault must not hide the next. The values
of states and signs are words of English, so that a violation reads "choice 0: content, after a tool call".

A table is written as a literal, one row per sign and one column per state, since that is how it is read and compared
with the specification. A dict of dicts (h11 has one) shows a row per state only and hides a cell that was forgotten;
here a row of the wrong length raises when the module is imported, and a test asserts that every cell is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.violation import Place, Violation

State = TypeVar("State", bound=Enum)
Sign = TypeVar("Sign", bound=Enum)


@dataclass(frozen=True, slots=True)
class Hole(Generic[State]):
    """A place of a table where no sign may come: what it breaks, what is lost by it, and how to read on."""

    requirement: str
    """The id of the requirement that is broken."""
    then: State
    """The next state."""
    spoils: frozenset[Facet] = UNTOUCHED
    """The parts of the answer that are lost; none where clients read on, too."""
    strict_only: bool = False
    """Whether every measured client copes with it."""
    again: bool = False
    """Whether the sign is judged once more, in the next state: something was missing before it."""

    def violation(
        self, kind: str, place: Place | None = None, *, where: str = "", spoils: frozenset[Facet] | None = None
    ) -> Violation:
        """What comes into it, seen at a place; `spoils`: where that is known better than by the table."""
        return Violation(
            requirement=self.requirement,
            seen=f"{where}: {kind}" if where else kind,
            place=place,
            strict_only=self.strict_only,
            kind=kind,
            spoils=self.spoils if spoils is None else spoils,
        )


def note(requirement: str, then: State) -> Hole[State]:
    """A hole that every measured client copes with."""
    return Hole(requirement, then, strict_only=True)


Table = Mapping[tuple[State, Sign], State | Hole[State]]
"""(state, sign) → the next state, or what is broken."""


def table(states: Iterable[State], rows: Mapping[Sign, tuple[State | Hole[State], ...]]) -> Table[State, Sign]:
    """A table from its rows, whose cells stand in the order of the states.

    Raises:
        ValueError: A row has more or fewer cells than there are states.
    """
    columns = tuple(states)
    return {(state, sign): cell for sign, cells in rows.items() for state, cell in zip(columns, cells, strict=True)}


class FrameFault(Enum):
    """What can be wrong with one frame, whatever comes before and after it.

    Each grammar maps the faults that it knows to requirements. A fault that it leaves out is none there: streams of
    Responses have `event:` lines, streams of chat completions have no published event types. A last frame that is not
    closed is unreadable where a grammar does not name it apart.
    """

    UNREADABLE = "data that is not one JSON object"
    EMPTY_DATA = "a frame whose data: is empty"
    NO_DATA = "a frame without data: that is no comment"
    EVENT_LINE = "an event: line, which chat streams do not have"
    ERROR_SHAPE = "an error that is no object with a message"
    UNPUBLISHED = "an event of a type that is not published"
    MISNAMED = "an event: line that does not say the type of the data"
    OUT_OF_STEP = "a sequence_number that is not one more than the one before"
    UNCLOSED = "a last frame that no blank line closes"
