"""Ids of the answers of a run, all against each other: no two answers share theirs, and no two calls of a model.

The requests of a run all differ, so an answer with another's id is no repetition of it. Where both are answers of one
conversation, clients were seen to break: agents keep their steps by these ids. Where they are not, none was, and some
servers count the calls of each conversation from 0; that fails the level `strict` alone. The calls of a script have
the ids that the script gives them, which are the same wherever it is played.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.model.catalogue import row_of
from wireproof.model.dialect import Surface
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.fields import object_of, text_of
from wireproof.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof.reading.exchange import Exchange

CALL_AGAIN = "when a later call of the conversation has the id of an earlier one"
ANSWER_AGAIN = "when a later answer of the conversation has its id"
"""The kinds of what harms clients; lines of the rows about clients end so."""


def shared_ids(exchanges: Iterable[Exchange]) -> Iterator[tuple[Exchange, Violation]]:
    """For each row the first answer whose id, or that of one of its calls, an answer before it has.

    And the first that shares it with another one of its conversation.
    """
    owners: dict[tuple[str, str], list[Exchange]] = {}
    broken: set[tuple[str, str]] = set()
    for exchange in exchanges:
        for facet, what, ids in (
            (Facet.ID, "answer", _answer_ids(exchange)),
            (Facet.CALL_ID, "call", _call_ids(exchange)),
        ):
            row = row_of(facet, exchange.form)
            shared = [(one, owner) for one in sorted(ids) for owner in owners.get((what, one), ())]
            # What harms comes first.
            for same, owner in sorted(shared, key=lambda one: not _harm(what, exchange, one[1]))[:1]:
                kind = _harm(what, exchange, owner)
                scripted = what == "call" and exchange.asks is None and not kind
                if (row, kind) not in broken and not scripted:
                    broken.add((row, kind))
                    yield exchange, _violation(row, what, same, owner, kind, exchange)
            for one in ids:
                owners.setdefault((what, one), []).append(exchange)


def _harm(what: str, exchange: Exchange, owner: Exchange) -> str:
    """How an id that two answers share harms a client; "" where none was seen to mind."""
    if (exchange.scenario, exchange.form) != (owner.scenario, owner.form):
        return ""
    if what == "call":
        return CALL_AGAIN
    # Of Messages no client was seen to keep the ids.
    return "" if exchange.dialect.spec.surface is Surface.MESSAGES else ANSWER_AGAIN


def _violation(row: str, what: str, same: str, owner: Exchange, kind: str, exchange: Exchange) -> Violation:
    # Which answer it is, or which call, no client mistakes within one request.
    elsewhere = f"one of {owner.scenario.name} ({owner.form})"
    which = f"answer {owner.number + 1} of this conversation" if kind else elsewhere
    seen = f"the {what}'s id is {same!r}, which {which} has, too"
    return Violation(
        requirement=row, seen=seen, place=exchange.body_place, strict_only=not kind, kind=kind, spoils=UNTOUCHED
    )


def _call_ids(exchange: Exchange) -> set[str]:
    # A result of a function names it, and no id.
    if exchange.dialect.spec.functions:
        return set()
    return {call.id for call in exchange.answer.calls if call.id}


def _answer_ids(exchange: Exchange) -> set[str]:
    """The ids of an answer; several only where a row of their own is broken."""
    payloads = [payload for _, payload in exchange.read.payloads]
    # Most events have none; and a gateway's first chunk may have an empty one.
    holders = (object_of(one.get("response")) or object_of(one.get("message")) or one for one in payloads)
    return {name for holder in holders if (name := text_of(holder.get("id")))}
