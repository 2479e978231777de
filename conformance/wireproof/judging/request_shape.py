"""What the requests of some exchanges have in common, and no other request has: the shape that a proxy cannot serve.

A request is a set of features: its mode, its surface, the fields of its body, and what a proxy may have to do more for
(images, results of tools, several choices). The shape of some requests are the fewest features that all of them have
and that no request which was served has together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.model.dialect import DEFAULT, Surface
from wireproof.model.scenario import Mode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from wireproof.reading.exchange import Exchange

MOST = 3
"""Features of a shape. One of more describes the few requests that happened to fail, and no reason."""
EVERY_BODY = frozenset({"model", "messages", "input", "stream"})
"""Fields that say nothing: each request has them."""
_OF_MODES = {Mode.STREAM: "stream", Mode.WHOLE: "whole answer"}
_NOUNS: Mapping[tuple[str, ...], str] = {
    (): "request",
    **{(mode,): noun for mode, noun in _OF_MODES.items()},
    **{(surface,): f"request to {surface.label}" for surface in Surface},
    **{(mode, surface): f"{noun} of {surface.label}" for mode, noun in _OF_MODES.items() for surface in Surface},
}
"""How a report names requests of a mode and a surface."""


def shape(failed: Sequence[Exchange], served: Sequence[Exchange]) -> str:
    """What all that failed have in common and nothing that was served has, as in "every stream with `tools`".

    "" where there is no such thing, or where one scenario alone failed, whose every feature would be one.
    """
    if len({exchange.scenario.name for exchange in failed}) < 2:  # noqa: PLR2004 (several)
        return ""
    had, missed = [features(exchange) for exchange in failed], [features(exchange) for exchange in served]
    chosen = _fewest(frozenset.intersection(*had), missed)
    if chosen is not None:
        return _named(chosen)
    least, most = min(map(_size, failed)), max(map(_size, served))
    return f"every request of more than {most} bytes" if least > most else ""


def features(exchange: Exchange) -> frozenset[str]:
    """The features of a request, as the words that name them."""
    return frozenset(_features(exchange))


def _features(exchange: Exchange) -> Iterator[str]:
    body = exchange.sent
    yield Mode.STREAM if body.get("stream") is True else Mode.WHOLE
    path = exchange.transcript.url.partition("?")[0]
    yield next((surface for surface in Surface if path.endswith(surface.endpoint)), Surface.CHAT)
    if exchange.dialect is not DEFAULT and exchange.dialect.spec.headers != DEFAULT.spec.headers:
        yield f"output mode {exchange.dialect.spec.output_mode}"
    several = isinstance(body.get("n"), int) and body["n"] > 1
    fields = (name for name, value in body.items() if name not in EVERY_BODY and value is not None)
    yield from ("n above 1" if name == "n" and several else f"`{name}`" for name in fields)
    yield from _of_messages(body.get("messages") or body.get("input"))


def _of_messages(messages: object) -> Iterator[str]:
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, dict):
            continue
        role, kind, content = message.get("role"), message.get("type"), message.get("content")
        if role in {"tool", "function"} or kind == "function_call_output":
            yield "the result of a tool"
        elif role == "assistant":
            yield "an earlier answer"
        elif role in {"system", "developer"}:
            yield f"a {role} message"
        if isinstance(content, list):
            if any(part.get("type") == "tool_result" for part in content if isinstance(part, dict)):
                yield "the result of a tool"
            yield "content in parts"
            if any("image" in str(part.get("type")) for part in content if isinstance(part, dict)):
                yield "an image"


def _size(exchange: Exchange) -> int:
    return len(exchange.transcript.request_body)


def _fewest(candidates: Collection[str], served: Sequence[frozenset[str]]) -> frozenset[str] | None:
    """The features, one after the other the one that most of what was served lacks; None if they are not enough."""
    chosen: frozenset[str] = frozenset()
    left = list(served)
    while left and len(chosen) < MOST:
        # Sorted, so that the same run gives the same words; what is said in fewer characters is the plainer reason.
        best = min(sorted(candidates, key=len), key=lambda one: sum(one in other for other in left), default="")
        kept = [other for other in left if best in other]
        if not best or len(kept) == len(left):
            return None
        chosen, left = chosen | {best}, kept
    return None if left else chosen


def _named(chosen: frozenset[str]) -> str:
    modes = [mode for mode in Mode if mode in chosen]
    surfaces = [surface for surface in Surface if surface in chosen]
    noun = _NOUNS[(*modes, *surfaces)]
    rest = sorted(chosen - {*modes, *surfaces})
    return f"every {noun}" + (f" with {' and '.join(rest)}" if rest else "")
