from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from wireproof.driving.recording import Record
from wireproof.driving.watching import Watch
from wireproof.model.scenario import Act
from wireproof.model.target import Target
from wireproof.model.transcript import End
from wireproof.model.verdict import HarnessError
from wireproof.wire.chat import chat_stream


def record(respond: Any, *, act: Act | None = None, trouble: Exception | None = None, taken: bool = True) -> Record:
    """What is kept of one exchange; `act` makes it a watched stream; `trouble` comes of what is asked beside."""

    async def beside(_script: str) -> bool:
        await asyncio.sleep(0.01)
        if trouble:
            raise trouble
        return taken

    async def fill() -> Record:
        target = Target(base_url="http://x/v1", model="m", timeout=0.3)
        watch = Watch(act, target, chat_stream(), beside) if act else None
        kept = Record(watch, 0.3)
        async with httpx.AsyncClient(transport=httpx.MockTransport(respond)) as client:
            await kept.fill(client, client.build_request("POST", "http://x/v1"))
        return kept

    return asyncio.run(fill())


class Pieces(httpx.AsyncByteStream):
    """A body of these pieces, that fails or never ends after them."""

    def __init__(self, *pieces: bytes, error: Exception | None = None, endless: bool = False) -> None:
        self.pieces, self.error, self.endless = pieces, error, endless

    async def __aiter__(self) -> Any:
        for piece in self.pieces:
            yield piece
        if self.endless:
            await asyncio.Event().wait()
        if self.error:
            raise self.error


async def endless(_: httpx.Request) -> httpx.Response:
    await asyncio.Event().wait()
    raise AssertionError("no client waits this long")


def answer(**how: Any) -> Any:
    return lambda _: httpx.Response(200, headers={"x-a": "b"}, stream=Pieces(b"one", b"two", **how))


@pytest.mark.parametrize("act", [None, Act.READ])
def test_all_that_comes_is_kept(act: Act | None) -> None:
    kept = record(answer(), act=act)
    assert (kept.status, kept.end, [piece.data for piece in kept.pieces]) == (200, End.COMPLETE, [b"one", b"two"])
    assert ("x-a", "b") in kept.headers
    assert kept.pieces[0].at <= kept.pieces[1].at


@pytest.mark.parametrize(
    ("how", "end"), [({"error": httpx.ReadError("cut")}, End.CUT), ({"endless": True}, End.TIMEOUT)]
)
@pytest.mark.parametrize("act", [None, Act.READ])
def test_a_body_that_does_not_end_well_is_kept_as_far_as_it_came(
    how: dict[str, Any], end: End, act: Act | None
) -> None:
    kept = record(answer(**how), act=act)
    assert (kept.end, len(kept.pieces)) == (end, 2)


@pytest.mark.parametrize(("respond", "status"), [(endless, None), (answer(endless=True), 200)])
def test_a_client_that_waits_for_the_backend_leaves_at_once(respond: Any, status: int | None) -> None:
    kept = record(respond, act=Act.LEAVE_WHEN_SENT)
    assert (kept.end, kept.status) == (End.LEFT, status)


@pytest.mark.parametrize("act", [None, Act.READ])
def test_a_connection_that_is_refused_is_kept_as_such(act: Act | None) -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("not reachable")

    kept = record(refuse, act=act)
    assert (kept.status, kept.end, kept.pieces) == (None, End.REFUSED, [])


def test_trouble_beside_is_not_swallowed() -> None:
    with pytest.raises(HarnessError, match="not reachable"):
        record(endless, act=Act.LEAVE_WHEN_SENT, trouble=HarnessError("not reachable"))


def test_a_client_whose_sign_to_leave_is_refused_stays() -> None:
    kept = record(answer(), act=Act.LEAVE_WHEN_SENT, taken=False)
    assert kept.end is End.COMPLETE
    assert kept.watch is not None
