from __future__ import annotations

import pytest

from wireproof.model.verdict import HarnessError
from wireproof.targets.validity import check_url, is_local, url_fault, usual_base


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.9.9.9/v1", True),
        ("http://localhost:1/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://0.0.0.0:4000/v1", True),
        ("http://[::]:4000/v1", True),
        ("http://proxy.localhost/v1", True),
        ("http://example.com/v1", False),
        ("http://10.0.0.1/v1", False),
        ("http://[::1/v1", False),
        ("not a url", False),
    ],
)
def test_only_this_machine_is_local(url: str, *, local: bool) -> None:
    assert is_local(url) is local


@pytest.mark.parametrize("url", ["http://127.0.0.1:8787/v1", "https://example.com", "http://[::1]:1/v1"])
def test_a_usable_url_has_no_fault(url: str) -> None:
    assert url_fault(url) == ""
    check_url(url)


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("ftp://127.0.0.1/v1", "it should begin with http:// or https://"),
        ("localhost/v1", "it should begin with http:// or https://"),
        ("http:///v1", "it names no host"),
        ("http://127.0.0.1:99999/v1", "Port out of range 0-65535"),
        ("http://[::1/v1", "Invalid IPv6 URL"),
        ("http://127.0.0.1/v1?a=b", "it should end before the query and the fragment"),
        ("http://127.0.0.1/v1#a", "it should end before the query and the fragment"),
    ],
)
def test_an_unusable_url_has_its_fault_named(url: str, fault: str) -> None:
    assert url_fault(url) == fault
    with pytest.raises(HarnessError) as raised:
        check_url(url)
    assert str(raised.value) == f"{url!r} is no usable URL: {fault}"


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("http://h", "http://h/v1"),
        ("http://h/api/", "http://h/api/v1"),
        ("http://h/v1/chat/completions", "http://h/v1"),
        ("http://h/responses/", "http://h/v1"),
        ("http://h/v1", ""),
        ("http://h/v1/", ""),
    ],
)
def test_what_is_missing_of_a_base_url_and_what_is_too_much_is_known(url: str, meant: str) -> None:
    assert usual_base(url) == meant
