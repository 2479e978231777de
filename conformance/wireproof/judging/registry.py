"""Checks, each registered once under the id of the requirement that it judges.

A check is a function of exchanges that yields what it `Seen` wrong, and nothing if all is right. It does not name the
requirement: the registry stamps the id on what it yields. How many exchanges it gets depends on the row's stage: one;
for parity the two answers that are compared; for `together` all of a scenario.

    check = Checks()

    @check("my.greeting")
    def greeting(exchange):
        if "hello" not in (exchange.choice().text or ""):
            yield Seen("the answer does not greet", exchange.body_place)

A registry is a value: each module of checks has its own, `Checks(one, other)` joins them, and nothing is registered
anywhere else. So a module can be imported twice, and a test can judge with a check of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.violation import MemberFault, Members, Place, StatusDue, Violation

if TYPE_CHECKING:
    from wireproof.reading.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Seen:
    """What a check found wrong."""

    text: str
    """One sentence: what was seen, and what would be right."""
    place: Place | None = None
    """None: the exchange as a whole."""
    strict_only: bool = False
    """As in `Violation`."""
    kind: str = ""
    """As in `Violation`."""
    differs: str = ""
    """As in `Violation`."""
    spoils: frozenset[Facet] | None = None
    """As in `Violation`."""
    part: Facet | None = None
    """As in `Violation`: where this part is spoilt, it is not found."""
    hint: str = ""
    """As in `Violation`."""
    about: Members | None = None
    """As in `Violation`."""
    counts: bool = False
    """As in `Violation`."""
    status: StatusDue | None = None
    """As in `Violation`."""

    def of(self, requirement: str) -> Violation:
        """It as a violation of a requirement."""
        return Violation(
            requirement=requirement,
            seen=self.text,
            place=self.place,
            strict_only=self.strict_only,
            kind=self.kind,
            differs=self.differs,
            part=self.part,
            spoils=self.spoils,
            hint=self.hint,
            about=self.about,
            counts=self.counts,
            status=self.status,
        )


def about(part: Facet, seen: Iterable[Seen]) -> Iterable[Seen]:
    """What a check sees of one part of an answer."""
    return (replace(one, part=part) for one in seen)


def no_header(name: str, wanted: str = "", place: Place | None = None, *, strict_only: bool = False) -> Seen:
    """A header that is missing; `wanted` says what it should be, if that is known.

    `strict_only`: one that real clients do without.
    """
    about = Members(fault=MemberFault.NO_HEADER, names=(name,))
    text = f"there is no {name} header" + (f", it should {wanted}" if wanted else "")
    return Seen(text, place, strict_only=strict_only, spoils=UNTOUCHED, about=about)


Check = Callable[..., Iterable[Seen]]
"""A function of one exchange, of the two of a pair, or of all exchanges of a scenario."""
_C = TypeVar("_C", bound=Callable[..., Any])


class NotShownError(Exception):
    """What a check raises where an answer does not show whether its requirement is kept; the message says why."""


class CheckError(ValueError):
    """A check that cannot be registered; the message names its requirement."""


class Checks:
    """Checks by requirement. Called with ids, it is the decorator that registers a check under them."""

    def __init__(self, *parts: Checks) -> None:
        """The checks of all parts.

        Raises:
            CheckError: two of them have a check of the same requirement.
        """
        self._checks: dict[str, Check] = {}
        for part in parts:
            for requirement in part:
                self._add(requirement, part[requirement])

    def __call__(self, *requirements: str) -> Callable[[_C], _C]:
        """Register a function as the check of these requirements, and leave it as it is.

        Raises:
            CheckError: one of them has a check already.
        """

        def register(check: _C) -> _C:
            for requirement in requirements:
                self._add(requirement, check)
            return check

        return register

    def __iter__(self) -> Iterator[str]:
        """The requirements that have a check."""
        return iter(self._checks)

    def __contains__(self, requirement: str) -> bool:
        """Whether a requirement has a check."""
        return requirement in self._checks

    def __getitem__(self, requirement: str) -> Check:
        """The check of a requirement, as it was registered."""
        return self._checks[requirement]

    def look(self, requirement: str, *exchanges: Exchange) -> Iterator[Violation]:
        """What the check of a requirement finds in these exchanges; nothing if the requirement has no check."""
        for seen in self[requirement](*exchanges) if requirement in self else ():
            yield seen.of(requirement)

    def _add(self, requirement: str, check: Check) -> None:
        # A second one would replace the first without a word.
        if requirement in self._checks:
            raise CheckError(f"{requirement} has a check already; each requirement has one")
        self._checks[requirement] = check
