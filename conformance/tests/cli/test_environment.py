"""Proxies and authorities of the environment that cannot be used: the error comes before anything is sent."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from commands import wireproof

from wireproof.results.certificate import ExitStatus
from wireproof.targets.clients import check_environment
from wireproof.targets.kinds import OptionError

if TYPE_CHECKING:
    from pathlib import Path

REMOTE = "https://models.example/v1"
VARIABLES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """One that says nothing of the way, and lacks what a SOCKS proxy needs."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.chdir(tmp_path)
    return monkeypatch


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("HTTPS_PROXY", "socks5://127.0.0.1:9", "a SOCKS proxy needs more: python -m pip install 'httpx[socks]'"),
        ("all_proxy", "ftp://127.0.0.1", "Unknown scheme for proxy URL"),
        ("HTTPS_PROXY", "http://127.0.0.1:99999", "Port out of range 0-65535"),
        ("HTTPS_PROXY", "http://[::1", "Invalid IPv6 URL"),
        ("no_proxy", "[::", "Invalid port"),
        ("SSL_CERT_FILE", "/nowhere", "No such file or directory"),
    ],
)
def test_what_cannot_be_used_is_an_error_that_names_its_variable(
    name: str, value: str, why: str, environment: pytest.MonkeyPatch
) -> None:
    check_environment(REMOTE)
    environment.setenv(name, value)
    check_environment("http://127.0.0.1:8787/v1")  # this machine is asked without any of it
    with pytest.raises(OptionError) as refused:
        check_environment(REMOTE)
    said = str(refused.value)
    assert said.startswith(f"{REMOTE} cannot be asked: ")
    assert why in said
    assert said.endswith(f"(the environment sets {name.upper()})")
    for words in (
        ("certify", "--url", REMOTE),
        ("init", "--url", REMOTE),
        ("persona", "chatgpt-md", "--url", REMOTE, "--say", "Hello."),
        ("record", "--upstream", REMOTE, "-o", "recorded.yaml"),
    ):
        done = wireproof(*words)
        assert done.exit_code == ExitStatus.USAGE, words
        assert said in done.output, words
