from __future__ import annotations

import ssl

import pytest

from wireproof.targets.clients import verify_for


def test_plain_http_to_this_machine_does_without_authorities() -> None:
    found = verify_for("http://127.0.0.1:1/v1")
    assert isinstance(found, ssl.SSLContext)
    assert (found.cert_store_stats()["x509"], found.verify_mode, found.check_hostname) == (0, ssl.CERT_REQUIRED, True)
    assert verify_for("http://localhost:2/v1") is found


@pytest.mark.parametrize("url", ["https://127.0.0.1:1/v1", "https://example.com/v1", "http://example.com/v1"])
def test_all_else_is_known_by_the_usual_authorities(url: str) -> None:
    assert verify_for(url) is True
