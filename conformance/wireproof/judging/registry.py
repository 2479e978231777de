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

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.violation import MemberFault, Members, Place, Seen, Violation

if TYPE_CHECKING:
    from wireproof.reading.exchange import Exchange

__all__ = ["Check", "CheckError", "Checks", "NotShownError", "Registry", "Seen", "about", "no_header"]


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
_R = TypeVar("_R")


class NotShownError(Exception):
    """What a check raises where an answer does not show whether its requirement is kept; the message says why."""


class CheckError(ValueError):
    """A check that cannot be registered; the message names its requirement."""


class Registry(dict[str, _R]):
    """What is registered under each requirement: no second time, which would replace the first without a word."""

    def __init__(self, *parts: Mapping[str, _R]) -> None:
        """What all parts have.

        Raises:
            CheckError: two of them have a check of the same requirement.
        """
        super().__init__()
        for part in parts:
            for requirement, registered in part.items():
                self.register(requirement, registered)

    def register(self, requirement: str, registered: _R) -> None:
        """Register something under a requirement.

        Raises:
            CheckError: it has a check already.
        """
        if requirement in self:
            raise CheckError(f"{requirement} has a check already; each requirement has one")
        self[requirement] = registered


class Checks(Registry[Check]):
    """Checks by requirement. Called with ids, it is the decorator that registers a check under them."""

    def __call__(self, *requirements: str) -> Callable[[_C], _C]:
        """Register a function as the check of these requirements, and leave it as it is."""

        def register(check: _C) -> _C:
            for requirement in requirements:
                self.register(requirement, check)
            return check

        return register

    def look(self, requirement: str, *exchanges: Exchange) -> Iterator[Violation]:
        """What the check of a requirement finds in these exchanges; nothing if the requirement has no check."""
        for seen in self[requirement](*exchanges) if requirement in self else ():
            yield seen.of(requirement)
