"""The backends that the proxy knows, by the name that `PROXY_BACKEND` selects.

To add one: a folder beside `codex/` with a function from the settings to a `AgentBackend`, and a line here. What it
needs from the environment is a class of its own in `settings.py`. The name is also that of the backend's default model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from wireproof_proxy.backends.codex.supervisor import codex_backend
from wireproof_proxy.settings import ProxySettings, SettingsError

if TYPE_CHECKING:
    from wireproof_proxy.backends.backend import AgentBackend

Make = Callable[[ProxySettings], "AgentBackend"]


def _cursor_backend(settings: ProxySettings) -> AgentBackend:
    try:
        from wireproof_proxy.backends.cursor.service import (  # noqa: PLC0415 (its messages and HTTP client slow a start)
            cursor_backend,
        )
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"PROXY_BACKEND: cursor needs python -m pip install 'wireproof[cursor]' ({error})"
        ) from error
    return cursor_backend(settings)


BACKENDS: dict[str, Make] = {
    "codex": codex_backend,
    "cursor": _cursor_backend,
}


def make_backend(settings: ProxySettings) -> AgentBackend:
    """The backend that the settings select, not started yet.

    Raises:
        SettingsError: when there is no backend of this name.
    """
    make = BACKENDS.get(settings.backend)
    if make is None:
        raise SettingsError(f"PROXY_BACKEND: there is no backend {settings.backend!r}; known: {', '.join(BACKENDS)}")
    return make(settings)
