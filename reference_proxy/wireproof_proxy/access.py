"""Who may use the proxy: at which names it answers, with which key, and who may open a WebSocket. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from wireproof_surfaces.api_forms import form_of
from wireproof_surfaces.errors import FOREIGN, UNKNOWN_URL, WRONG_HOST, ApiError
from wireproof_surfaces.http.cors import Cors, names_loopback
from wireproof_surfaces.random_ids import request_id
from wireproof_surfaces.surfaces import chatgpt_service

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_proxy.settings import ProxySettings
    from wireproof_surfaces.http.served_exchange import ServedExchange
    from wireproof_surfaces.http.socket_application import Refusal


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


def socket_gate(settings: ProxySettings) -> Callable[[ServedExchange], Refusal | None]:
    """Refuses handshakes of WebSockets by their heads, by the rules of the same POST; None: it is let in."""
    cors = Cors(settings.cors_origins)

    def gate(exchange: ServedExchange) -> Refusal | None:
        path = exchange.head.path.decode("latin-1")
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in exchange.head.fields}
        try:
            _check(settings, cors, path, headers)
        except ApiError as error:
            form, named = form_of(path, headers), request_id()
            reply = form.reply(error, named)
            fixed = {"Content-Type": "application/json", **form.named(named), **cors.allow(headers)}
            return reply.status, {**fixed, **reply.headers}, json.dumps(reply.body).encode()
        return None

    return gate


def _check(settings: ProxySettings, cors: Cors, path: str, headers: Mapping[str, str]) -> None:
    check_host(settings, headers.get("host"))
    # No browser asks before it opens a WebSocket, so its page is looked at here.
    if not cors.admits(headers.get("origin")):
        raise ApiError(FOREIGN)
    if path.startswith(chatgpt_service.ROOT) and not settings.chatgpt_service:
        raise ApiError(UNKNOWN_URL)
    check_key(settings, path, headers)
