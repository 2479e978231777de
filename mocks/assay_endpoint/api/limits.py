"""What a request asks of an answer that the reference proxy leaves to its backend: its length, and where it stops.

The default answer obeys; a script says what it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay_scripts.steps import Call, Finish, Say, Step, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LENGTHS = ("max_completion_tokens", "max_tokens", "max_output_tokens")


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Where an answer ends at the latest."""

    tokens: int | None = None
    """After so many pieces of text, each of which counts as a token; None: anywhere."""
    stops: tuple[str, ...] = ()
    """Before the first of these texts."""
    calls: int | None = None
    """After so many calls; None: any number."""


_LIMITING = (*_LENGTHS, "stop", "parallel_tool_calls")
_NO_LIMITS = Limits()


def limits_of(body: Mapping[str, Any]) -> Limits:
    """The limits that an acceptable request sets."""
    if body.keys().isdisjoint(_LIMITING):
        return _NO_LIMITS
    stop = body.get("stop") or ()
    tokens = next((body[name] for name in _LENGTHS if body.get(name) is not None), None)
    return Limits(
        tokens=tokens,
        stops=(stop,) if isinstance(stop, str) else tuple(filter(None, stop)),
        calls=1 if body.get("parallel_tool_calls") is False else None,
    )


def limited(part: tuple[Step, ...], limits: Limits) -> tuple[Step, ...]:
    """A part of the default answer within these limits."""
    match part:
        case (Say(pieces=pieces),) if limits.tokens is not None or limits.stops:
            kept = list(_before(pieces, limits.stops))
            if limits.tokens is None or len(kept) <= limits.tokens:
                return (Say(tuple(kept)),)
            cut = Say(tuple(kept[: limits.tokens]))
            return (cut, Usage(output=limits.tokens), Finish("length"))
        case (Call(), *_):
            return part[: limits.calls]
        case _:
            return part


def _before(pieces: tuple[str, ...], stops: tuple[str, ...]) -> Iterator[str]:
    """The pieces up to the first stop text, which may begin in one and end in another."""
    text = "".join(pieces)
    left = min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))
    for piece in pieces:
        if left > 0:
            yield piece[:left]
        left -= len(piece)
