"""What is served at /_wireproof/: the journal as JSON and as JSON lines, and the page that shows it.

It shows what others sent, so only programs on this machine get it. That a client's address is a loopback one is not
enough: a web page may let its own name point here, and a server may pass on what others ask it. So the host must be a
loopback one, too, no header may say that the request was passed on, and no other origin is let in.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from wireproof_endpoint.journal.shown import brief, whole
from wireproof_surfaces.http.cors import is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_endpoint.journal.ring import Journal
    from wireproof_surfaces.http.request_head import RequestHead

    Query = Mapping[str, list[str]]
    Answer = tuple[int, str, str]
    """Status, media type, text."""

PATH = "/_wireproof"
REQUESTS = f"{PATH}/requests"
FINDINGS = f"{PATH}/findings"
"""What the client did wrong, where the endpoint was given something that can say so."""
JSON = "application/json"
_SHOWN = 20
"""Characters of what should be a number."""
_PASSED_ON = frozenset({b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"})
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
)
_HEADERS: Mapping[str, str] = {
    "cache-control": "no-store",
    "content-security-policy": _POLICY,
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


def answer(journal: Journal, head: RequestHead, peer: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the answer to a request for one of these pages; `peer`: the client's address."""
    path = unquote(head.path.decode("latin-1"))
    status, media_type, text = _answer(journal, path, head, peer)
    location = {"location": f"{PATH}/"} if path == PATH else {}
    headers = {**_HEADERS, "content-type": f"{media_type}; charset=utf-8", **location}
    return status, headers, text.encode(errors="backslashreplace")


def _answer(journal: Journal, path: str, head: RequestHead, peer: str) -> Answer:
    query = parse_qs(head.query.decode("latin-1"), keep_blank_values=True)
    if not is_local(head, peer):
        return _error(404, f"There is nothing at {path} for other machines, nor for requests that were passed on.")
    if head.method not in {"GET", "HEAD"}:
        return _error(405, "The journal is read with GET.")
    if path == PATH:
        return 308, "text/plain", ""
    if path == f"{PATH}/":
        return 200, "text/html", _page()
    return _data(journal, path, query)


@cache
def _page() -> str:
    """One HTML file that loads nothing, and asks this endpoint alone for what it shows.

    What was received or sent comes as JSON later, and is written as text: no markup of it is read.
    """
    # Not at the head: it takes its time, and most endpoints are never looked at.
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415
    from markupsafe import Markup  # noqa: PLC0415

    template = files("wireproof_endpoint").joinpath("journal", "template")
    html, css, js = (template.joinpath(f"page.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js"))
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(html).render(css=Markup(css), js=Markup(js))  # noqa: S704 (our own)


def _data(journal: Journal, path: str, query: Query) -> Answer:
    """What the page asks for."""
    if path == FINDINGS:
        return 200, JSON, _json({"findings": [] if journal.judge is None else journal.judge(tuple(journal.entries))})
    if path == REQUESTS:
        return _requests(journal, query)
    return _request(journal, path.removeprefix(f"{REQUESTS}/"))


def is_local(head: RequestHead, peer: str) -> bool:
    """Whether a request comes from this machine, asks for this machine, and was not passed on."""
    hosts = [value.decode("latin-1") for value in head.values(b"host")]
    origins = [value.decode("latin-1") for value in head.values(b"origin")]
    return (
        is_loopback(peer)
        and len(hosts) == 1
        and is_loopback(_host(f"//{hosts[0]}"))
        and all(_host(origin) == _host(f"//{hosts[0]}") for origin in origins)
        and not any(name in _PASSED_ON for name, _ in head.fields)
    )


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _requests(journal: Journal, query: Query) -> Answer:
    given = query.get("after", ["0"])[0]
    after = _number(given)
    if after is None:
        return _error(400, f"`after` must be the number of a request, not {given[:_SHOWN]!r}.")
    show = brief if "brief" in query else whole
    entries = [show(entry) for entry in tuple(journal.entries) if entry.number > after]
    match query.get("format", ["json"]):
        case ["json"]:
            numbers = [entry.number for entry in tuple(journal.entries)] or [0]
            return 200, JSON, _json({"requests": entries, "first": numbers[0], "last": numbers[-1]})
        case ["jsonl"]:
            return 200, "application/jsonl", "".join(f"{_json(entry)}\n" for entry in entries)
        case other:
            return _error(400, f"`format` must be json or jsonl, not {', '.join(other)}.")


def _request(journal: Journal, given: str) -> Answer:
    number = _number(given)
    entry = None if number is None else journal.find(number)
    if entry is None:
        return _error(404, f"There is no request {given[:_SHOWN]} in the journal; {REQUESTS} has those that are kept.")
    return 200, JSON, _json(whole(entry))


def _number(given: str) -> int | None:
    """The number of a request; None where the text is not one. Python reads no more than some thousand digits."""
    return int(given) if given.isdecimal() and len(given) <= _SHOWN else None


def _error(status: int, message: str) -> Answer:
    return status, JSON, _json({"error": {"message": message, "type": "invalid_request_error"}})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
