"""What is kept of requests: no more than bounds say, and without the collector of cycles, which comes seldom."""

from __future__ import annotations

import gc
import json
import socket
import tracemalloc
from typing import Any
from urllib.parse import urlsplit

import pytest

from wireproof_endpoint.journal.entry import AnswerEnding, Bounds
from wireproof_endpoint.journal.ring import Journal
from wireproof_endpoint.serving import endpoint_of, running
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.library import LIBRARY

LARGE = 1_000_000
REQUESTS = 12


def asked(url: str, path: str, body: dict[str, Any], *, closes: bool) -> None:
    content, address = json.dumps(body).encode(), urlsplit(url)
    ends = b"Connection: close\r\n" if closes else b""
    with socket.create_connection((str(address.hostname), address.port or 0), timeout=60) as client:
        client.sendall(
            b"POST /v1/%b HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%bContent-Length: %d\r\n\r\n"
            % (path.encode(), ends, len(content))
        )
        client.sendall(content)
        client.shutdown(socket.SHUT_WR)
        said = b""
        while piece := client.recv(65536):
            said = said or piece
    assert said.startswith(b"HTTP/1.1 ")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("closes", [True, False])
@pytest.mark.parametrize(
    ("path", "field"),
    [("chat/completions", "messages"), ("responses", "input"), ("nowhere", "messages")],
)
def test_a_large_request_is_forgotten_when_it_is_answered(path: str, field: str, *, closes: bool) -> None:
    said = [{"role": "user", "content": "a" * LARGE}]
    body = {"model": "m", field: said, "store": False}
    endpoint = endpoint_of(EndpointSettings(), lambda: LIBRARY)
    with running(endpoint) as url:
        asked(url, path, body, closes=closes)
        gc.collect()
        gc.disable()
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            for _ in range(REQUESTS):
                asked(url, path, body, closes=closes)
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            gc.enable()
    # Less than three of the bodies: of each, the journal has 16 KiB, and the last may be on its way out.
    assert after - before < 3 * LARGE


def test_a_journal_holds_no_more_bytes_than_it_may() -> None:
    journal = Journal(100, Bounds(body=10_000), size=150_000)
    for number in range(20):
        entry = journal.begin(method="POST", path="/", query="", headers={"a": "b" * 1000}, now=0.0, when=0.0)
        entry.take(b"c" * (9_000 if number % 2 else 10))
        journal.end(entry, 1.0, AnswerEnding.COMPLETED)
    assert sum(entry.weight for entry in journal.entries) <= 150_000
    assert [entry.number for entry in journal.entries] == list(range(15, 21))


def test_an_entry_that_is_larger_than_all_may_be_is_the_only_one() -> None:
    journal = Journal(100, Bounds(body=10_000), size=5_000)
    for _ in range(3):
        entry = journal.begin(method="POST", path="/", query="", headers={}, now=0.0, when=0.0)
        entry.take(b"c" * 9_000)
        journal.end(entry, 1.0, AnswerEnding.COMPLETED)
    assert [entry.number for entry in journal.entries] == [3]


def test_an_answer_that_ends_after_its_entry_was_forgotten_counts_no_more() -> None:
    journal = Journal(1)
    first = journal.begin(method="GET", path="/", query="", headers={}, now=0.0, when=0.0)
    second = journal.begin(method="GET", path="/", query="", headers={}, now=0.0, when=0.0)
    journal.end(first, 1.0, AnswerEnding.COMPLETED)
    journal.end(second, 1.0, AnswerEnding.COMPLETED)
    assert list(journal.entries) == [second]
