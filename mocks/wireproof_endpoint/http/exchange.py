"""A request and the beginning of its answer, for an application or a connection that serves an endpoint. No I/O."""

from __future__ import annotations

from time import monotonic, time
from typing import TYPE_CHECKING

from wireproof_endpoint.endpoint import Request
from wireproof_endpoint.play import Head, Play, Reply
from wireproof_scripts.values import value

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from wireproof_endpoint.endpoint import Endpoint
    from wireproof_endpoint.play import Output

BEGUN = "wireproof.begun"
"""The ASGI extension by which a connection hands over a request that it has taken, or an answer that it has begun."""


@value(frozen=True, kw_only=True, slots=True)
class Begun:
    """An answer that is ready to be sent, or has begun to be."""

    request: Request
    head: Head | None = None
    """The head of a stream; None where there is none, or it is sent."""
    first: Output | Exception | None
    """What is sent next; an exception: no answer could be begun; None: what comes next is still to be asked for."""
    play: Play | None = None
    """Where it comes from; None: it is a reply that needs no script."""
    outputs: Generator[Output, float, None] | None = None
    """All that comes after `first`."""

    @property
    def plain(self) -> bool:
        """Whether no script reaches the wire: then HTTP's own words and headers of ours are enough for it."""
        return self.play is None or self.play.plain


def received(endpoint: Endpoint, method: str, path: str, query: str, headers: Iterable[tuple[bytes, bytes]]) -> Request:
    """A request of which the head is here; the names of its headers are lower-case."""
    read = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
    entry = endpoint.journal.begin(method=method, path=path, query=query, headers=read, now=monotonic(), when=time())
    return Request(method=method, path=path, query=query, headers=read, entry=entry)


def begin(endpoint: Endpoint, request: Request, body: bytes, now: float) -> Begun:
    """Begin the answer to an admitted request at the time `now` of the caller's clock."""
    request.body = body
    answer = endpoint.answer(request)
    if isinstance(answer, Reply):
        return Begun(request=request, first=answer)
    outputs = answer.outputs(now)
    first = next(outputs)
    if not isinstance(first, Head):
        return Begun(request=request, first=first, play=answer, outputs=outputs)
    # The first piece is there as soon as its head is.
    return Begun(request=request, head=first, first=next_of(outputs, now), play=answer, outputs=outputs)


def next_of(outputs: Generator[Output, float, None] | None, now: float) -> Output | None:
    """What is sent next; None at the end."""
    if outputs is None:
        return None
    try:
        return outputs.send(now)
    except StopIteration:
        return None
