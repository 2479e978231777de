"""What a body has beside, without or instead of OpenAI's published fields, weighed.

A member too many is a vendor's: real clients pass over it, so it is a fault to the letter alone. What is missing or of
the wrong type may stop a typed client; but if it is no member from which text and calls are read, the answer behind it
can be judged as it is. At most one fault of each weight is seen: both are causes of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.registry import Seen
from wireproof.reading.schemas import faults
from wireproof.wire.locating import locate
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from wireproof.reading.exchange import Exchange
    from wireproof.reading.schemas import SchemaFault
    from wireproof.wire.sse import Frame

_READ = frozenset({
    "choices", "output", "status", "incomplete_details", "error", "type", "response", "item", "part", "delta", "text",
    "refusal", "arguments", "output_index", "content_index", "item_id",
})  # fmt: skip
"""Members of which the reader makes what an answer says; what stands inside them belongs to them."""
_BESIDE = frozenset({"logprobs", "annotations", "audio", "obfuscation", "usage"})
"""Members inside those that say nothing of text, calls or ends. What usage counts has requirements of its own."""


def unpublished(schema: str, body: object, frame: Frame, *, apart: Collection[tuple[str, ...]] = ()) -> Iterable[Seen]:
    """What is wrong with the body in a frame by a schema of OpenAI's; what harms clients comes first.

    Faults at the paths `apart` are left out: they have requirements of their own.
    """
    found = [fault for fault in faults(schema, body) if fault.path not in apart]
    harmful = next((fault for fault in found if not fault.unknown), None)
    extra = next((fault for fault in found if fault.unknown), None)
    if harmful:
        at = locate(frame, harmful.at)
        yield Seen(harmful.sentence, at, harmless=not _is_read(harmful), about=harmful.about)
    if extra:
        at = locate(frame, extra.at)
        yield Seen(extra.sentence, at, strict_only=True, harmless=True, about=extra.about)


def media_type(exchange: Exchange) -> Iterable[Seen]:
    """A whole answer whose Content-Type is not that of JSON: openai-node hands its body over as a text."""
    kind = exchange.transcript.header("content-type") or ""
    if not kind.startswith("application/json"):
        seen = f"content-type is {quoted(kind)}, it should be application/json"
        # openai-node takes these for JSON, too, and all other clients look at the body alone.
        suffixed = kind.partition(";")[0].strip().endswith("+json")
        yield Seen(seen, exchange.body_place, strict_only=suffixed, harmless=True)


def _is_read(fault: SchemaFault) -> bool:
    # A response object is read for its output and its end, which are named inside it.
    path = fault.path[1:] if fault.path[:1] == ("response",) and len(fault.path) > 1 else fault.path
    return not path or (bool(_READ & set(path)) and not _BESIDE & set(path))
