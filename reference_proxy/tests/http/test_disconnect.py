from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from assay_proxy.http import disconnect as module
from assay_proxy.http.disconnect import disconnect_check

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_where_there_is_no_socket_no_one_leaves() -> None:
    assert not disconnect_check(None)()


def test_a_client_that_waits_has_not_gone(ends: tuple[socket.socket, socket.socket]) -> None:
    assert not disconnect_check(ends[0])()


def test_a_client_that_closes_has_gone(ends: tuple[socket.socket, socket.socket]) -> None:
    gone = disconnect_check(ends[0])
    ends[1].close()
    assert gone()


def test_a_next_request_on_the_connection_is_left_where_it_is(ends: tuple[socket.socket, socket.socket]) -> None:
    ends[1].send(b"GET /")
    assert not disconnect_check(ends[0])()
    assert ends[0].recv(10) == b"GET /"


def test_the_end_is_seen_by_looking_where_polling_does_not_report_it(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_HANG_UP", 0)
    gone = disconnect_check(ends[0])
    assert not gone()
    ends[1].shutdown(socket.SHUT_WR)
    assert gone()


def test_a_broken_socket_is_one_that_no_one_reads(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = ends
    ours.close()
    assert module._at_end(ours)


def test_nothing_to_read_is_no_end(ends: tuple[socket.socket, socket.socket]) -> None:
    assert not module._at_end(ends[0])
