"""What a body has beside, without or instead of the published fields of its API, weighed.

A member too many is a vendor's: real clients pass over it, so it is a fault to the letter alone. What is missing or of
the wrong type may stop a typed client; but if it is no member from which text and calls are read, the answer behind it
can be judged as it is. Each member is seen once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.checks.places import is_mistimed, member_place
from wireproof.judging.registry import Seen
from wireproof.model.transcript import End
from wireproof.reading.schemas import SchemaFault, faults
from wireproof.wire.facet import CONTENT, UNREADABLE, UNTOUCHED, Facet
from wireproof.wire.locating import locate
from wireproof.wire.quoting import quoted
from wireproof.wire.violation import MemberFault

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from wireproof.reading.exchange import Exchange
    from wireproof.wire.fields import JsonObject
    from wireproof.wire.sse import SseFrame

_TEXT, _CALLS = frozenset({Facet.TEXT}), frozenset({Facet.CALL, Facet.ARGUMENTS})
_SPOILT: Mapping[str, frozenset[Facet]] = {
    **dict.fromkeys(("content", "text", "refusal", "part"), _TEXT),
    **dict.fromkeys(("tool_calls", "function_call", "function", "name"), _CALLS),
    "arguments": frozenset({Facet.ARGUMENTS}),
    "call_id": frozenset({Facet.CALL_ID}),
    **dict.fromkeys(("finish_reason", "status", "incomplete_details"), frozenset({Facet.FINISH})),
    "delta": _TEXT | _CALLS,
    **dict.fromkeys(("choices", "message", "output", "item", "response"), CONTENT),
    "error": frozenset({Facet.END}),
    # Indexes and ids by which events refer to items are for the grammar, as are the types of events.
    "type": CONTENT,
}
"""Member of which the reader makes what an answer says → the parts that are lost where it is missing or mistyped."""
_SETTINGS = frozenset({Facet.SETTINGS})
_BESIDE = frozenset({"logprobs", "annotations", "audio", "obfuscation", "usage"})
"""Members inside those that say nothing of text, calls or ends. What usage counts has requirements of its own."""
_EXTENDED = ("service_tier",)
"""The member of an answer whose words vendors add to."""
_SEEN = 5
"""Faults of a body that are seen: one that has more is of another kind altogether."""


def unpublished(
    schema: str, body: object, frame: SseFrame, *, apart: Collection[tuple[str, ...]] = ()
) -> Iterable[Seen]:
    """What is wrong with the body in a frame by a schema of an API; what harms clients comes first.

    Faults at the paths `apart` are left out: they have requirements of their own. What stands in a list is seen once.
    """
    found: dict[tuple[str, ...], SchemaFault] = {}
    for fault in faults(schema, body):
        if fault.path not in apart:
            found.setdefault(fault.path, fault)
    for fault in sorted(found.values(), key=lambda one: one.unknown)[:_SEEN]:
        # A vendor says a word of its own where OpenAI has a few: no client was seen to choose by these.
        mistyped = fault.about is not None and fault.about.fault is MemberFault.MISTYPED
        extended = mistyped and fault.path[-1:] == _EXTENDED
        yield Seen(
            fault.sentence,
            locate(frame, fault.at),
            strict_only=fault.unknown or extended,
            kind="/".join(fault.path),
            part=Facet.USAGE if "usage" in fault.path else None,
            spoils=UNTOUCHED if fault.unknown else _spoilt(fault),
            about=fault.about,
        )


def of_whole(
    exchange: Exchange, weighed: Callable[[JsonObject, SseFrame], Iterable[Seen]], *named: str
) -> tuple[JsonObject | None, list[Seen]]:
    """The body of a whole answer, and what is wrong with its form; None: there is none to look at further.

    Args:
        exchange: The exchange.
        weighed: What is wrong with a body by its schema.
        named: The members of which it has been named where they were read, if anything was found there.
    """
    if exchange.transcript.end is not End.COMPLETE:
        return None, [Seen(f"the answer did not arrive whole: {exchange.transcript.end}")]
    if exchange.reading is None or not exchange.reading.payloads:
        return None, []
    ((frame, body),) = exchange.reading.payloads
    seen = list(weighed(body, frame))
    if exchange.reading.violations:
        seen = [one for one in seen if not set(named) & set(one.kind.split("/"))]
    if all(one.strict_only for one in seen):
        seen += _media_type(exchange)
    return body, seen


def of_frames(
    frames: Iterable[tuple[SseFrame, JsonObject]], weighed: Callable[[JsonObject, SseFrame], Iterable[Seen]]
) -> Iterable[Seen]:
    """What is wrong with the form of frames of a stream; `weighed`: see `of_whole`."""
    kinds: set[str] = set()
    for frame, payload in frames:
        for seen in weighed(payload, frame):
            if seen.kind not in kinds:
                yield seen
            kinds.add(seen.kind)


def wrong_head(exchange: Exchange, body: JsonObject, *, prefix: str, created: str) -> Iterable[Seen]:
    """The first value that is wrong of id, time and model of a whole answer of the right form. No client looks at them.

    Args:
        exchange: The exchange.
        body: The answer.
        prefix: How its id begins.
        created: The member that has its time.
    """
    # A member that is missing is in a finding of those that were read: a body of nothing has one for all.
    id_, time, model = (body.get(name) for name in ("id", created, "model"))
    wrong: dict[str, str] = {}
    if id_ is not None and not str(id_).startswith(prefix):
        wrong["id"] = f"{quoted(id_)}, it should begin with {prefix}"
    if is_mistimed(time):
        wrong[created] = f"{quoted(time)}, it should be a time in seconds"
    if model is not None and model != exchange.target.model:
        wrong["model"] = f"{quoted(model)}, the request asked for {quoted(exchange.target.model)}"
    for name, why in list(wrong.items())[:1]:
        yield Seen(f"{name} is {why}", member_place(exchange, name), strict_only=True, spoils=UNTOUCHED)


def _media_type(exchange: Exchange) -> Iterable[Seen]:
    """A whole answer whose Content-Type is not that of JSON: openai-node hands its body over as a text."""
    kind = exchange.transcript.header("content-type") or ""
    if not kind.startswith("application/json"):
        seen = f"content-type is {quoted(kind)}, it should be application/json"
        # openai-node takes these for JSON, too, and all other clients look at the body alone.
        suffixed = kind.partition(";")[0].strip().endswith("+json")
        yield Seen(seen, exchange.body_place, strict_only=suffixed, spoils=UNTOUCHED)


def _spoilt(fault: SchemaFault) -> frozenset[Facet]:
    """The parts of an answer that are lost by a fault: those of the innermost member that is read."""
    if not fault.path:
        return UNREADABLE
    if _BESIDE & set(fault.path):
        return UNTOUCHED
    last = fault.path[-1]
    # A call without its type is read as a call: there is but one kind of them in chat.
    if last == "type" and "tool_calls" in fault.path:
        return UNTOUCHED
    # What stands in a response beside its answer repeats the request.
    beside = _SETTINGS if fault.path in {(last,), ("response", last)} else UNTOUCHED
    # Only the member itself: one that is wrong beside the others of its object leaves them as they are.
    return _SPOILT.get(last, beside)
