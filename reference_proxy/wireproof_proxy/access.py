"""Who may use the proxy: at which names it answers, and with which key. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_surfaces.api_forms import form_of
from wireproof_surfaces.errors import WRONG_HOST, ApiError
from wireproof_surfaces.http.loopback import names_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def check_key(settings: ProxySettings, path: str, headers: Mapping[str, str]) -> None:
    """Let in whoever has the key, as the API at this path has it; header names are lower-case.

    Raises:
        ApiError: 401.
    """
    key = settings.api_key
    form_of(path, headers).check_key(None if key is None else key.get_secret_value(), headers)
