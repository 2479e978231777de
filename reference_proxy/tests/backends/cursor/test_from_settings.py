from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from wireproof_proxy.backends.cursor.service import CursorService
from wireproof_proxy.backends.table import make_backend
from wireproof_proxy.settings import CursorSettings, ProxySettings, SettingsError

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://127.0.0.1:9"


def made(**cursor: Any) -> Any:
    return make_backend(ProxySettings(backend="cursor", cursor=CursorSettings(**cursor)))


def test_the_backend_is_made_of_an_address_and_a_token(tmp_path: Path) -> None:
    for transport in ("run", "run-sse"):
        backend = made(base_url=f"{URL}/", token="t", transport=transport, scratch=str(tmp_path))
        assert isinstance(backend, CursorService)
        assert backend.alive
        backend.stop()


@pytest.mark.parametrize(
    ("cursor", "variable"),
    [
        ({"token": "t"}, "CURSOR_BASE_URL"),
        ({"base_url": "127.0.0.1:9", "token": "t"}, "CURSOR_BASE_URL"),
        ({"base_url": "ftp://127.0.0.1", "token": "t"}, "CURSOR_BASE_URL"),
        ({"base_url": "http://127.0.0.1:port", "token": "t"}, "CURSOR_BASE_URL"),
        ({"base_url": "http://[::1", "token": "t"}, "CURSOR_BASE_URL"),
        ({"base_url": URL}, "CURSOR_TOKEN"),
        ({"base_url": URL, "token": "line\nbreak"}, "CURSOR_TOKEN"),
        ({"base_url": URL, "token": "t", "scratch": "/nowhere/at/all"}, "CURSOR_SCRATCH"),
        ({"base_url": URL, "token": "t", "scratch_shell": True}, "CURSOR_SCRATCH"),
        ({"base_url": URL, "token": "t", "scratch_write": True}, "CURSOR_SCRATCH"),
    ],
)
def test_what_is_missing_or_wrong_is_named(cursor: dict[str, Any], variable: str) -> None:
    with pytest.raises(SettingsError, match=f"^{variable}: "):
        made(**cursor)


def test_the_service_does_not_fail_before_its_calls_are_complete() -> None:
    cursor = CursorSettings(base_url=URL, token=SecretStr("t"), settle_ms=700)
    with pytest.raises(SettingsError, match=r"^PROXY_IDLE_TIMEOUT_MS: 700 is not above CURSOR_SETTLE_MS"):
        make_backend(ProxySettings(backend="cursor", cursor=cursor, idle_timeout_ms=700))
    make_backend(ProxySettings(backend="cursor", cursor=cursor, idle_timeout_ms=701)).stop()


def test_the_token_is_shown_by_no_message() -> None:
    with pytest.raises(SettingsError) as raised:
        made(base_url=URL, token="s3cret\n")
    assert "s3cret" not in str(raised.value)


def test_nothing_of_the_real_service_is_built_in() -> None:
    assert CursorSettings.model_fields["base_url"].default is None
