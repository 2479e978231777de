"""A violation: which requirement the proxy broke, where, and what was seen there."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields
from enum import StrEnum

from wireproof.wire.facet import UNTOUCHED, Facet


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A range of bytes in the body of a response, or of a request."""

    offset: int
    """Where it begins."""
    length: int
    """How many bytes it has; 0 for the end of the body."""
    frame: int | None = None
    """The SSE frame that it is in, counted from 0; None outside streams."""
    in_request: bool = False
    """The body is that of the request: what is wrong with a client stands there."""


class MemberFault(StrEnum):
    """What is wrong with members of an answer, or with its headers."""

    EXTRA = "not among the published fields"
    MISSING = "missing"
    MISTYPED = "of a wrong type"
    NO_HEADER = "missing among the headers"


@dataclass(frozen=True, kw_only=True, slots=True)
class Members:
    """Members of an answer, or headers, with one fault of form: it may break several requirements."""

    fault: MemberFault
    names: tuple[str, ...]

    def __str__(self) -> str:
        """As a clause of a sentence."""
        return f"{' and '.join(self.names)} {'is' if len(self.names) == 1 else 'are'} {self.fault}"


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusDue:
    """An HTTP status, where another one was due."""

    came: int
    due: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What is wrong, before it is known which requirement that breaks."""

    seen: str
    """What was seen, and what would be right, in one sentence."""
    place: Place | None = None
    """Where; None for the exchange as a whole."""
    _: KW_ONLY
    strict_only: bool = False
    """It breaks the letter of the requirement and harms no real client: at the level `compat` it is a note."""
    hint: str = ""
    """What to do about it, where the row's own hint is about other ways to break the requirement; "": that one fits."""
    kind: str = ""
    """In which way it breaks the requirement, in words that are the same wherever that happens; "": in its only one."""
    differs: str = ""
    """In what a text differs, if in nothing else (`judging.checks.diff`); "": in more than that, or it is no text."""
    part: Facet | None = None
    """The part of the answer that it is about, where its row speaks of several."""
    spoils: frozenset[Facet] | None = None
    """The parts of the answer that are lost by it. None: its own part, or those that its row names."""
    about: Members | None = None
    """What it is about, where it is such a fault of form; None: it is another one."""
    counts: bool = False
    """It rests on what an answer counts as its usage."""
    status: StatusDue | None = None
    """What was answered instead of what, where the status is what is wrong; None: something else is."""

    def of(self, requirement: str) -> Violation:
        """It as a violation of a requirement."""
        return Violation(**{one.name: getattr(self, one.name) for one in fields(self)}, requirement=requirement)


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation(Seen):
    """One broken requirement."""

    requirement: str
    """Its id."""


def fault(
    requirement: str,
    kind: str,
    seen: str,
    spoils: frozenset[Facet] = UNTOUCHED,
    *,
    place: Place | None = None,
    strict_only: bool = False,
) -> Violation:
    """A violation that grammars find: it is of a kind, and spoils nothing unless it is said what."""
    return Violation(requirement=requirement, seen=seen, place=place, strict_only=strict_only, kind=kind, spoils=spoils)
