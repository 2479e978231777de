"""Who may use the proxy: at which names it answers, and with which key. Pure."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from wireproof_surfaces.errors import WRONG_HOST, WRONG_KEY, ApiError
from wireproof_surfaces.http.loopback import names_loopback

if TYPE_CHECKING:
    from wireproof_proxy.settings import ProxySettings


def check_host(settings: ProxySettings, host: str | None) -> None:
    """Without a key, answer only at this machine's own names.

    Raises:
        ApiError: 421.
    """
    # Whoever names no host is no browser.
    if host is None or settings.api_key or settings.insecure or names_loopback(host):
        return
    raise ApiError(WRONG_HOST)


def check_key(settings: ProxySettings, authorization: str) -> None:
    """Let in whoever has the key, and everybody where no key is set.

    Raises:
        ApiError: 401.
    """
    if settings.api_key is None:
        return
    scheme, _, key = authorization.partition(" ")
    # Bytes, since `compare_digest` takes no str beyond ASCII, and a header may hold any.
    right = settings.api_key.get_secret_value().encode()
    # The scheme in any case, the key in constant time (http.auth.wrong).
    if scheme.lower() != "bearer" or not hmac.compare_digest(key.strip().encode(errors="replace"), right):
        raise ApiError(WRONG_KEY, headers={"WWW-Authenticate": "Bearer"})
