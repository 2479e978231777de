"""Faults of thoughts in Messages: no backend of the reference proxy has any that it shows, so each brings its own.

Where a thought is an answer's own block, whole answers have it as well: what is wrong is only how it is streamed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.fault import MESSAGES, Fault
from wireproof_mocks.miniatures.messages_rewriting import (
    closed,
    merged,
    opened,
    opens,
    signed,
    thought,
    words,
)
from wireproof_mocks.miniatures.rewriting import at, each_event, in_body, of_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wireproof_mocks.miniatures.fault import Frame, Frames, Json, SentRequest

SHOWN = ("text/hello", "text/utf8", "call/two")
"""Scripts of which the answers have thoughts."""
THOUGHT: Json = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}


def _thinking_first(*signatures: Json) -> Frames:
    """A block of thoughts comes before all others."""

    def changed(event: Json) -> Iterable[Frame]:
        yield at("index", lambda index: index + 1)(event)
        if event["type"] == "message_start":
            yield from (_OPENED, thought(0, "Hm."), *signatures, closed(0))

    return each_event(changed)


def _text_begun_with(delta: Callable[[int, str], Json]) -> Frames:
    """A delta is sent where a text has begun."""
    return each_event(lambda event: (event, delta(event["index"], "Hm.")) if opens(event, "text") else event)


def _text_in_thoughts(frames: Iterable[Any], request: SentRequest) -> Iterator[Frame]:
    """A text is sent in the block of the thoughts before it."""
    return merged("text")(_thinking_first(signed(0))(frames, request), request)


_think_first = in_body(of_type("message", at("content", lambda content: [THOUGHT, *content])))


def _stream(name: str, breaks: str, **how: Any) -> Fault:  # noqa: ANN401 (see Fault)
    row = f"messages.stream.{breaks}"
    return Fault(name=name, breaks=row, dialects=(MESSAGES,), scripts=SHOWN, **how)


_OPENED = opened(0, "thinking", thinking="", signature="")

MESSAGES_THOUGHT_FAULTS: tuple[Fault, ...] = (
    # Both SDKs then show an empty text, Claude Code raises.
    _stream("thoughts-in-a-text-block", "thinking", frames=_text_begun_with(thought)),
    _stream("later-thoughts-in-the-block-before", "thinking",
            frames=each_event(of_type("content_block_stop", lambda event: (thought(event["index"], "Hm."), event)))),
    _stream("thoughts-not-signed", "thinking", frames=_thinking_first(), whole=_think_first),
    _stream("thoughts-signed-twice", "thinking", frames=_thinking_first(signed(0), signed(0)), whole=_think_first),
    _stream("text-in-the-block-before", "delta-kinds", frames=_text_in_thoughts, whole=_think_first),
    _stream("thoughts-said-aloud", "text",

            # A thought is the beginning of the text.
            frames=_text_begun_with(words)),
)  # fmt: skip
"""Each is the reference proxy with thoughts of its own, and one thing wrong in how it sends them."""
