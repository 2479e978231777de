from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay_mocks.codex.listening import Listening, RefusedError, read_listening

if TYPE_CHECKING:
    from pathlib import Path


def _read(url: str | None, mode: str | None = None, file: object = None, *, known: bool = True) -> Listening | None:
    given = {"--listen": url, "--ws-auth": mode, "--ws-token-file": str(file) if file else None}
    return read_listening(given, known=known)


@pytest.mark.parametrize("url", [None, "stdio://"])
def test_without_an_address_it_is_stdio(url: str | None) -> None:
    assert _read(url) is None


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [("ws://127.0.0.1:0", "127.0.0.1", 0), ("ws://[::1]:65535", "::1", 65535)],
)
def test_an_address_is_an_ip_and_a_port(url: str, host: str, port: int) -> None:
    assert _read(url) == Listening(host=host, port=port)


def test_with_a_token_every_address_will_do(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("s3cret\n")
    listening = _read("ws://0.0.0.0:9", "capability-token", file)
    assert listening == Listening(host="0.0.0.0", port=9, token="s3cret")


INVALID = (
    "error: invalid value '{0}' for '--listen <URL>': invalid websocket --listen URL `{0}`; expected `ws://IP:PORT`"
)


@pytest.mark.parametrize(
    "url", ["ws://127.0.0.1", "ws://localhost:9", "ws://:9", "ws://1.2.3.4:x", "ws://1.2.3.4:65536", "ws://[::1:9"]
)
def test_what_is_no_address_is_refused_as_codex_refuses_it(url: str) -> None:
    with pytest.raises(RefusedError) as refused:
        _read(url)
    assert str(refused.value) == f"{INVALID.format(url)}\n\nFor more information, try '--help'.\n"
    assert refused.value.status == 2


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (
            ("http://x",),
            2,
            (
                "error: invalid value 'http://x' for '--listen <URL>': unsupported --listen URL `http://x`; "
                "expected `stdio://`, `unix://`, `unix://PATH`, `ws://IP:PORT`, or `off`\n"
            ),
        ),
        (
            ("ws://0.0.0.0:9",),
            1,
            (
                "Error: refusing to start non-loopback websocket listener 0.0.0.0:9 without auth; "
                "configure `--ws-auth capability-token` or `--ws-auth signed-bearer-token`\n"
            ),
        ),
        (
            ("ws://127.0.0.1:0", "bogus"),
            2,
            (
                "error: invalid value 'bogus' for '--ws-auth <MODE>'\n"
                "  [possible values: capability-token, signed-bearer-token]\n"
            ),
        ),
        (
            ("ws://127.0.0.1:0", "capability-token"),
            1,
            "Error: `--ws-token-file` or `--ws-token-sha256` is required when `--ws-auth capability-token` is set\n",
        ),
        (
            ("ws://127.0.0.1:0", None, "/nowhere"),
            1,
            "Error: websocket auth flags require `--ws-auth capability-token` or `--ws-auth signed-bearer-token`\n",
        ),
        (
            ("ws://127.0.0.1:0", "capability-token", "/nowhere"),
            1,
            "Error: failed to read websocket auth secret /nowhere: No such file or directory (os error 2)\n",
        ),
    ],
)
def test_every_other_mistake_is_told_as_codex_tells_it(
    arguments: tuple[str | None, ...], status: int, text: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        _read(*arguments)
    assert str(refused.value).startswith(text)
    assert refused.value.status == status


@pytest.mark.parametrize(
    ("arguments", "option"),
    [(("stdio://",), "--listen"), ((None, "capability-token"), "--ws-auth"), ((None, None, "f"), "--ws-token-file")],
)
def test_a_version_that_knows_no_listening_refuses_the_option(arguments: tuple[str | None, ...], option: str) -> None:
    with pytest.raises(RefusedError) as refused:
        _read(*arguments, known=False)
    assert str(refused.value) == (
        f"error: unexpected argument '{option}' found\n\n"
        "Usage: codex app-server [OPTIONS] [COMMAND]\n\nFor more information, try '--help'.\n"
    )
    assert refused.value.status == 2


@pytest.mark.parametrize("arguments", [("off",), ("unix://",), ("unix:///x",), ("stdio://", "signed-bearer-token")])
def test_what_the_mock_does_not_play_is_said(arguments: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"assay-codex .* only"):
        _read(*arguments)
