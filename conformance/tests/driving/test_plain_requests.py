from __future__ import annotations

import asyncio

import pytest

from wireproof.driving.plain_requests import ask
from wireproof.model.scenario import Request
from wireproof.model.target import Target
from wireproof.model.transcript import End, Transcript
from wireproof.requests.plain import UnseenError

TARGET = Target(base_url="http://proxy/v1", model="codex", unready_url="http://unready/v1", slots=1)


def transcript(status: int) -> Transcript:
    return Transcript(
        method="POST", url="", request_headers=(), request_body=b"", status=status, headers=(), pieces=(),
        end=End.COMPLETE, seconds=0.0,
    )  # fmt: skip


class Proxy:
    """Answers by path; at `/wait` there is one slot, whose request waits until `/last` is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.unready, self.go, self.waiting = asyncio.Lock(), asyncio.Event(), False
        self.held: list[bool] = []

    async def send(self, request: Request) -> Transcript:
        self.asked.append(request.path)
        self.held.append(self.unready.locked())
        match request.path:
            case "/wait" if self.waiting:
                return transcript(429)
            case "/wait":
                self.waiting = True
                await self.go.wait()
                return transcript(503)
            case "/last":
                self.go.set()
        return transcript(200)

    def ask(self, *requests: Request) -> list[int | None]:
        async def play() -> list[int | None]:
            return [one.status for one in await ask(requests, TARGET, self.send, self.send, self.unready)]

        return asyncio.run(play())


def test_requests_are_asked_one_after_the_other() -> None:
    proxy = Proxy()
    assert proxy.ask(Request(path="/a"), Request(path="/b")) == [200, 200]
    assert proxy.asked == ["/a", "/b"]
    assert proxy.held == [False, False]


def test_who_asks_the_twin_has_it_alone() -> None:
    proxy = Proxy()
    proxy.ask(Request(path="/a"), Request(path="/b", unready=True))
    assert proxy.held == [True, True]
    assert not proxy.unready.locked()


def test_a_full_request_is_sent_while_the_slots_are_taken() -> None:
    proxy = Proxy()
    full = Request(path="/wait", unready=True, full=True)
    last = Request(path="/last", unready=True, full=True)
    assert proxy.ask(Request(path="/a"), full, last) == [200, 429, 200]
    assert proxy.asked == ["/a", "/wait", "/wait", "/wait", "/last"]


def test_slots_that_were_not_held_show_nothing() -> None:
    proxy = Proxy()

    async def send(request: Request) -> Transcript:
        if request.path == "/leave":
            proxy.go.set()
            await asyncio.sleep(0)
        return await proxy.send(request)

    async def play() -> None:
        wait, leave = (Request(path=path, unready=True, full=True) for path in ("/wait", "/leave"))
        with pytest.raises(UnseenError):
            await ask([wait, leave], TARGET, send, send, proxy.unready)

    asyncio.run(play())


def test_an_answer_that_shows_nothing_ends_the_asking() -> None:
    proxy = Proxy()
    with pytest.raises(UnseenError):
        proxy.ask(Request(path="/a", requires_echo="x-proxy-mode"), Request(path="/b"))
    assert proxy.asked == ["/a"]
