from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wireproof_codex.transports.listening import Listening, ListeningSocket, RefusedError, read_listening
from wireproof_codex.versions.version import NEWEST, VERSIONS, Version

if TYPE_CHECKING:
    from pathlib import Path


def _read(
    url: str | None,
    mode: str | None = None,
    file: object = None,
    digest: str | None = None,
    *,
    version: Version = NEWEST,
) -> Listening | ListeningSocket | None:
    options = {"--ws-auth": mode, "--ws-token-file": str(file) if file else None, "--ws-token-sha256": digest}
    return read_listening({"--listen": url, **options}, version.transport.kinds, "/home/codex")


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
    assert listening == Listening(host="0.0.0.0", port=9, digest=S3CRET)
    assert _read("ws://0.0.0.0:9", "capability-token", digest=S3CRET.upper()) == listening


def test_a_unix_socket_is_a_path_or_below_the_home() -> None:
    assert _read("unix:///run/x") == ListeningSocket(path="/run/x")
    assert _read("unix://") == ListeningSocket(path="/home/codex/app-server-control/app-server-control.sock")


S3CRET = "1ec1c26b50d5d3c58d9583181af8076655fe00756bf7285940ba3670f99fcba0"
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
        (
            ("ws://127.0.0.1:0", "capability-token", "/dev/null"),
            1,
            "Error: websocket auth secret /dev/null must not be empty\n",
        ),
        (
            ("ws://127.0.0.1:0", "capability-token", "/dev/null", S3CRET),
            1,
            "Error: `--ws-token-file` and `--ws-token-sha256` are mutually exclusive\n",
        ),
        *(
            (
                (None, "capability-token", None, digest),
                1,
                "Error: --ws-token-sha256 must be a 64-character hex SHA-256 digest\n",
            )
            for digest in ("12", "x" * 64)
        ),
        (("off",), 1, "Error: no transport configured; use --listen or enable remote control\n"),
    ],
)
def test_every_other_mistake_is_reported_as_codex_says_it(
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
        _read(*arguments, version=VERSIONS["0.99.0"])
    assert str(refused.value) == (
        f"error: unexpected argument '{option}' found\n\n"
        "Usage: codex app-server [OPTIONS] [COMMAND]\n\nFor more information, try '--help'.\n"
    )
    assert refused.value.status == 2


def test_what_came_later_older_versions_refuse() -> None:
    for number, arguments, text in (
        ("0.100.0", ("ws://127.0.0.1:0", "capability-token"), "error: unexpected argument '--ws-auth' found"),
        ("0.118.0", (None, None, None, S3CRET), "error: unexpected argument '--ws-token-sha256' found"),
        ("0.118.0", (None, "capability-token"), "Error: `--ws-token-file` is required when"),
        ("0.118.0", ("unix://",), "error: invalid value 'unix://' for '--listen <URL>': unsupported --listen URL"),
        ("0.118.0", ("off",), "error: invalid value 'off' for '--listen <URL>': unsupported --listen URL"),
    ):
        with pytest.raises(RefusedError) as refused:
            _read(*arguments, version=VERSIONS[number])
        assert str(refused.value).startswith(text)
    assert _read("ws://0.0.0.0:9", version=VERSIONS["0.118.0"]) == Listening(host="0.0.0.0", port=9)


def test_what_the_mock_does_not_play_is_said() -> None:
    with pytest.raises(ValueError, match=r"wireproof-codex .* only"):
        _read("stdio://", "signed-bearer-token")
