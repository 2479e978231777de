from __future__ import annotations

import asyncio
from typing import Any

import pytest

from wireproof.driving import watching
from wireproof.driving.watching import AWAIT_SENT, OPEN_GATE, Watch
from wireproof.model.scenario import Act
from wireproof.model.target import Target
from wireproof.targets.budget import now
from wireproof.wire.chat import chat_stream

TEXT = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}\n\n'
COMMENT, DONE = b": hm\n\n", b"data: [DONE]\n\n"


def watch(act: Act, *pieces: bytes, then: Any = None, **target: Any) -> tuple[Watch, list[str], Any]:
    """What a client does with these pieces, which scripts it had played beside, and what `then` says of it."""
    beside: list[str] = []

    async def play(script: str) -> bool:
        beside.append(script)
        return True

    async def take() -> Any:
        client = Watch(act, Target(base_url="http://x/v1", model="m", **target), chat_stream(), play)
        for piece in pieces:
            client.feed(piece)
        said = await then(client) if then else None
        await client.finish()
        return client, said

    client, said = asyncio.run(take())
    return client, beside, said


@pytest.mark.parametrize(
    ("act", "piece", "beside"),
    [
        (Act.OPEN_AT_TEXT, TEXT, [OPEN_GATE]),
        (Act.OPEN_AT_TEXT, COMMENT, []),
        (Act.OPEN_AT_COMMENT, COMMENT, [OPEN_GATE]),
        (Act.READ, TEXT, []),
    ],
)
def test_a_gate_is_opened_at_its_sign(act: Act, piece: bytes, beside: list[str]) -> None:
    assert watch(act, piece)[1] == beside


def test_where_no_further_comment_comes_the_gate_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "PATIENCE", 1e6)

    async def opened(client: Watch) -> None:
        waited = client.silence
        while client.silence == waited:  # noqa: ASYNC110 (a client has no event of its own for it)
            await asyncio.sleep(0)

    _, beside, _ = watch(
        Act.OPEN_AT_COMMENTS, COMMENT, then=lambda client: asyncio.wait_for(opened(client), 10), keepalive=0.001
    )
    assert beside == [OPEN_GATE]


@pytest.mark.parametrize(("piece", "left"), [(TEXT, True), (COMMENT, False), (DONE, False)])
def test_a_client_leaves_at_the_first_text(piece: bytes, *, left: bool) -> None:
    assert watch(Act.LEAVE_AT_TEXT, piece)[0].left is left


def test_a_client_that_leaves_when_all_is_sent_waits_for_that() -> None:
    _, beside, left = watch(Act.LEAVE_WHEN_SENT, then=lambda watching: asyncio.wait_for(watching.leave_when_sent(), 10))
    assert (beside, left) == ([AWAIT_SENT], None)


def test_no_other_client_waits_for_that() -> None:
    async def waits(watching: Watch) -> bool:
        leaving = asyncio.create_task(watching.leave_when_sent())
        await asyncio.sleep(0)
        waiting = not leaving.done()
        leaving.cancel()
        return waiting

    assert watch(Act.READ, then=waits)[2]


def test_text_puts_the_end_off_and_done_brings_it_near() -> None:
    async def left(watching: Watch) -> float:
        return watching.deadline - now()

    assert watch(Act.READ, TEXT, then=left, timeout=50.0)[2] == pytest.approx(50, abs=5)
    done, _, seconds = watch(Act.READ, TEXT, DONE, then=left, timeout=50.0)
    assert done.done
    assert seconds < 2
