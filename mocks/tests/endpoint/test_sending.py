"""Scripted answers on a loop whose time passes only while it waits: what is sent together, and when."""

from __future__ import annotations

import asyncio
import json
import math
import selectors
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_endpoint.http.application import EndpointApplication
from wireproof_endpoint.http.rounds import TOGETHER, Rounds
from wireproof_endpoint.play import SHARED
from wireproof_endpoint.serving import endpoint_of
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.files.json_form import script_from_json
from wireproof_surfaces.http.client_connection import ClientConnection
from wireproof_surfaces.http.edge_limits import EdgeLimits

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from wireproof_endpoint.endpoint import Endpoint

NEVER = math.inf


class Leaping(selectors.SelectSelector):
    """Lets the time pass for which it would wait."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.asked = 0

    def select(self, timeout: float | None = None) -> list[Any]:
        self.asked += 1
        assert timeout is not None, "everything waits, and nothing will happen"
        self.now += timeout
        return super().select(0)


class Loop(asyncio.SelectorEventLoop):
    """An event loop in that time."""

    def __init__(self) -> None:
        self.leaping = Leaping()
        super().__init__(self.leaping)

    def time(self) -> float:
        return self.leaping.now


def run(main: Coroutine[Any, Any, Any]) -> tuple[Any, int]:
    """What it returns, and how often the loop went round."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        found = runner.run(main)
        loop = runner.get_loop()
        assert isinstance(loop, Loop)
        return found, loop.leaping.asked


def endpoint(*steps: Mapping[str, Any], **settings: Any) -> Endpoint:
    script = script_from_json({"name": "one", "when": "go", "parts": [list(steps)]}, "")
    return endpoint_of(EndpointSettings(**settings), lambda: {"one": script})


