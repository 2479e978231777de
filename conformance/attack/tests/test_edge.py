"""What brought the edge down before it had limits, in the sizes that did: each against the proxy's own process."""

from __future__ import annotations

import contextlib
import random
import re
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("unharmed")

MB = 10**6
HELD = 16 * MB
"""Bytes that the proxy may have more while a client sends without an end."""
FILLER = b"a" * 65536
HOST = b"Host: x\r\n"
CHAT = b"POST /v1/chat/completions HTTP/1.1\r\n"
BODY = b'{"model": "codex", "messages": [{"role": "user", "content": "hi"}]}'
RIGHT = (
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer key-under-attack\r\n\r\n",
    b"%bHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (CHAT, len(BODY), BODY),
    b"%bHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" % CHAT,
    b"OPTIONS /v1/responses HTTP/1.1\r\nHost: x\r\nOrigin: http://a\r\n\r\n",
)
"""Requests of which the bad ones are made."""
ODD = (
    b"\r\n",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b"\t",
    b":",
    b"\xff",
    b"%",
    b"//",
    b"{",
    b"9",
    b"Content-Length: 2\r\n",
    HOST,
)


@pytest.mark.parametrize(
    ("head", "size"),
    [
        (b"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 400000000\r\n\r\n", 400 * MB),
        (CHAT + HOST + b"Content-Length: 400000000\r\n\r\n", 400 * MB),
        (CHAT + HOST + b"Transfer-Encoding: chunked\r\n\r\n17D78400\r\n", 400 * MB),
        (b"GET /", 200 * MB),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: ", 200 * MB),
    ],
    ids=["body of a health check", "body without a key", "chunk without a key", "line", "field"],
)
def test_what_a_client_sends_without_a_key_is_not_held(proxy: Any, head: bytes, size: int) -> None:
    before = highest = proxy.memory
    sent = 0
    with proxy.dial() as client, contextlib.suppress(OSError):
        client.sendall(head)
        while sent < size:
            sent += client.send(FILLER)
            if sent % (64 * len(FILLER)) < len(FILLER):
                highest = max(highest, proxy.memory)
    assert max(highest, proxy.memory) - before < HELD
    assert sent < size  # it was refused on the way


def test_slow_clients_hold_up_no_other(proxy: Any, ask: Any) -> None:
    slow = (b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: ", CHAT + HOST + b"Content-Length: 9\r\n\r\n{")
    with contextlib.ExitStack() as clients:
        for number in range(85):
            clients.enter_context(proxy.dial()).sendall(slow[number % len(slow)])
        began = time.monotonic()
        assert b"200 OK" in ask()
        # They are let go after 15 s, at the earliest: whoever waits for that has been held up.
        assert time.monotonic() - began < 10


def bad_requests(count: int) -> Iterator[bytes]:
    """Requests that were right before something was done to them; the same ones each time."""
    dice = random.Random(14)  # noqa: S311 - the same ones each time is what is wanted
    for _ in range(count):
        request = bytearray(dice.choice(RIGHT))
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(request))
            match dice.randrange(4):
                case 0:
                    request[at] = dice.randrange(256)
                case 1:
                    del request[at : at + dice.randint(1, 8)]
                case 2:
                    request[at:at] = dice.choice(ODD)
                case _:
                    request += request[at:]
            request = request or bytearray(b"\r\n")
        yield bytes(request)


def test_ten_thousand_bad_requests_are_no_failure_of_the_proxys_own(proxy: Any) -> None:
    statuses: list[int] = []
    for request in bad_requests(10_000):
        said = b""
        with proxy.dial() as client, contextlib.suppress(OSError):
            client.sendall(request)
            client.shutdown(1)
            while piece := client.recv(65536):
                said += piece
        statuses += [int(status) for status in re.findall(rb"^HTTP/1\.1 (\d{3}) ", said, re.MULTILINE)]
    assert [status for status in statuses if status >= 500 and status != 505] == []
    assert sum(status >= 400 for status in statuses) > 5_000
