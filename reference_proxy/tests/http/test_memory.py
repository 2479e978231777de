"""What is kept of a request once it is answered: nothing, and without the collector of cycles."""

from __future__ import annotations

import gc
import http.client
import time
import weakref
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from wireproof_proxy.http import thread_answer
from wireproof_proxy.http.wsgi import wsgi_server

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Seen(thread_answer.ThreadAnswer):
    """An answer that can be watched."""

    __slots__ = ("__weakref__",)


@contextmanager
def no_collector() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize("kept", [False, True])
def test_a_request_is_forgotten_when_it_is_answered(monkeypatch: pytest.MonkeyPatch, *, kept: bool) -> None:
    monkeypatch.setattr("wireproof_proxy.http.wsgi.ThreadAnswer", Seen)
    seen, cycle = [], []

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        found = environ["wireproof_proxy.client"]
        found.when_gone(lambda: environ)
        seen.append(weakref.ref(found))
        if kept:
            cycle.append(environ)
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]

    with (
        no_collector(),
        wsgi_server(app, "127.0.0.1", 0, turns=1) as server,
        closing(http.client.HTTPConnection(str(urlsplit(server.url).netloc), timeout=20)) as client,
    ):
        for _ in range(3):
            client.request("POST", "/", b"a body")
            assert client.getresponse().read() == b"ok"
        limit = time.monotonic() + 20
        # The last one's thread may still be on its way out.
        while not kept and any(one() for one in seen) and time.monotonic() < limit:
            time.sleep(0.005)
        assert [one() is None for one in seen] == [not kept] * 3