class Wire(asyncio.Transport):
    """Gives what is written to a client."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._client = client

    def write(self, data: Any) -> None:
        self._client.take(bytes(data))

    def abort(self) -> None:
        pass

    def close(self) -> None:
        pass

    def write_eof(self) -> None:
        pass

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        del high, low

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


class Client:
    """One request; `pieces` has each piece of the body with its time."""

    def __init__(
        self, served: Endpoint | EndpointApplication, order: list[Client] | None = None, *, stream: bool = True
    ) -> None:
        application = served if isinstance(served, EndpointApplication) else EndpointApplication(served)
        self._connection = ClientConnection(application, EdgeLimits(), {}, lambda: b"now")
        self._connection.connection_made(Wire(self))
        self._ended = asyncio.Event()
        self._order = order
        self._stream = stream
        self.pieces: list[tuple[float, bytes]] = []
        self.leaves_after: float = NEVER
        """How many pieces it takes before it leaves."""

    async def ask(self) -> Client:
        body = {"model": "m", "stream": self._stream, "messages": [{"role": "user", "content": "go"}]}
        data = json.dumps(body).encode()
        head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        self._connection.data_received(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        await self._ended.wait()
        return self

    def leave(self) -> None:
        if not self._ended.is_set():
            self._ended.set()
            self._connection.connection_lost(None)

    def take(self, data: bytes) -> None:
        if data.startswith(b"HTTP/1.1 "):
            data = data.partition(b"\r\n\r\n")[2]
        if not self._stream or data.endswith(b"0\r\n\r\n"):
            self._ended.set()
        now = asyncio.get_running_loop().time()
        while data:
            size, _, rest = data.partition(b"\r\n")
            content, data = (rest[: int(size, 16)], rest[int(size, 16) + 2 :]) if self._stream else (data, b"")
            self.pieces.append((now, content))
        if self._order is not None:
            self._order.append(self)
        if len(self.pieces) >= self.leaves_after:
            asyncio.get_running_loop().call_soon(self.leave)

    def times(self, content: str) -> list[float]:
        """When each piece came that holds this content."""
        return [at for at, piece in self.pieces if f'"content":"{content}"'.encode() in piece]


async def asked(served: Endpoint) -> Client:
    return await Client(served).ask()


def contents(piece: bytes) -> int:
    return piece.count(b'"content":"x"')


def test_pieces_that_are_ready_share_a_write_and_the_first_is_not_held() -> None:
    client, _ = run(asked(endpoint({"say": {"pieces": ["x"], "times": 100}})))
    counted = [contents(piece) for _, piece in client.pieces]
    assert counted[0] == 1
    assert max(counted) == SHARED
    # As few writes as there can be, and the end of the answer in the last of them.
    assert len([count for count in counted if count]) == 1 + math.ceil(99 / SHARED)
    assert {at for at, _ in client.pieces} == {0.0}


def test_what_comes_after_a_pause_is_not_held_either() -> None:
    client, _ = run(asked(endpoint({"say": ["x", "x"]}, {"pause": 1.5}, {"say": ["x", "x"]})))
    assert [(at, contents(piece)) for at, piece in client.pieces if contents(piece)] == [(0, 1), (0, 1), (1.5, 2)]


def test_the_first_pieces_of_a_crowd_come_before_any_second_one() -> None:
    async def crowd() -> list[Client]:
        served, order = endpoint({"say": {"pieces": ["x"], "times": 100}}), list[Client]()
        await asyncio.gather(*(Client(served, order).ask() for _ in range(64)))
        return order

    order, _ = run(crowd())
    assert len(set(order[:64])) == 64


def test_a_request_waits_for_a_few_pieces_of_the_streams_before_it_alone() -> None:
    async def late() -> int:
        served, order = EndpointApplication(endpoint({"say": {"pieces": ["x"], "times": 100_000}})), list[Client]()
        clients = [Client(served, order) for _ in range(64)]
        crowd = [asyncio.create_task(client.ask()) for client in clients]
        while len(order) < 64 * 3:  # noqa: ASYNC110 - round by round
            await asyncio.sleep(0)
        client, before = Client(served, order), len(order)
        crowd.append(asyncio.create_task(client.ask()))
        while client not in order:  # noqa: ASYNC110 - round by round
            await asyncio.sleep(0)
        for one in (*clients, client):
            one.leave()
        await asyncio.gather(*crowd)
        return order.index(client) - before

    # Of 64 that are ready all the time.
    assert run(late())[0] <= 2 * TOGETHER


@pytest.mark.parametrize(("come", "together"), [(True, 1), (False, TOGETHER)])
def test_as_long_as_requests_come_one_stream_goes_on_in_a_round(come: bool, together: int) -> None:  # noqa: FBT001 - a case
    async def most() -> int:
        rounds, gone_on, counts = Rounds(), list[int](), [0]

        async def stream() -> None:
            await rounds.turn()
            gone_on.append(1)

        streams = [asyncio.create_task(stream()) for _ in range(3 * TOGETHER)]
        while len(gone_on) < len(streams):
            if come:
                rounds.come()
            await asyncio.sleep(0)
            counts.append(len(gone_on))
        return max(after - before for before, after in pairwise(counts))

    assert run(most())[0] == together


def test_a_stream_that_is_stopped_while_it_waits_its_turn_holds_up_no_other() -> None:
    async def stopped() -> list[int]:
        served = EndpointApplication(endpoint({"say": {"pieces": ["x"], "times": 1000}}))
        clients = [Client(served) for _ in range(3 * TOGETHER)]
        tasks = [asyncio.create_task(client.ask()) for client in clients]
        while not all(len(client.pieces) > 1 for client in clients[::2]):  # noqa: ASYNC110 - round by round
            await asyncio.sleep(0)
        for client in clients[::2]:
            client.leave()
        await asyncio.gather(*tasks)
        return [sum(contents(piece) for _, piece in client.pieces) for client in clients[1::2]]

    assert set(run(stopped())[0]) == {1000}


def test_pauses_of_a_thousand_streams_are_kept_by_one_clock() -> None:
    async def one(served: Endpoint, begins: float) -> tuple[float, Client]:
        await asyncio.sleep(begins)
        return begins, await asked(served)

    async def crowd() -> list[tuple[float, Client]]:
        paced: list[dict[str, Any]] = [{"pause": 0.25}, {"say": "b"}]
        served = endpoint({"say": "a"}, *paced * 8)
        return await asyncio.gather(*(one(served, number * 0.0007) for number in range(1000)))

    found, rounds = run(crowd())
    for begins, client in found:
        # Exactly: a wait ends when it is due, and none is counted from the end of the one before it.
        assert client.times("b") == pytest.approx([begins + 0.25 * number for number in range(1, 9)], abs=1e-6)
    assert rounds < 1000 * 8 * 6


def test_a_stream_that_waits_costs_nothing_meanwhile() -> None:
    client, rounds = run(asked(endpoint({"say": "a"}, {"pause": 100}, {"say": "b"}, keepalive=1000)))
    assert client.times("b") == [100]
    assert rounds < 30


def test_a_silent_stream_gets_comments_in_time() -> None:
    client, _ = run(asked(endpoint({"say": "a"}, {"pause": 10}, {"say": "b"}, keepalive=4)))
    assert [at for at, piece in client.pieces if piece.startswith(b":")] == [4, 8]
    assert client.times("b") == [10]


def test_a_client_that_leaves_a_silent_stream_ends_it_at_once() -> None:
    async def left() -> tuple[float, int]:
        served = endpoint({"say": "a"}, {"hang": {}})
        client = Client(served)
        task = asyncio.create_task(client.ask())
        await asyncio.sleep(7)
        assert served.answerer.playing == 1
        client.leave()
        await task
        await asyncio.sleep(0)
        return asyncio.get_running_loop().time(), served.answerer.playing

    assert run(left())[0] == (7, 0)


def test_a_client_that_leaves_a_stream_without_waits_ends_it_soon() -> None:
    async def left() -> tuple[int, int]:
        served = endpoint({"say": {"pieces": ["x"], "times": 1_000_000}})
        client = Client(served)
        client.leaves_after = 20
        await client.ask()
        # It goes on as soon as it has its turn, and sees that its client has left.
        while served.answerer.playing:  # noqa: ASYNC110 - round by round
            await asyncio.sleep(0)
        return len(client.pieces), served.answerer.playing

    assert run(left())[0] in {(20, 0), (21, 0)}


@pytest.mark.parametrize(
    ("piece", "stream"),
    [("x", False), pytest.param("", True, id="a stream of empty text, of which there is nothing to send")],
)
def test_a_long_answer_of_which_nothing_is_sent_gives_way_to_others(piece: str, *, stream: bool) -> None:
    async def beside() -> list[str]:
        served, ended = endpoint({"say": {"pieces": [piece], "times": 50_000}}), list[str]()

        async def long() -> None:
            await Client(served, stream=stream).ask()
            ended.append("long")

        async def other() -> None:
            for _ in range(3):
                await asyncio.sleep(0)
            ended.append("other")

        await asyncio.gather(long(), other())
        return ended

    assert run(beside())[0] == ["other", "long"]
