"""Who may open a WebSocket: whoever may send the same POST. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from wireproof_proxy.access import check_host, check_key
from wireproof_proxy.http.json_response import request_id
from wireproof_surfaces.api_forms import form_of
from wireproof_surfaces.errors import FOREIGN, UNKNOWN_URL, ApiError
from wireproof_surfaces.http.cors import Cors
from wireproof_surfaces.surfaces import chatgpt_service

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_proxy.settings import ProxySettings
    from wireproof_surfaces.http.served_exchange import ServedExchange
    from wireproof_surfaces.http.socket_application import Refusal


def socket_gate(settings: ProxySettings) -> Callable[[ServedExchange], Refusal | None]:
    """Refuses handshakes by their heads, by the rules of a POST; None: it is let in."""
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
