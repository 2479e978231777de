"""The Cursor backend as the settings describe it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from wireproof_proxy.backends.cursor.builtin_tools import BuiltinTools
from wireproof_proxy.backends.cursor.channel import ServiceAddress, ServiceTransport
from wireproof_proxy.backends.cursor.run import RunTransport
from wireproof_proxy.backends.cursor.run_sse import RunSseTransport
from wireproof_proxy.backends.cursor.service import CursorService
from wireproof_proxy.backends.cursor.turn import Waits
from wireproof_proxy.settings import CursorTransport, SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_proxy.settings import CursorSettings, ProxySettings

TRANSPORTS: Mapping[CursorTransport, Callable[[ServiceAddress], ServiceTransport]] = {
    "run": RunTransport,
    "run-sse": RunSseTransport,
}


def cursor_backend(settings: ProxySettings) -> CursorService:
    """Turns by the service at `CURSOR_BASE_URL`, not started yet.

    Raises:
        SettingsError: the address, the token or the folder is missing or wrong.
    """
    cursor = settings.cursor
    return CursorService(
        ServiceAddress(base_url=_base_url(cursor), token=_token(cursor)),
        TRANSPORTS[cursor.transport],
        BuiltinTools(_scratch(cursor), may_write=cursor.scratch_write, may_run=cursor.scratch_shell),
        waits=Waits(settled=cursor.settle_ms / 1000, announced=settings.call_wait_ms / 1000),
        patience=settings.stalled_client_ms / 1000,
    )


def _base_url(cursor: CursorSettings) -> str:
    if cursor.base_url is None:
        raise SettingsError("CURSOR_BASE_URL: not set; name the address of the service, such as http://127.0.0.1:9000")
    parsed = urlsplit(cursor.base_url)
    try:
        usable = parsed.scheme in {"http", "https"} and parsed.hostname and parsed.port != 0
    except ValueError:  # the port is no number
        usable = False
    if not usable:
        raise SettingsError(f"CURSOR_BASE_URL: {cursor.base_url!r} is no address; write http:// or https:// and a host")
    return cursor.base_url.rstrip("/")


def _token(cursor: CursorSettings) -> str:
    token = cursor.token.get_secret_value() if cursor.token else ""
    # The value is not shown: it is a secret.
    if not token or not (token.isascii() and token.isprintable()):
        raise SettingsError("CURSOR_TOKEN: not set, or not printable ASCII; give the bearer token for the service")
    return token


def _scratch(cursor: CursorSettings) -> Path | None:
    if cursor.scratch is None:
        if cursor.scratch_write or cursor.scratch_shell:
            raise SettingsError("CURSOR_SCRATCH: not set, but CURSOR_SCRATCH_WRITE or _SHELL is; name a folder")
        return None
    folder = Path(cursor.scratch)
    if not folder.is_dir():
        raise SettingsError(f"CURSOR_SCRATCH: {cursor.scratch!r} is no folder; make it, or name another one")
    return folder.resolve()
