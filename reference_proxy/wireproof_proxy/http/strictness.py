"""What RFC 9110 and 9112 ask of a request's head beyond what the parser checks. Pure.

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
    from collections.abc import Iterator

_HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(?::[0-9]{0,5})?")


class RefusedError(Exception):
    """A request that is not answered by the application; the connection ends with the answer."""

    def __init__(self, problem: Problem, message: str | None = None) -> None:
        super().__init__(message or problem.message)
        self.problem = problem
        self.message = message


@dataclass(kw_only=True, slots=True)
class Head:
    """A request's line and header fields; the names are lower-case."""

    method: str = ""
    target: bytes = b""
    path: bytes = b""
    """As it was sent, with its escapes."""
    query: bytes = b""
    version: str = "1.1"
    fields: list[tuple[bytes, bytes]] = field(default_factory=list)

    def values(self, name: bytes) -> list[bytes]:
        """The values of all fields of this name."""
        return [value for found, value in self.fields if found == name]

    @property
    def chunked(self) -> bool:
        """Whether the body comes in chunks."""
        return bool(self.values(b"transfer-encoding"))

    @property
    def length(self) -> int:
        """The length that is announced for the body; 0 without one."""
        return int(next(iter(self.values(b"content-length")), b"0"))

    @property
    def has_body(self) -> bool:
        """Whether a body follows."""
        return self.chunked or self.length > 0


def check(head: Head) -> None:
    """Refuse what is not a request of HTTP/1.1 or 1.0.

    Raises:
        RefusedError: with the first fault.
    """
    for message in _faults(head):
        raise RefusedError(BAD_REQUEST, message)


def _faults(head: Head) -> Iterator[str]:
    hosts = head.values(b"host")
    if len(hosts) > 1:
        yield "The request has more than one `Host`."
    if head.version == "1.1" and not hosts:
        yield "The request has no `Host`."
    if hosts and not _HOST.fullmatch(hosts[0].strip()):
        yield "The request's `Host` is no host and port."
    codings = head.values(b"transfer-encoding")
    # RFC 9112, 6.1: a server that does not understand a coding answers 501, or refuses; and 1.0 has no codings.
    if codings and head.version != "1.1":
        yield "A request of HTTP/1.0 has no `Transfer-Encoding`."
    if codings and [coding.strip().lower() for coding in codings] != [b"chunked"]:
        yield "The only `Transfer-Encoding` that is read is `chunked`."
    if b"#" in head.target:
        yield "The request's target has a fragment."
    # 9110, 10.1.1.
    if any(value.strip().lower() != b"100-continue" for value in head.values(b"expect")):
        yield "The only `Expect` that is met is `100-continue`."


def ends_with_answer(head: Head) -> bool:
    """Whether the connection ends with the answer, for a request that the parser takes to leave HTTP."""
    options = {option.strip().lower() for value in head.values(b"connection") for option in value.split(b",")}
    return head.method == "CONNECT" or head.version == "1.0" or b"close" in options
