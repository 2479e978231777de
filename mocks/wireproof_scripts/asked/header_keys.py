"""Which headers hold keys, and the keys in them: journals are printed when tests fail, recordings are committed. Pure.

Gateways and clouds have headers of their own, so a header is known by a word of its name; and a key by its form, in
whatever header it comes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

LONG = 12
"""A key of fewer characters is masked in its header alone: in a text it may be any word, as `wireproof` is."""
MASK = "***"
_NAME = re.compile(r"auth|cookie|credential|key|passw|secret|signature|token", re.IGNORECASE)
"""In names of headers: authorization, x-goog-api-key, ocp-apim-subscription-key, x-auth-token …"""
_OPEN = frozenset({"idempotency-key", "sec-websocket-key", ":authority"})
"""Names with such a word whose values are no secret."""
_COUNTS = re.compile(r"-tokens(?:-|$)|^max-tokens")
"""`x-ratelimit-limit-tokens` and its kin count tokens."""
_FORM = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]{8,}|AIza[A-Za-z0-9_-]{16,}|xox[a-z]-[A-Za-z0-9-]{8,}|gh[a-z]_[A-Za-z0-9]{16,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*"
    r")"
)
"""Keys as vendors write them, and tokens of JSON."""
_SCHEME = re.compile(r"\s*(?:bearer|basic|digest|negotiate|token)\s+(\S.*)", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;=\"]+")


@lru_cache(maxsize=512)
def holds_key(name: str) -> bool:
    """Whether a header of this name holds a key; the name is in lower case."""
    return _NAME.search(name) is not None and name not in _OPEN and _COUNTS.search(name) is None


def masked_header(name: str, value: str) -> str:
    """The value of a header without a key."""
    if holds_key(name) or _SCHEME.match(value):
        return MASK
    return _FORM.sub(MASK, value)


def keys_in(headers: Mapping[str, str]) -> set[str]:
    """The keys in these headers, by lower-case names: those that have enough characters to be looked for in texts."""
    return {key for name, value in headers.items() for key in _keys(name, value) if len(key) >= LONG}


def keys_in_query(query: str) -> set[str]:
    """The keys in a query, as `?key=…`: those that have enough characters to be looked for in texts."""
    return {value for name, value in parse_qsl(query) if _NAME.search(name) and len(value) >= LONG}


def _keys(name: str, value: str) -> Iterator[str]:
    if holds_key(name) or _SCHEME.match(value):
        yield from value.split()
        # A cookie, or a digest, has names before its values.
        yield from _BETWEEN.split(value)
    yield from _FORM.findall(value)


def mask_of(keys: Iterable[str], *, forms: bool = False) -> Callable[[str], str]:
    """A function that takes these keys out of a text; `forms`: and whatever has the form of a key."""
    # The longest first: one may begin with another.
    ordered = sorted(filter(None, keys), key=len, reverse=True)

    def mask(text: str) -> str:
        for key in ordered:
            text = text.replace(key, MASK)
        return _FORM.sub(MASK, text) if forms else text

    return mask
