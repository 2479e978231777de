"""Ports at which a proxy may listen."""

from __future__ import annotations

import secrets
import socket
from collections import deque
from typing import TYPE_CHECKING

import pytest

from wireproof.model.verdict import HarnessError
from wireproof.targets.ports import free_port

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Two free ports; they alone are drawn, always in this order."""
    ports = free_port(), free_port()
    monkeypatch.setattr(secrets.SystemRandom, "sample", lambda _self, _ports, _count: ports)
    monkeypatch.setattr("wireproof.targets.ports._given", deque())
    return ports


def test_a_port_in_use_is_left_out(two: tuple[int, int]) -> None:
    with socket.create_server(("127.0.0.1", two[0])):
        assert free_port() == two[1]


def test_a_port_is_not_given_twice_though_nothing_listens_there_yet(two: tuple[int, int]) -> None:
    assert (free_port(), free_port()) == two


@pytest.mark.parametrize(("said", "first"), [("20000\t60999\n", 20000), ("1024\t65535\n", 11000), (None, 49152)])
def test_the_ports_of_connections_are_left_out(
    said: str | None, first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[range] = []
    file = tmp_path / "ip_local_port_range"
    if said:
        file.write_text(said)
    monkeypatch.setattr("wireproof.targets.ports.EPHEMERAL", file)

    def sample(_self: object, ports: range, _count: int) -> list[int]:
        asked.append(ports)
        return []

    monkeypatch.setattr(secrets.SystemRandom, "sample", sample)
    with pytest.raises(HarnessError, match="no free port"):
        free_port()
    assert asked == [range(10000, first)]
