from __future__ import annotations

import os
import ssl
from pathlib import Path

import certifi
import pytest

from wireproof.targets.clients import check_environment, past_proxies, verify_for, with_remedy
from wireproof.targets.kinds import OptionError

PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
AUTHORITIES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
END = "END CERTIFICATE-----\n"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """One that names no proxy and no authorities."""
    for name in (
        "ALL_PROXY",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "SSLKEYLOGFILE",
    ):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, "127.0.0.1,localhost"),
        ({"NO_PROXY": ".corp"}, ".corp,127.0.0.1,localhost"),
        ({"NO_PROXY": "a", "no_proxy": "b"}, "b,127.0.0.1,localhost"),
    ],
)
def test_what_is_started_asks_this_machine_past_the_proxies(
    said: dict[str, str], expected: str, environment: pytest.MonkeyPatch
) -> None:
    for name, value in {"HTTP_PROXY": "http://proxy.corp:3128", **said}.items():
        environment.setenv(name, value)
    found = past_proxies()
    assert (found["NO_PROXY"], found["no_proxy"]) == (expected, expected)
    assert found["HTTP_PROXY"] == "http://proxy.corp:3128"  # other machines may be reached by it alone


def test_without_proxies_the_environment_is_as_it_was(environment: pytest.MonkeyPatch) -> None:
    assert past_proxies() == dict(os.environ)
    environment.setenv("HTTP_PROXY", "http://proxy.corp:3128")
    environment.setenv("no_proxy", "*")
    assert past_proxies() == dict(os.environ)


def test_plain_http_to_this_machine_does_without_authorities() -> None:
    found = verify_for("http://127.0.0.1:1/v1")
    assert isinstance(found, ssl.SSLContext)
    assert (found.cert_store_stats()["x509"], found.verify_mode, found.check_hostname) == (0, ssl.CERT_REQUIRED, True)
    assert verify_for("http://localhost:2/v1") is found


def test_https_to_this_machine_is_known_by_the_authorities_of_the_environment(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "own.pem"
    own.write_text(Path(certifi.where()).read_text(encoding="utf-8").partition("END CERTIFICATE-----")[0] + END)
    environment.setenv("SSL_CERT_FILE", str(own))
    found = verify_for("https://127.0.0.1:1/v1")
    assert isinstance(found, ssl.SSLContext)
    assert found.cert_store_stats()["x509"] == 1
    environment.setenv("SSL_CERT_FILE", "/nowhere")
    with pytest.raises(OptionError, match=r"cannot be asked: .* \(the environment sets SSL_CERT_FILE\)"):
        check_environment("https://127.0.0.1:1/v1")


@pytest.mark.parametrize("url", ["https://example.com/v1", "http://example.com/v1"])
def test_all_else_is_known_by_what_httpx_finds(url: str) -> None:
    assert verify_for(url) is True


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("no route to host", ""),
        ("[SSL: WRONG_VERSION_NUMBER]", "; most likely it serves http:// there"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED]", "; SSL_CERT_FILE=FILE names the authorities to trust"),
    ],
)
def test_what_helps_is_said_where_it_is_known(said: str, remedy: str) -> None:
    assert with_remedy(said) == said + remedy
