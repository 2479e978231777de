"""The checks of clients by the rows that they judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.judging.registry import CheckError
from wireproof.reading.client_record import ClientExchange, ClientRecord
from wireproof.reading.client_requests import Path, place_in

if TYPE_CHECKING:
    from wireproof.model.scenario import Form
    from wireproof.wire.violation import Place


@dataclass(frozen=True, kw_only=True, slots=True)
class Occasion:
    """A place of a record at which a row could be broken."""

    exchange: int
    """The number of the request."""
    wrong: str = ""
    """What was seen, and what would be right, as a sentence without its full stop; "": the row is kept there."""
    place: Place | None = None
    hint: str = ""
    """What to do about it, where the row's own hint is about other ways to break it."""
    kind: str = ""
    """In which way the row is broken, in words that are the same wherever that happens; "": in its only one."""


def kept(exchange: ClientExchange) -> Occasion:
    """A place at which the row is kept."""
    return Occasion(exchange=exchange.number)


def broken(
    exchange: ClientExchange, wrong: str, path: Path | None = None, *, kind: str = "", hint: str = ""
) -> Occasion:
    """A place at which it is broken; `path` leads to what is wrong in the body of the request."""
    place = place_in(exchange.transcript, path)
    return Occasion(exchange=exchange.number, wrong=wrong, place=place, kind=kind, hint=hint)


ClientCheck = Callable[[ClientRecord], Iterable[Occasion]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Registered:
    """A check, and why its row was not observed where it has no occasion."""

    look: ClientCheck
    unseen: str
    absent: Callable[[Form], str]
    """Why no answer of a form can give an occasion; "": it may."""


class ClientChecks:
    """Checks by requirement. Called with an id, it is the decorator that registers one under it."""

    def __init__(self, *parts: ClientChecks) -> None:
        """The checks of all parts.

        Raises:
            CheckError: two of them have a check of the same requirement.
        """
        self._checks: dict[str, Registered] = {}
        for part in parts:
            for requirement in part:
                self._add(requirement, part[requirement])

    def __call__(
        self, requirement: str, *, unseen: str, absent: Callable[[Form], str] = lambda _: ""
    ) -> Callable[[ClientCheck], ClientCheck]:
        """Register a function as the check of a requirement, and leave it as it is.

        Args:
            requirement: Its id.
            unseen: Why it was not observed, where it has no occasion.
            absent: Why no answer of a form can give it one, where it does not apply; "": it may.

        Raises:
            CheckError: it has a check already.
        """

        def register(look: ClientCheck) -> ClientCheck:
            self._add(requirement, Registered(look=look, unseen=unseen, absent=absent))
            return look

        return register

    def __iter__(self) -> Iterator[str]:
        """The requirements that have a check."""
        return iter(self._checks)

    def __contains__(self, requirement: object) -> bool:
        """Whether a requirement has a check."""
        return requirement in self._checks

    def __getitem__(self, requirement: str) -> Registered:
        """The check of a requirement."""
        return self._checks[requirement]

    def _add(self, requirement: str, check: Registered) -> None:
        if requirement in self._checks:
            raise CheckError(f"{requirement} has a check already; each requirement has one")
        self._checks[requirement] = check
