"""What each request to a target carries besides its own: the key in its style, the person's headers and query.

All of it may be secret: a URL is shown through `masked_url`, a request as `report.curl` writes it, and what is kept is
masked in `results.masking`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from wireproof.model.scenario import WRONG_KEY, Auth
from wireproof.model.target import MASK, KeyStyle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.model.target import Target

QUERY_NAME = "key"
"""The query parameter of `KeyStyle.QUERY`."""
HEADERS: Mapping[KeyStyle, str] = {
    KeyStyle.BEARER: "authorization",
    KeyStyle.API_KEY: "api-key",
    KeyStyle.X_API_KEY: "x-api-key",
}
"""The header of each style that has one."""
SCHEMES = frozenset({Auth.OTHER_CASE, Auth.OTHER_SCHEME})
"""Spellings of the scheme before the key; only a bearer token has one."""


def carried_headers(target: Target, auth: Auth = Auth.RIGHT) -> dict[str, str]:
    """The headers of every request to a target, by lower-case name."""
    name, value = HEADERS.get(target.key_style), _key(target, auth)
    # A request with a wrong key must not carry a right one beside it.
    own = {one.lower(): said for one, said in target.headers if target.api_key is None or one.lower() != name}
    return own if name is None or value is None else {**own, name: value}


def address(url: str, target: Target, auth: Auth = Auth.RIGHT) -> str:
    """A URL with the parameters that every request to a target carries."""
    pairs = [*target.query]
    value = _key(target, auth) if target.key_style is KeyStyle.QUERY else None
    pairs += [] if value is None else [(QUERY_NAME, value)]
    if not pairs:
        return url
    # Appended as text: the URL's own part must stay as a scenario spelt it.
    return f"{url}{'&' if '?' in url else '?'}{urlencode(pairs, quote_via=quote)}"


def _key(target: Target, auth: Auth) -> str | None:
    """What stands where the key is expected; None: nothing."""
    key, bearer = target.api_key, target.key_style is KeyStyle.BEARER
    scheme = "Bearer " if bearer else ""
    return {
        Auth.RIGHT: f"{scheme}{key}" if key is not None else None,
        Auth.NONE: None,
        Auth.WRONG: f"{scheme}{WRONG_KEY}",
        # RFC 9110, section 11.1: the case of a scheme does not matter.
        Auth.OTHER_CASE: f"bEARER {key}",
        Auth.OTHER_SCHEME: f"Token {key}",
        # These two find a proxy that compares only as far as the shorter key goes. A key of one character leaves
        # nothing, and a scheme alone would be another fault.
        Auth.CUT: f"{scheme}{(key or '')[:-1] or '-'}",
        Auth.EXTENDED: f"{scheme}{key}x",
    }[auth]


def masked_url(url: str, target: Target) -> str:
    """The URL of a request as a person may see it: the parameters that each request carries have `MASK` for a value."""
    secret = {name for name, _ in target.query} | ({QUERY_NAME} if target.key_style is KeyStyle.QUERY else set())
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    if not secret & {name for name, _ in pairs}:
        return url
    shown = "&".join(f"{quote(name)}={MASK if name in secret else quote(value)}" for name, value in pairs)
    return urlunsplit(parts._replace(query=shown))
