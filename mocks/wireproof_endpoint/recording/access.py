"""Who may have a request passed on to a live endpoint: programs of this machine alone. Pure.

What is passed on costs money, and may carry the user's key. A web page can send requests to loopback addresses, and its
own name may point there, so a loopback address of the client says nothing: the host must be this machine's, and what
asks must be no page of another one. An answer is shown to no page but those.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from wireproof_surfaces.errors import FOREIGN, UNKNOWN_URL, WRONG_HOST, WRONG_MEDIA, Problem
from wireproof_surfaces.http.cors import is_loopback, names_loopback

if TYPE_CHECKING:
    from wireproof_surfaces.http.request_head import RequestHead

PREFIX = "/v1"
TEST = "x-wireproof-test"
"""The header by which a request says of which test it is."""
MESSAGES = "/messages"
_TESTS = re.compile(r"/tests/([^/]+)(?=/v1/)")
"""The same in the path, for clients of which only the base URL is set: `/tests/NAME/v1`."""
_UNFIT = re.compile(r"[^\w.-]+")
_LONGEST = 80
"""Characters of the name of a file."""
RECORDED = frozenset({"/chat/completions", "/responses", "/messages"})
"""Paths below the base URL whose answers become scripts; everything else is only passed on."""
DESKTOP = ("app://obsidian.md", "capacitor://localhost")
"""The origins of apps that are installed on the machine. No web page has one of these."""
_AT = f"the base URL ends with {PREFIX}"


def refusal(head: RequestHead) -> tuple[Problem, str] | None:
    """What is wrong with a request, by its head, and the words for it; None: it may be passed on."""
    hosts = [value.decode("latin-1") for value in head.values(b"host")]
    if not all(map(names_loopback, hosts)):
        return WRONG_HOST, "Recordings are made at this machine's own names alone: use the address that was printed."
    # Without an origin, a page's picture: a browser says of it that it is another site's.
    crosses = b"cross-site" in head.values(b"sec-fetch-site") and not head.values(b"origin")
    if crosses or not all(is_let_in(value.decode("latin-1")) for value in head.values(b"origin")):
        return FOREIGN, "Only programs and pages of this machine are let in."
    path = below(head)
    if path is None:
        return UNKNOWN_URL, f"There is nothing at {unquote(_path(head))}: {_AT}."
    if path in RECORDED and head.method == "POST" and media_type(head) != "application/json":
        return WRONG_MEDIA, WRONG_MEDIA.message
    return None


def is_let_in(origin: str) -> bool:
    """Whether a page of this origin may use the recorder, and read what is answered."""
    if origin in DESKTOP:
        return True
    try:
        parts = urlsplit(origin)
        return parts.scheme in {"http", "https"} and is_loopback(parts.hostname or "")
    except ValueError:
        return False


def below(head: RequestHead) -> str | None:
    """The path below the base URL, as it was sent; None: it is not below it, however it is read."""
    path = _TESTS.sub("", head.path.decode("latin-1"), count=1) if head.path.startswith(b"/tests/") else _path(head)
    if not path.startswith(f"{PREFIX}/"):
        return None
    # Some servers resolve an escape once more, and take `\` for `/`.
    read = unquote(unquote(path)).replace("\\", "/")
    return path.removeprefix(PREFIX) if {".", ".."}.isdisjoint(read.split("/")) and "\0" not in read else None


def test_of(head: RequestHead) -> str:
    """The test that a request is of, as the name of a file; empty where it names none."""
    found = _TESTS.match(_path(head))
    named = unquote(found[1]) if found else next(iter(head.values(TEST.encode())), b"").decode("latin-1")
    return _UNFIT.sub("-", named).strip("-.")[:_LONGEST]


def _path(head: RequestHead) -> str:
    return head.path.decode("latin-1")


def media_type(head: RequestHead) -> str:
    """The media type of the body; empty where none is named."""
    named = next(iter(head.values(b"content-type")), b"").decode("latin-1")
    return named.partition(";")[0].strip().lower()
