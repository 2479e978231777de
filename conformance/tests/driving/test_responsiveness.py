"""Whether an instance still answers: what is asked, and what is made of the answers."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import httpx
import pytest

from wireproof.driving import responsiveness
from wireproof.driving.responsiveness import Responsiveness
from wireproof.model.transcript import End, Transcript
from wireproof.requests.plain import PreparedRequest
from wireproof.targets.budget import Budget

if TYPE_CHECKING:
    from conformance.tests.conftest import TinyExchange, TinyServer

JSON, STREAM = "application/json", "text/event-stream"


def answered(path: str = "/v1/whole", kind: str = JSON, *, status: int = 200, end: End = End.COMPLETE) -> Transcript:
    return Transcript(
        method="POST", url=f"http://one{path}", request_headers=(), request_body=b"{}", status=status,
        headers=(("content-type", kind),), pieces=(), end=end, seconds=len(path) / 100,
    )  # fmt: skip


class Asked:
    """A server, and what is known of its responsiveness."""

    def __init__(self, tiny: TinyServer) -> None:
        self.known, self.tiny, self.url = Responsiveness(), tiny, tiny.root
        self.budget = Budget()

    def knows(self, path: str) -> None:
        request = PreparedRequest(
            method="POST", url=f"{self.url}{path}", headers={}, body=json.dumps({"asks": path}).encode()
        )
        self.known.know(request, self.url, answered(path))

    def is_answered(self, seconds: float = 5.0) -> bool:
        async def ask() -> bool:
            async with httpx.AsyncClient() as client:
                return await self.known.is_answered(client, self.url, self.budget, seconds)

        return asyncio.run(ask())

    def goes_on(self) -> bool:
        async def ask() -> bool:
            async with httpx.AsyncClient() as client:
                return await self.known.goes_on(client, self.url, self.budget)

        return asyncio.run(ask())

    @property
    def bodies(self) -> list[str]:
        return [one.json["asks"] for one in self.tiny.requests]


@pytest.fixture
def asked(tiny: TinyServer) -> Asked:
    return Asked(tiny)


def test_the_soonest_is_asked(asked: Asked) -> None:
    assert asked.is_answered()  # as far as is known: there is nothing to ask
    for path in ("/v1/longer", "/v1/a", "/v1/longest"):
        asked.knows(path)
    assert asked.is_answered()
    assert asked.bodies == ["/v1/a"]


def test_what_may_have_left_an_instance_hanging_is_not_asked_again(asked: Asked) -> None:
    for path in ("/v1/a", "/v1/longer"):
        asked.knows(path)
    asked.is_answered()
    assert asked.known.hangs(asked.url)
    asked.is_answered()
    asked.known.note(asked.url, answered())
    asked.is_answered()
    assert not asked.known.hangs(asked.url)  # an instance that was asked this has gone on before
    assert asked.bodies == ["/v1/a", "/v1/longer", "/v1/longer"]


def test_an_instance_that_was_asked_nothing_hangs_by_itself(asked: Asked) -> None:
    asked.knows("/v1/a")
    assert not asked.known.hangs(asked.url)


def test_an_instance_that_has_answered_nothing_is_not_asked(asked: Asked) -> None:
    asked.knows("/v1/a")
    assert asked.goes_on()
    asked.known.note(asked.url, answered(status=500))
    assert asked.goes_on()
    assert asked.goes_on()  # it has answered nothing since
    assert asked.bodies == ["/v1/a"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("before", "other"),
    [
        (answered(status=500), answered()),
        (answered(end=End.LEFT), answered(status=500)),
        (answered("/v1/messages", STREAM), answered("/v1/messages", JSON)),
    ],
)
def test_what_leaves_all_instances_hanging_is_not_found_out_again(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, before: Transcript, other: Transcript
) -> None:
    monkeypatch.setattr(responsiveness, "LOOK", 0.2)
    asked.knows("/v1/a")
    asked.tiny.respond = lambda exchange: exchange.hang()
    for _ in range(5):
        asked.known.note(asked.url, before)
        assert not asked.goes_on()
    asked.tiny.respond = lambda exchange: exchange.answer("Hello!")
    asked.known.note(asked.url, other)
    assert asked.goes_on()
    assert asked.budget.sent == 4  # three times of the five, and once of the other


@pytest.mark.parametrize("ends", [True, False])
def test_what_is_begun_is_an_answer_and_read_to_its_end(asked: Asked, ends: bool) -> None:  # noqa: FBT001 - a case
    left = []

    def respond(exchange: TinyExchange) -> None:
        exchange.begin("Hello")
        left.append(exchange.gone(0.1))
        if ends:
            exchange.send(b"data: [DONE]\n\n")
        else:
            exchange.hang()

    asked.tiny.respond = respond
    asked.knows("/v1/a")
    assert asked.is_answered(0.5)
    assert left == [False]


def test_silence_is_no_answer(asked: Asked) -> None:
    asked.tiny.respond = lambda exchange: exchange.hang()
    asked.knows("/v1/a")
    assert not asked.is_answered(0.1)


def test_what_is_refused_after_all_is_forgotten(asked: Asked) -> None:
    asked.tiny.respond = lambda exchange: exchange.whole({"error": {}}, "500 Internal Server Error")
    asked.knows("/v1/a")
    asked.knows("/v1/longer")
    assert asked.is_answered()
    assert asked.is_answered()
    assert asked.is_answered()
    assert asked.bodies == ["/v1/a", "/v1/longer"]


def test_each_counts_in_the_budget(asked: Asked) -> None:
    asked.budget = Budget(requests=1)
    asked.knows("/v1/a")
    assert asked.is_answered()
    assert asked.is_answered()  # as far as is known
    assert asked.bodies == ["/v1/a"]
