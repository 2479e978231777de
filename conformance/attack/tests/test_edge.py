"""What brought the edge down before it had limits, in the sizes that did: each against a process of its own."""

from __future__ import annotations

import contextlib
import random
import re
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Record = Callable[[str, object], None]
    """Keeps a figure beside the verdict, for `--junitxml`."""

pytestmark = pytest.mark.usefixtures("unharmed")

MB = 10**6
HELD = 16 * MB
"""Bytes that a server may have more while a client sends without an end."""
FILLER = b"a" * 65536
EMPTY_LINES = b"\r\n" * 32768
HOST = b"Host: localhost\r\n"
CHAT = b"POST /v1/chat/completions HTTP/1.1\r\n"
KEY = b"Authorization: Bearer key-under-attack\r\n"
BODY = b'{"model": "codex", "messages": [{"role": "user", "content": "hi"}]}'
RIGHT = (
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer key-under-attack\r\n\r\n",
    b"%bHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (CHAT, len(BODY), BODY),
    b"%bHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" % CHAT,
    b"OPTIONS /v1/responses HTTP/1.1\r\nHost: localhost\r\nOrigin: http://a\r\n\r\n",
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
JSON = b"Content-Type: application/json\r\n"
CASES = Path(__file__).parents[3] / "reference_proxy" / "tests" / "http" / "framing.toml"
FRAMING: dict[str, str] = tomllib.loads(CASES.read_text(encoding="utf-8"))
"""Requests that two readers read in two ways."""
OF_HOSTS = {"no host", "two hosts", "a host that is none"}
"""Cases about hosts: others are asked of a name of this machine, which the recorder answers at alone."""
LINES = {b"{chat}": CHAT + KEY + JSON, b"{chat of 1.0}": CHAT.replace(b"1.1", b"1.0") + KEY + JSON}
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


@pytest.mark.parametrize(
    ("head", "size"),
    [
        (b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 400000000\r\n\r\n", 400 * MB),
        (CHAT + HOST + b"Content-Length: 400000000\r\n\r\n", 400 * MB),
        (CHAT + HOST + b"Transfer-Encoding: chunked\r\n\r\n17D78400\r\n", 400 * MB),
        (b"GET /", 200 * MB),
        (b"", 200 * MB),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nA: ", 200 * MB),
    ],
    ids=["body of a health check", "body without a key", "chunk without a key", "line", "empty lines", "field"],
)
def test_what_a_client_sends_without_a_key_is_not_held(
    attacked: Any, head: bytes, size: int, record_property: Record
) -> None:
    before = highest = attacked.memory
    sent = 0
    with attacked.dial() as client, contextlib.suppress(OSError):
        client.sendall(head)
        while sent < size:
            sent += client.send(FILLER if head else EMPTY_LINES)
            if sent % (64 * len(FILLER)) < len(FILLER):
                highest = max(highest, attacked.memory)
    held = max(highest, attacked.memory) - before
    record_property("MB held", held // MB)
    record_property("MB taken", sent // MB)
    assert held < HELD
    assert sent < size  # it was refused on the way


def test_silent_and_half_sent_connections_hold_up_no_other_and_are_let_go(
    attacked: Any, ask: Any, until: Any, record_property: Record
) -> None:
    slow = (b"", b"GET /healthz HT", CHAT + HOST + b"Content-Length: 9\r\n\r\n{")
    open_before = attacked.descriptors
    with contextlib.ExitStack() as clients:
        for number in range(600):
            clients.enter_context(attacked.dial()).sendall(slow[number % len(slow)])
        began = time.monotonic()
        assert b"200 OK" in ask()
        took = time.monotonic() - began
        record_property("seconds", round(took, 2))
        assert took < 4
        # A silent one has 75 s, the others 15 and 60.
        until(lambda: attacked.descriptors <= open_before + 4, "all of them to be let go", 100)


@pytest.mark.parametrize("name", FRAMING)
def test_what_can_be_read_in_two_ways_is_refused(attacked: Any, name: str, record_property: Record) -> None:
    case = FRAMING[name] if name in OF_HOSTS else FRAMING[name].replace("Host: x\r\n", "Host: localhost\r\n")
    sent, said = case.encode("latin-1"), b""
    for line, written in LINES.items():
        sent = sent.replace(line, written)
    with attacked.dial() as client:
        client.sendall(sent + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        while piece := client.recv(65536):
            said += piece
    statuses = [int(status) for status in STATUS.findall(said)]
    record_property("statuses", statuses)
    # One answer: what stands behind it may be a part of the body, or a request that another reader did not see.
    assert statuses == [400]


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


def test_ten_thousand_bad_requests_are_no_failure_of_the_servers_own(attacked: Any, record_property: Record) -> None:
    statuses: list[int] = []
    for request in bad_requests(10_000):
        said = b""
        with attacked.dial() as client, contextlib.suppress(OSError):
            client.sendall(request)
            client.shutdown(1)
            while piece := client.recv(65536):
                said += piece
        statuses += [int(status) for status in STATUS.findall(said)]
    failures = [status for status in statuses if status >= 500 and status != 505]
    record_property("failures", len(failures))
    record_property("traces", attacked.log.read_text(errors="replace").count("Traceback"))
    assert failures == []
    assert sum(status >= 400 for status in statuses) > 5_000
