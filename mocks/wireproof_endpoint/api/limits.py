"""What a request asks of an answer that the reference proxy leaves to its backend: its length, its end, reasoning.

The default answer obeys; a script says what it says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from wireproof_scripts.steps import Call, Finish, Say, Step, Think, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

REASONING = 4
"""Tokens of the default answer's reasoning, where one is asked for."""
_SUMMARY = "I look at what was said last, and answer that."
_PIECE = re.compile(r"\W*\w+|\W+$")
"""A word of a call's arguments, with the signs before it, or the signs at their end: a token."""
_LENGTHS = ("max_completion_tokens", "max_tokens", "max_output_tokens")


def settings(
    temperature: float | None = None, stops: Iterable[str] | None = (), tokens: int | None = None
) -> Mapping[str, Any]:
    """Settings in the names of chat completions, whatever the surface calls them. `stops`: None where it has none."""
    return {"temperature": temperature, "max_tokens": tokens} | ({} if stops is None else {"stop": [*stops]})


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerLimits:
    """Where an answer ends at the latest."""

    tokens: int | None = None
    """After this number of pieces of text, each of which counts as a token; None: anywhere."""
    stops: tuple[str, ...] = ()
    """Before the first of these texts."""
    calls: int | None = None
    """After this number of calls; None: any number."""
    reasons: bool = False
    """Whether the request asks for effort, or for a summary of reasoning."""
    summary: bool = False
    """Whether it asks for that summary."""
    settings: Mapping[str, Any] | None = field(default_factory=settings)
    """What a script that reflects says of the request's settings; None: there are none where it was sent."""


_LIMITING = (*_LENGTHS, "stop", "parallel_tool_calls", "reasoning_effort", "reasoning", "temperature")
_NO_LIMITS, _NO_LIMITS_OF_RESPONSES = AnswerLimits(), AnswerLimits(settings=settings(stops=None))


def limits_of(body: Mapping[str, Any]) -> AnswerLimits:
    """The limits that an acceptable request sets."""
    if body.keys().isdisjoint(_LIMITING):
        return _NO_LIMITS_OF_RESPONSES if "input" in body else _NO_LIMITS
    stop = body.get("stop") or ()
    tokens = next((body[name] for name in _LENGTHS if body.get(name) is not None), None)
    stops = (stop,) if isinstance(stop, str) else tuple(filter(None, stop))
    effort, summary = _reasoning(body)
    return AnswerLimits(
        tokens=tokens,
        stops=stops,
        calls=1 if body.get("parallel_tool_calls") is False else None,
        reasons=effort not in {None, "none"} or summary is not None,
        summary=summary is not None,
        settings=settings(body.get("temperature"), None if "input" in body else stops, tokens),
    )


def _reasoning(body: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The effort and the kind of summary that are asked for; of chat, which shows no summary, the effort alone."""
    if "input" not in body:
        return body.get("reasoning_effort"), None
    asked = body.get("reasoning") or {}
    return asked.get("effort"), asked.get("summary")


def limited(part: tuple[Step, ...], limits: AnswerLimits) -> tuple[Step, ...]:
    """A part of the default answer within these limits."""
    if not limits.reasons:
        return _limited(part, limits, 0)
    thought = Think(_SUMMARY if limits.summary else "")
    return (thought, Usage(reasoning=REASONING), *_limited(part, limits, REASONING))


def _limited(part: tuple[Step, ...], limits: AnswerLimits, reasoned: int) -> tuple[Step, ...]:
    """The part behind `reasoned` tokens of reasoning, which count as the answer's."""
    match part:
        case (Say(pieces=pieces),) if limits.tokens is not None or limits.stops:
            kept, room = list(_before(pieces, limits.stops)), limits.tokens
            if room is None or len(kept) + reasoned <= room:
                return (Say(tuple(kept)),)
            cut = Say(tuple(kept[: max(0, room - reasoned)]) or ("",))
            return (cut, *_ended(room, reasoned))
        case (Call(), *_):
            calls = part[: limits.calls]
            return calls if limits.tokens is None else _within(calls, limits.tokens, reasoned)
        case _:
            return part


def _ended(tokens: int, reasoned: int) -> tuple[Step, ...]:
    """How an answer ends that is as long as it may."""
    return (Usage(output=tokens, reasoning=min(reasoned, tokens)), Finish("length"))


def _within(calls: tuple[Step, ...], tokens: int, reasoned: int) -> tuple[Step, ...]:
    """Calls, the last one cut off where their arguments are longer than that."""
    kept, room = list[Step](), max(0, tokens - reasoned)
    for call in calls:
        pieces = _PIECE.findall(call.arguments) if isinstance(call, Call) else []
        # One at least begins: it may be what the request demands.
        if kept and not room:
            return (*kept, *_ended(tokens, reasoned))
        if isinstance(call, Call) and len(pieces) > room:
            halves = ("".join(pieces[:room]), "".join(pieces[room:]))
            return (*kept, replace(call, pieces=halves, unfinished=True), *_ended(tokens, reasoned))
        room -= len(pieces)
        kept.append(call)
    return tuple(kept)


def _before(pieces: tuple[str, ...], stops: tuple[str, ...]) -> Iterator[str]:
    """The pieces up to the first stop text, which may begin in one and end in another."""
    text = "".join(pieces)
    left = min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))
    for piece in pieces:
        if left > 0:
            yield piece[:left]
        left -= len(piece)
