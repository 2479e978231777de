"""Cookies: none is kept, so that what one answer sets changes no later request, which a transcript would not show."""

from __future__ import annotations

from http.cookiejar import CookieJar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


class NoCookies(CookieJar):
    """A jar that stays empty. What a target sets need not even be what a request can carry."""

    def make_cookies(self, response: Any, request: Any) -> Sequence[Any]:  # noqa: ANN401
        """None of those that a response sets."""
        del response, request
        return ()
