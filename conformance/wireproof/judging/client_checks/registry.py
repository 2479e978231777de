"""The checks of clients by the rows that they judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.judging.registry import Registry
from wireproof.reading.client_record import ClientExchange, ClientRecord
from wireproof.reading.client_requests import Path, place_in
from wireproof.wire.violation import Seen

if TYPE_CHECKING:
    from wireproof.model.scenario import Form


@dataclass(frozen=True, kw_only=True, slots=True)
class Occasion:
    """A place of a record at which a row could be broken."""

    exchange: int
    """The number of the request."""
    wrong: Seen | None = None
    """What is wrong there; None: the row is kept."""


def kept(exchange: ClientExchange) -> Occasion:
    """A place at which the row is kept."""
    return Occasion(exchange=exchange.number)


def broken(exchange: ClientExchange, wrong: str, path: Path | None = None, *, kind: str = "") -> Occasion:
    """A place at which it is broken; `path` leads to what is wrong in the body of the request."""
    return Occasion(exchange=exchange.number, wrong=Seen(wrong, place_in(exchange.transcript, path), kind=kind))


ClientCheck = Callable[[ClientRecord], Iterable[Occasion]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Registered:
    """A check, and why its row was not observed where it has no occasion."""

    look: ClientCheck
    unseen: str
    absent: Callable[[Form], str]
    """Why no answer of a form can give an occasion; "": it may."""


class ClientChecks(Registry[Registered]):
    """Checks by requirement. Called with an id, it is the decorator that registers one under it."""

    def __call__(
        self, requirement: str, *, unseen: str, absent: Callable[[Form], str] = lambda _: ""
    ) -> Callable[[ClientCheck], ClientCheck]:
        """Register a function as the check of a requirement, and leave it as it is; see `Registered`."""

        def register(look: ClientCheck) -> ClientCheck:
            self.register(requirement, Registered(look=look, unseen=unseen, absent=absent))
            return look

        return register
