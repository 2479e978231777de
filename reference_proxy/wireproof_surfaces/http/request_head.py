"""A request's head, and what RFC 9110 and 9112 ask of it beyond what the parser checks. Pure.

The parser (llhttp, without any of its leniencies) refuses by itself: a length beside chunks, two lengths, lengths that
are no number, folded lines, lines that end in LF alone, spaces before a colon, control characters, unknown methods,
malformed chunks. It does not know that a request needs a host, and takes other versions and codings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof_surfaces.errors import BAD_REQUEST, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

INVALID = "invalid_request_error"
TOO_LONG = Problem(414, INVALID, "uri_too_long", "The request's target is too long.")
TOO_MANY = Problem(431, INVALID, "header_fields_too_large", "The request's header fields are too large.")
TOO_SLOW = Problem(408, INVALID, "request_timeout", "The request did not come to its end in time.")
VERSION = Problem(505, INVALID, "http_version_not_supported", "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
_VERSIONS = frozenset({"1.0", "1.1"})
_FRAMING = frozenset({b"host", b"content-length", b"transfer-encoding", b"expect", b"connection"})
_HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(?::[0-9]{0,5})?")


class RejectedRequestError(Exception):
    """A request that is not answered by the application; the connection ends with the answer."""

    def __init__(self, problem: Problem, message: str | None = None) -> None:
        super().__init__(message or problem.message)
        self.problem = problem
        self.message = message or problem.message


@dataclass(kw_only=True, slots=True)
class RequestHead:
    """A request's line and header fields; the names are lower-case."""

    method: str = ""
    target: bytes = b""
    path: bytes = b""
    """As it was sent, with its escapes."""
    query: bytes = b""
    version: str = "1.1"
    fields: list[tuple[bytes, bytes]] = field(default_factory=list)
    """In their order."""
    # What follows from these once the head is complete (`check`).
    chunked: bool = field(default=False, init=False)
    """Whether the body comes in chunks."""
    length: int = field(default=0, init=False)
    """The length that is announced for the body; 0 without one."""
    expects: bool = field(default=False, init=False)
    """Whether the client waits to be asked for the body. HTTP/1.0 knows no such answer (RFC 9110, 10.1.1)."""
    closes: bool = field(default=False, init=False)
    """Whether the connection ends with the answer (RFC 9112, 9.3)."""

    def values(self, name: bytes) -> list[bytes]:
        """The values of all fields of this name."""
        return [value for found, value in self.fields if found == name]

    @property
    def has_body(self) -> bool:
        """Whether a body follows."""
        return self.chunked or self.length > 0


def check(head: RequestHead) -> None:
    """Reject what is not a request of HTTP/1.1 or 1.0, of a head that is complete; else note what follows from it.

    Raises:
        RejectedRequestError: with the first fault.
    """
    if head.version not in _VERSIONS:
        raise RejectedRequestError(VERSION)
    named: dict[bytes, list[bytes]] = {}
    for name, value in head.fields:
        if name in _FRAMING:
            named.setdefault(name, []).append(value)
    for fault in _faults(head, named):
        raise RejectedRequestError(BAD_REQUEST, fault)
    head.chunked = b"transfer-encoding" in named
    # The parser takes one length, and digits alone.
    for length in named.get(b"content-length", ()):
        head.length = int(length)
    head.expects = head.version == "1.1" and b"expect" in named
    options = _listed(named[b"connection"]) if b"connection" in named else ()
    kept = head.version == "1.1" or b"keep-alive" in options
    head.closes = head.method == "CONNECT" or b"close" in options or not kept


def _faults(head: RequestHead, named: Mapping[bytes, Sequence[bytes]]) -> Iterator[str]:
    hosts = named.get(b"host", ())
    if len(hosts) > 1:
        yield "The request has more than one `Host`."
    elif hosts:
        if not _HOST.fullmatch(hosts[0]):
            yield "The request's `Host` is no host and port."
    elif head.version == "1.1":
        yield "The request has no `Host`."
    if b"transfer-encoding" in named:
        # RFC 9112, 6.1: a server that does not understand a coding answers 501, or refuses; and 1.0 has no codings.
        if head.version != "1.1":
            yield "A request of HTTP/1.0 has no `Transfer-Encoding`."
        if [coding.lower() for coding in named[b"transfer-encoding"]] != [b"chunked"]:
            yield "The only `Transfer-Encoding` that is read is `chunked`."
    if b"#" in head.target:
        yield "The request's target has a fragment."
    # RFC 9110, 10.1.1.
    if b"expect" in named and {expected.lower() for expected in named[b"expect"]} != {b"100-continue"}:
        yield "The only `Expect` that is met is `100-continue`."


def _listed(values: Sequence[bytes]) -> set[bytes]:
    return {option.strip().lower() for value in values for option in value.split(b",")}
