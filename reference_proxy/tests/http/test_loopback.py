from __future__ import annotations

import pytest

from wireproof_surfaces.http.cors import is_loopback, names_loopback, reaches_this_machine

OWN = ["localhost", "LOCALHOST", "localhost.", "a.localhost", "127.0.0.1", "127.1.2.3", "[::1]"]
OTHERS = ["", "example.com", "localhost.example.com", "127.0.0.1.nip.io", "0.0.0.0", "10.0.0.1", "[::]", "[fe80::1]"]


@pytest.mark.parametrize("name", OWN)
def test_names_of_this_machine(name: str) -> None:
    assert is_loopback(name)
    assert names_loopback(name)
    assert names_loopback(f"{name}:8787")


@pytest.mark.parametrize("name", OTHERS)
def test_other_names(name: str) -> None:
    assert not is_loopback(name)
    assert not names_loopback(name)
    assert not names_loopback(f"{name}:8787")


def test_what_a_client_reaches_its_own_machine_by() -> None:
    assert [name for name in (*OWN, *OTHERS) if reaches_this_machine(name)] == [*OWN, "0.0.0.0", "[::]"]


@pytest.mark.parametrize("host", ["[::1", "localhost@example.com", "a:b:c"])
def test_what_is_no_host(host: str) -> None:
    assert not names_loopback(host)
