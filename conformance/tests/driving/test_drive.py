from __future__ import annotations

import asyncio
import dataclasses
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.driving import restarting, watching
from wireproof.driving.drive import drive
from wireproof.driving.planning import planned
from wireproof.judging.capabilities import absences
from wireproof.model.capability import Capability
from wireproof.model.dialect import MODE_HEADER, Dialect
from wireproof.model.reasons import HURRIED, UNCOMMENTED
from wireproof.model.scenario import (
    Act,
    Auth,
    ConversationScenario,
    Form,
    Mode,
    Need,
    PlainScenario,
    Request,
    Scenario,
    Turn,
)
from wireproof.model.target import ASKS_FOR_NO_KEY, Backend, Target
from wireproof.model.transcript import End, Transcript
from wireproof.scenarios.live import LIVE

if TYPE_CHECKING:
    from conformance.tests.conftest import TinyExchange, TinyServer, Until

DONE = b"data: [DONE]\n\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
STREAMED, WHOLE = (Mode.STREAM,), (Mode.WHOLE,)
AS_STREAM, AT_ONCE = Form(Dialect.OPENAI_JSON, Mode.STREAM), Form(Dialect.OPENAI_JSON, Mode.WHOLE)


def a_scenario(*turns: Turn, name: str = "one", script: str = "text/hello", **how: Any) -> ConversationScenario:
    modes = how.pop("modes", STREAMED)
    return ConversationScenario(
        name=name, title="", exercises=("chat.stream.text",), script=script, turns=turns, modes=modes, **how
    )


def a_target(tiny: TinyServer, timeout: float = 10.0, **how: Any) -> Target:
    return Target(base_url=tiny.base_url, model="m", timeout=timeout, **{"dialects": (Dialect.OPENAI_JSON,), **how})


def run(target: Target, *scenarios: Scenario, **how: Any) -> Any:
    runs = asyncio.run(drive(planned(scenarios, target), target, **how)).runs
    return runs[0] if len(runs) == 1 else runs


def transcript(target: Target, scenario: Scenario) -> Transcript:
    (exchange,) = run(target, scenario).exchanges.values()
    assert isinstance(exchange[0].transcript, Transcript)
    return exchange[0].transcript


HELLO = a_scenario(Turn(say="Hi."))


def test_an_exchange_is_recorded_whole(tiny: TinyServer) -> None:
    def respond(exchange: TinyExchange) -> None:
        exchange.send(b"HTTP/1.1 201 Fine\r\nX-One: a\r\nx-two: b\r\nX-One: c\r\nContent-Length: 2\r\n\r\n{}")

    tiny.respond = respond
    got = transcript(a_target(tiny, api_key="k"), a_scenario(Turn(say="Hi."), modes=WHOLE))
    assert (got.method, got.url, got.status, got.end) == (
        "POST",
        f"{tiny.base_url}/chat/completions",
        201,
        End.COMPLETE,
    )
    assert got.headers == (("X-One", "a"), ("x-two", "b"), ("X-One", "c"), ("Content-Length", "2"))
    assert got.body == b"{}"
    assert got.request_body == tiny.requests[0].body
    assert ("authorization", "Bearer k") in [(name.lower(), value) for name, value in got.request_headers]
    assert 0 < got.pieces[0].at <= got.seconds < 10


def test_the_marker_carries_the_script_and_a_new_nonce_per_mode(tiny: TinyServer) -> None:
    run(a_target(tiny), a_scenario(Turn(say="Hi."), modes=(Mode.STREAM, Mode.WHOLE)))
    texts = {exchange.json["messages"][0]["content"] for exchange in tiny.requests}
    assert len(texts) == 2
    assert all(text.startswith("[[wireproof:text/hello#") and text.endswith("]] Hi.") for text in texts)


def test_pieces_are_kept_as_they_arrive_and_a_gate_is_opened_at_the_first_text(tiny: TinyServer) -> None:
    opened = threading.Event()

    def respond(exchange: TinyExchange) -> None:
        if exchange.marker == "open/gate":
            assert not exchange.streamed
            opened.set()
            exchange.answer("opened")
            return
        exchange.begin("first")
        assert opened.wait(10)
        exchange.chunk({"content": "second"})
        exchange.send(DONE)

    tiny.respond = respond
    got = transcript(a_target(tiny), a_scenario(Turn(say="Wait.", act=Act.OPEN_AT_TEXT), script="text/gate"))
    assert got.end is End.COMPLETE
    first, second = (next(n for n, p in enumerate(got.pieces) if word in p.data) for word in (b"first", b"second"))
    assert first < second
    assert [piece.at for piece in got.pieces] == sorted(piece.at for piece in got.pieces)
    nonces = {exchange.json["messages"][0]["content"].partition("#")[2][:12] for exchange in tiny.requests}
    assert len(nonces) == 1


def test_a_body_that_is_cut_short_is_cut(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    got = transcript(a_target(tiny), HELLO)
    assert (got.status, got.body, got.end) == (200, b"{", End.CUT)


@pytest.mark.parametrize("said", [b"", b"who is there?\r\n\r\n"])
def test_no_response_has_no_status(tiny: TinyServer, said: bytes) -> None:
    tiny.respond = lambda exchange: exchange.send(said)
    got = transcript(a_target(tiny), HELLO)
    assert (got.status, got.headers, got.pieces, got.end) == (None, (), (), End.CUT)


@pytest.mark.parametrize("modes", [STREAMED, WHOLE])
@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"])
def test_silence_ends_at_the_limit(tiny: TinyServer, said: bytes, modes: tuple[Mode, ...]) -> None:
    tiny.respond = lambda exchange: exchange.hang(said)
    got = transcript(a_target(tiny, timeout=0.2), a_scenario(Turn(say="Hi."), modes=modes))
    assert got.end is End.TIMEOUT
    assert got.status == (200 if said else None)
    assert got.seconds < 5


@pytest.mark.parametrize(
    ("dripping", "modes"), [(b": still here\n\n", STREAMED), (b" ", WHOLE), (b": still here\n\n", WHOLE)]
)
def test_what_drips_for_ever_and_says_nothing_is_silence(
    tiny: TinyServer, dripping: bytes, modes: tuple[Mode, ...]
) -> None:
    def respond(exchange: TinyExchange) -> None:
        exchange.send(STREAM)
        while not exchange.gone(0.02):
            exchange.send(dripping)

    tiny.respond = respond
    got = transcript(a_target(tiny, timeout=0.3), a_scenario(Turn(say="Hi."), modes=modes))
    assert got.end is End.TIMEOUT
    assert dripping in got.body


def test_each_word_puts_the_limit_off(tiny: TinyServer) -> None:
    def respond(exchange: TinyExchange) -> None:
        exchange.begin("word")
        for _ in range(12):
            exchange.gone(0.05)
            exchange.chunk({"content": " word"})
        exchange.send(DONE)

    tiny.respond = respond
    got = transcript(a_target(tiny, timeout=0.4), HELLO)
    assert got.end is End.COMPLETE
    assert got.seconds > 0.5


@pytest.mark.parametrize(("linger", "timeout"), [(0.1, 10.0), (10.0, 1.0)])
def test_a_body_open_after_done_is_open(
    tiny: TinyServer, monkeypatch: pytest.MonkeyPatch, linger: float, timeout: float
) -> None:
    monkeypatch.setattr(watching, "LINGER", linger)
    gone: list[bool] = []

    def respond(exchange: TinyExchange) -> None:
        exchange.begin("Hello")
        exchange.send(DONE)
        exchange.chunk({"content": "late"})
        gone.append(exchange.gone())

    tiny.respond = respond
    got = transcript(a_target(tiny, timeout=timeout), HELLO)
    assert got.end is End.OPEN
    assert got.body.endswith(b"\n\n")


def test_leaving_at_the_first_text_closes_the_connection(tiny: TinyServer, until: Until) -> None:
    gone: list[bool] = []

    def respond(exchange: TinyExchange) -> None:
        exchange.send(STREAM)
        exchange.chunk({"role": "assistant", "content": ""})
        exchange.send(b": not yet\n\n")
        assert not exchange.gone(0.1)
        exchange.chunk({"content": "begun"})
        gone.append(exchange.gone())

    tiny.respond = respond
    got = transcript(a_target(tiny), a_scenario(Turn(say="Talk.", act=Act.LEAVE_AT_TEXT), script="text/hang"))
    assert got.end is End.LEFT
    until(lambda: gone)
    assert gone == [True]


def test_a_client_that_finds_no_occasion_to_leave_observes_nothing(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.hang(STREAM)
    leaving = a_scenario(Turn(say="Talk.", act=Act.LEAVE_AT_TEXT), script="text/hang")
    got = run(a_target(tiny, timeout=0.2), leaving)
    assert (got.exchanges, got.error) == ({}, "")
    assert got.not_driven == {AS_STREAM: "the client never got the text at which it was to leave"}


@pytest.mark.parametrize("begun", [False, True], ids=["before the first byte", "after some text"])
def test_leaving_when_all_is_sent_closes_the_connection_at_any_time(
    tiny: TinyServer, until: Until, *, begun: bool
) -> None:
    asked, gone = threading.Event(), []

    def respond(exchange: TinyExchange) -> None:
        if exchange.marker == "leave/told":
            assert asked.wait(10)
            exchange.answer("told")
            return
        if begun:
            exchange.begin("I have")
        asked.set()
        gone.append(exchange.gone())

    tiny.respond = respond
    got = transcript(a_target(tiny), a_scenario(Turn(say="Talk.", act=Act.LEAVE_WHEN_SENT), script="leave/first"))
    assert (got.end, got.status) == (End.LEFT, 200 if begun else None)
    until(lambda: gone)
    assert gone == [True]


def test_a_stream_that_ends_before_all_is_sent_is_kept(tiny: TinyServer) -> None:
    ended = threading.Event()

    def respond(exchange: TinyExchange) -> None:
        if exchange.marker == "leave/told":
            ended.wait(10)
        exchange.answer("early")

    tiny.respond = respond
    got = transcript(a_target(tiny), a_scenario(Turn(say="Talk.", act=Act.LEAVE_WHEN_SENT), script="leave/first"))
    ended.set()
    assert got.end is End.COMPLETE


@pytest.mark.parametrize("refusals", [0, 2])
def test_who_insists_asks_again_until_it_is_served(tiny: TinyServer, refusals: int) -> None:
    def respond(exchange: TinyExchange) -> None:
        if len(tiny.requests) <= refusals:
            exchange.whole({"error": {}}, "503 Not Yet")
        else:
            exchange.answer("there")

    tiny.respond = respond
    got = transcript(a_target(tiny), a_scenario(Turn(say="Are you there?", retry_on_503=True)))
    assert (got.status, len(tiny.requests)) == (200, refusals + 1)


def test_who_insists_gives_up_in_the_end(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.whole({"error": {}}, "503 Never")
    got = transcript(a_target(tiny, timeout=0.2), a_scenario(Turn(say="Are you there?", retry_on_503=True)))
    assert got.status == 503
    assert len(tiny.requests) > 1


@pytest.mark.parametrize(
    ("declared", "reason"), [(None, "declare it with --idle-timeout"), (60.0, "longer than --timeout allows")]
)
def test_a_silence_that_cannot_be_waited_for_is_not_driven(
    tiny: TinyServer, declared: float | None, reason: str
) -> None:
    silent = a_scenario(Turn(say="Say nothing."), script="fail/silent", needs=(Need.IDLE_TIMEOUT,))
    got = run(a_target(tiny, idle_timeout=declared), silent)
    assert reason in got.not_driven[AS_STREAM]
    assert not tiny.requests


SILENCE = a_scenario(Turn(say="Wait.", act=Act.OPEN_AT_COMMENT), script="text/silent")
LONG_SILENCE = a_scenario(Turn(say="Wait.", act=Act.OPEN_AT_COMMENTS), script="text/silent-long")


class Leaping(asyncio.SelectorEventLoop):
    """A loop in which as many seconds pass at once as a test wants."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead

    def leap(self, seconds: float) -> None:
        self.call_soon_threadsafe(lambda: setattr(self, "ahead", self.ahead + seconds))


def test_the_gate_of_a_long_silence_is_opened_at_the_fifth_comment(tiny: TinyServer) -> None:
    opened, early = threading.Event(), []

    def respond(exchange: TinyExchange) -> None:
        if exchange.marker == "open/gate":
            opened.set()
            exchange.answer("opened")
            return
        exchange.send(STREAM, b": keep-alive\n\n" * 4)
        early.append(opened.wait(0.2))
        exchange.send(b": keep-alive\n\n")
        assert opened.wait(60.0)
        exchange.chunk({"role": "assistant", "content": ""})
        exchange.chunk({"content": "after the long silence"})
        exchange.send(DONE)

    tiny.respond = respond
    got = run(a_target(tiny, keepalive=1000.0, timeout=60.0), LONG_SILENCE).exchanges[AS_STREAM][0].transcript
    assert (got.end, early) == (End.COMPLETE, [False])


def test_a_long_silence_in_which_no_comment_came_is_not_seen_and_tried_again(tiny: TinyServer) -> None:
    """On a busy machine an answer may begin after the client has lost its patience: nothing was silent then."""

    def respond(exchange: TinyExchange) -> None:
        if exchange.marker == "open/gate":
            exchange.answer("opened")
        else:
            exchange.send(STREAM)
            exchange.chunk({"role": "assistant", "content": ""})
            exchange.chunk({"content": "after the long silence"})
            exchange.send(DONE)

    tiny.respond = respond
    got = run(a_target(tiny, keepalive=1.0), LONG_SILENCE)
    assert (dict(got.exchanges), got.not_driven[AS_STREAM]) == ({}, UNCOMMENTED)
    # Where the interval is not known, the rest of the answer is judged.
    got = run(a_target(tiny), LONG_SILENCE)
    assert (len(got.exchanges[AS_STREAM]), got.not_driven) == (1, {})
    assert UNCOMMENTED in HURRIED


@pytest.mark.parametrize(
    ("comment", "keepalive", "timeout"),
    [(b": keep-alive\n\n", 1000.0, 60.0), (b"", 10.0, 60.0), (b"", 50.0, 60.0), (b"", None, 60.0)],
    ids=[
        "at the first comment",
        "after four intervals without one",
        "even when those are longer than the limit",
        "after a moment where the interval is not known",
    ],
)
def test_the_gate_of_a_silent_backend_is_opened(
    tiny: TinyServer, comment: bytes, keepalive: float | None, timeout: float
) -> None:
    opened = threading.Event()
    loop = Leaping()

    def respond(exchange: TinyExchange) -> None:
        if exchange.marker == "open/gate":
            opened.set()
            exchange.answer("opened")
            return
        exchange.send(STREAM, comment)
        if not comment:
            loop.leap(watching.KEEPALIVES * keepalive + 0.1 if keepalive else watching.PATIENCE)
        assert opened.wait(timeout)
        exchange.chunk({"role": "assistant", "content": ""})
        exchange.chunk({"content": "after the silence"})
        exchange.send(DONE)

    tiny.respond = respond
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        target = a_target(tiny, keepalive=keepalive, timeout=timeout)
        runs = runner.run(drive(planned([SILENCE], target), target)).runs
    got = runs[0].exchanges[AS_STREAM][0].transcript
    assert got.end is End.COMPLETE
    assert b"after the silence" in got.body
    assert len(tiny.requests) == 2


def test_patience_ends_with_the_answer(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.answer("early")
    got = transcript(a_target(tiny, keepalive=1000.0), SILENCE)
    assert (got.end, len(tiny.requests)) == (End.COMPLETE, 1)


def test_no_more_than_so_many_exchanges_run_at_a_time(tiny: TinyServer) -> None:
    lock, both = threading.Lock(), threading.Barrier(2)
    active, most = 0, 0

    def respond(exchange: TinyExchange) -> None:
        nonlocal active, most
        with lock:
            active += 1
            most = max(most, active)
        both.wait(10)
        with lock:
            active -= 1
        exchange.answer("Hello, world!")

    tiny.respond = respond
    crowd = [a_scenario(Turn(say="Hi."), name=str(n), modes=(Mode.STREAM, Mode.WHOLE)) for n in range(4)]
    runs = run(a_target(tiny), *crowd, jobs=2)
    assert [got.scenario.name for got in runs] == ["0", "1", "2", "3"]
    assert (len(tiny.requests), most) == (8, 2)


def test_who_stands_alone_comes_last_and_one_by_one(tiny: TinyServer) -> None:
    lock = threading.Lock()
    active, seen = 0, []

    def respond(exchange: TinyExchange) -> None:
        nonlocal active
        with lock:
            active += 1
            seen.append((exchange.json["messages"][0]["content"].partition("]] ")[2], active))
        exchange.gone(0.02)
        with lock:
            active -= 1
        exchange.answer("Hello, world!")

    tiny.respond = respond
    both = (Mode.STREAM, Mode.WHOLE)
    runs = run(
        a_target(tiny),
        a_scenario(Turn(say="alone"), name="first", modes=both, alone=True),
        a_scenario(Turn(say="crowd"), name="second", modes=both),
        a_scenario(Turn(say="alone"), name="third", modes=both, alone=True),
        a_scenario(Turn(say="crowd"), name="fourth", modes=both),
    )
    assert [got.scenario.name for got in runs] == ["first", "second", "third", "fourth"]
    assert [text for text, _ in seen] == ["crowd"] * 4 + ["alone"] * 4
    assert [together for _, together in seen[4:]] == [1] * 4


def test_who_stands_alone_is_sent_to_the_spare_instance_beside_the_others(tiny: TinyServer) -> None:
    other = type(tiny)()
    crowd, killed = threading.Event(), threading.Event()

    def spare(exchange: TinyExchange) -> None:
        # Neither is answered before both have come: they are under way at the same time.
        killed.set()
        assert crowd.wait(10)
        exchange.answer("Hello, world!")

    def first(exchange: TinyExchange) -> None:
        crowd.set()
        assert killed.wait(10)
        exchange.answer("Hello, world!")

    tiny.respond, other.respond = first, spare
    try:
        target = a_target(tiny, spare_urls=(other.base_url,))
        ask = Request(method="GET", path="/models", root=False)
        plain = PlainScenario(name="plain", title="", exercises=("http.models.list",), requests=(ask,), alone=True)
        runs = run(
            target,
            a_scenario(Turn(say="alone"), name="one", alone=True),
            plain,
            a_scenario(Turn(say="crowd"), name="two"),
        )
    finally:
        other.close()
    urls = [exchange.transcript.url for got in runs for those in got.exchanges.values() for exchange in those]
    assert urls == [
        other.base_url + "/chat/completions",
        other.base_url + "/models",
        tiny.base_url + "/chat/completions",
    ]
    assert {target.path_of(url) for url in urls} == {"/chat/completions", "/models"}
    # The result is of one target, whichever instance has answered.
    assert all(exchange.target == target for got in runs for those in got.exchanges.values() for exchange in those)


CALLS = [
    {"id": "call_a", "type": "function", "function": {"name": "localSearch", "arguments": '{"query": 1}'}},
    {"id": "call_b", "type": "function", "function": {"name": "other", "arguments": ""}},
]


@pytest.mark.parametrize("mode", list(Mode))
def test_results_are_sent_for_the_calls_of_the_answer_before(tiny: TinyServer, mode: Mode) -> None:
    def respond(exchange: TinyExchange) -> None:
        if exchange.json["messages"][-1]["role"] == "tool":
            exchange.answer("Found.")
        elif exchange.streamed:
            exchange.send(STREAM)
            exchange.chunk({"role": "assistant", "content": None})
            for index, call in enumerate(CALLS):
                exchange.chunk({"tool_calls": [{"index": index, **call}]})
            exchange.chunk({}, "tool_calls")
            exchange.send(DONE)
        else:
            exchange.completion(None, CALLS)

    tiny.respond = respond
    loop = a_scenario(Turn(say="Search."), Turn(results={"localSearch": "3"}), script="call/then-text", modes=(mode,))
    exchange = run(a_target(tiny), loop).exchanges[Form(Dialect.OPENAI_JSON, mode)]
    assert [one.number for one in exchange] == [0, 1]
    assert exchange[1].choice().text == "Found."
    first, assistant, *results = tiny.requests[1].json["messages"]
    assert first == tiny.requests[0].json["messages"][0]
    assert assistant == {"role": "assistant", "content": None, "tool_calls": CALLS}
    assert results == [
        {"role": "tool", "tool_call_id": "call_a", "content": "3"},
        {"role": "tool", "tool_call_id": "call_b", "content": ""},
    ]


@pytest.mark.parametrize("failed", [False, True], ids=["no call came", "no answer came"])
def test_a_conversation_ends_where_nothing_can_follow(tiny: TinyServer, *, failed: bool) -> None:
    tiny.respond = lambda e: e.whole({"error": {}}, "500 Oh") if failed else e.answer("No call.")
    loop = a_scenario(Turn(say="Search."), Turn(results={"localSearch": "3"}), script="call/then-text")
    assert len(run(a_target(tiny), loop).exchanges[AS_STREAM]) == 1


def test_a_plain_refusal_of_what_a_model_is_asked_for_is_set_aside(tiny: TinyServer) -> None:
    error = {"message": "tools are not supported", "type": "invalid_request_error", "param": "tools", "code": None}
    tiny.respond = lambda exchange: exchange.whole({"error": error}, "400 Bad Request")
    call = next(one for one in LIVE if one.name == "live-call")
    got = run(a_target(tiny, backend=Backend.LIVE), call)
    assert got.exchanges == {}
    assert set(got.not_driven.values()) == {"the target refuses tools: tools are not supported"}
    assert got.set_aside.keys() == got.not_driven.keys()
    assert list(absences([got])) == [Capability.CALLS]


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that cannot be reached is waited for but shortly."""
    monkeypatch.setattr(restarting, "PAUSES", (0.01,))


@pytest.mark.usefixtures("brief")
def test_a_target_that_goes_away_is_judged_by_what_was_driven(tiny: TinyServer, until: Until) -> None:
    seen: list[tuple[str, Form]] = []

    def respond(exchange: TinyExchange) -> None:
        exchange.begin("begun")
        threading.Thread(target=tiny.close).start()
        until(lambda: tiny.server.socket.fileno() == -1)

    tiny.respond = respond
    two = a_scenario(Turn(say="Talk."), Turn(say="And now?", script="text/hello"))
    later = a_scenario(Turn(say="Hi."), name="later")
    got, rest = run(a_target(tiny), two, later, jobs=1, keep=lambda run, form: seen.append((run.scenario.name, form)))
    assert [one.transcript.end for one in got.exchanges[AS_STREAM]] == [End.COMPLETE, End.REFUSED]
    assert (rest.exchanges, rest.not_driven) == ({}, {AS_STREAM: "the target cannot be reached any more"})
    assert seen == [("one", AS_STREAM), ("later", AS_STREAM)]


@pytest.mark.usefixtures("brief")
def test_a_gate_that_cannot_be_reached_leaves_the_stream_as_it_is(tiny: TinyServer, until: Until) -> None:
    def respond(exchange: TinyExchange) -> None:
        exchange.send(STREAM)
        threading.Thread(target=tiny.close).start()
        until(lambda: tiny.server.socket.fileno() == -1)
        exchange.chunk({"role": "assistant", "content": ""})
        exchange.chunk({"content": "first"})

    tiny.respond = respond
    got = transcript(a_target(tiny), a_scenario(Turn(say="Wait.", act=Act.OPEN_AT_TEXT), script="text/gate"))
    assert (got.end, b"first" in got.body) == (End.COMPLETE, True)


def a_request(*others: Request, **how: Any) -> PlainScenario:
    requests = (Request(**how), *others)
    return PlainScenario(name="plain", title="", exercises=("http.auth.missing",), requests=requests)


@pytest.mark.parametrize(
    ("auth", "sent"),
    [(Auth.RIGHT, "Bearer k"), (Auth.NONE, None), (Auth.WRONG, "Bearer wq7Zr2Xk9Tb4Lm8Vd3Ph")],
)
def test_a_plain_request_is_sent_as_it_is(tiny: TinyServer, auth: Auth, sent: str | None) -> None:
    tiny.respond = lambda exchange: exchange.whole({"error": {}}, "400 Bad Request")
    plain = a_request(path="/some/where", body=b"{not json", padding=3, headers={"x-own": "1"}, auth=auth)
    exchange = run(a_target(tiny, api_key="k"), plain).exchanges[AT_ONCE]
    request = tiny.requests[0]
    assert (request.method, request.path, request.body) == ("POST", "/v1/some/where", b"{not json   ")
    assert (request.headers["x-own"], request.headers.get("authorization")) == ("1", sent)
    assert [(one.reading, one.wanted, one.turn, one.transcript.status) for one in exchange] == [(None, (), None, 400)]


KEPT = a_request(Request(path="/two", kept=True), Request(path="/three", kept=True), path="/one", expect=200)


@pytest.mark.parametrize(("on_each", "connections"), [(3, [1, 2, 3]), (2, [1, 2, 1]), (1, [1, 1, 1])])
def test_requests_over_a_kept_connection_go_to_a_new_one_where_it_was_closed(
    tiny: TinyServer, on_each: int, connections: list[int]
) -> None:
    """A connection is closed after so many answers, without a word before."""
    served: list[int] = []

    def respond(exchange: TinyExchange) -> None:
        for number in range(on_each):
            one = exchange if number == 0 else type(exchange)(exchange._handler)
            served.append(number + 1)
            one.whole({"path": one.path})

    tiny.respond = respond
    exchanges = run(a_target(tiny), KEPT).exchanges[AT_ONCE]
    assert [json.loads(one.transcript.body)["path"] for one in exchanges] == ["/v1/one", "/v1/two", "/v1/three"]
    assert served == connections


def test_other_requests_have_a_connection_each(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.whole({})
    assert len(run(a_target(tiny), a_request(Request(), Request())).exchanges[AT_ONCE]) == 3
    assert len(tiny.requests) == 3


@pytest.mark.parametrize("auth", [Auth.NONE, Auth.WRONG])
def test_keys_are_not_judged_where_none_is_asked_for(tiny: TinyServer, auth: Auth) -> None:
    got = run(a_target(tiny), a_request(auth=auth, expect=401))
    assert got.not_driven == {AT_ONCE: ASKS_FOR_NO_KEY}
    assert not tiny.requests


def test_what_is_served_without_a_key_is_asked_where_none_is_asked_for(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.whole({})
    got = run(a_target(tiny), a_request(auth=Auth.NONE))
    assert [one.transcript.status for one in got.exchanges[AT_ONCE]] == [200]


def test_a_header_that_a_target_does_not_know_is_none_that_it_owes_anything(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.whole({})
    asking = a_request(Request(), headers={"x-proxy-mode": "a"}, requires_echo="x-proxy-mode")
    got = run(a_target(tiny), asking)
    unknown = "the target does not echo x-proxy-mode, so it does not know that header"
    assert (got.absent, got.not_driven, got.exchanges) == ({AT_ONCE: unknown}, {}, {})
    assert len(tiny.requests) == 1


def test_a_live_model_is_asked_but_nothing_is_expected_of_it(tiny: TinyServer) -> None:
    live = a_target(tiny, backend=Backend.LIVE)
    assert run(live, HELLO).exchanges[AS_STREAM][0].wanted == ()
    assert [one.text for one in run(a_target(tiny), HELLO).exchanges[AS_STREAM][0].wanted] == ["Hello, world!"]


@pytest.mark.parametrize(
    "scripted", [a_scenario(Turn(say="Die."), alone=True), a_scenario(Turn(say="How?", script="reflect/turns"))]
)
def test_a_live_model_is_not_asked_what_only_scripts_can_play(tiny: TinyServer, scripted: Scenario) -> None:
    got = run(a_target(tiny, backend=Backend.LIVE), scripted)
    assert "a live model is behind the target" in got.not_driven[AS_STREAM]


def test_a_turn_with_a_script_of_its_own_asks_afresh_under_the_same_nonce(tiny: TinyServer) -> None:
    run(a_target(tiny), a_scenario(Turn(say="Talk."), Turn(say="How?", script="reflect/turns")))
    first, second = (exchange.json["messages"] for exchange in tiny.requests)
    assert [len(first), len(second)] == [1, 1]
    assert second[0]["content"] == first[0]["content"].replace("text/hello", "reflect/turns").replace("Talk.", "How?")
    assert json.dumps(second).count("#") == 1


# Dialects


def test_a_scenario_is_driven_in_every_form_that_the_target_speaks(tiny: TinyServer) -> None:
    talk = a_scenario(Turn(say="Hi."), modes=tuple(Mode), dialects=(Dialect.OPENAI_JSON, Dialect.OBSIDIAN_XML))
    got = run(a_target(tiny, dialects=(Dialect.OBSIDIAN_XML, Dialect.FUNCTION_CALL)), talk)
    assert set(got.exchanges) == {Form(Dialect.OBSIDIAN_XML, mode) for mode in Mode}
    assert {(form, one.form) for form, exchange in got.exchanges.items() for one in exchange} == {
        (f, f) for f in got.exchanges
    }
    assert len(tiny.requests) == 2


def test_the_dialect_is_asked_for_by_a_header_or_by_functions(tiny: TinyServer) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    run(a_target(tiny, dialects=tuple(Dialect)), a_scenario(Turn(say="Hi."), tools=(tool,)))
    asked = {(exchange.headers.get(MODE_HEADER), "functions" in exchange.json) for exchange in tiny.requests}
    # Messages have one dialect, so there is nothing to ask for.
    assert asked == {("openai-json", False), ("obsidian-xml", False), ("openai-json", True), (None, False)}


def test_the_targets_own_mode_is_used_without_a_header_where_it_is_known(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.whole({"choices": []})
    own = dataclasses.replace(a_request(), needs=(Need.DEFAULT_MODE,))
    unknown = run(a_target(tiny), own)
    assert "declare it with --default-mode" in unknown.not_driven[AT_ONCE]
    run(a_target(tiny, default_mode=Dialect.OPENAI_JSON), own)
    (asked,) = tiny.requests
    assert MODE_HEADER not in asked.headers


def test_a_plain_request_is_sent_once_whatever_is_spoken(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.whole({"error": {}}, "400 Bad Request")
    got = run(a_target(tiny, dialects=tuple(Dialect)), a_request())
    assert (list(got.exchanges), len(tiny.requests)) == ([AT_ONCE], 1)


def test_responses_are_asked_for_at_their_own_address_with_the_headers_of_the_scenario(tiny: TinyServer) -> None:
    target = a_target(tiny, dialects=(Dialect.RESPONSES,))
    scenario = a_scenario(Turn(say="Hi."), modes=WHOLE, headers={MODE_HEADER: "obsidian-xml"})
    run(target, scenario)
    assert [one.path for one in tiny.requests] == ["/v1/responses"]
    assert tiny.requests[0].headers[MODE_HEADER] == "obsidian-xml"
    run(target, HELLO)
    assert tiny.requests[1].headers[MODE_HEADER] == "openai-json"
    assert tiny.requests[1].json["input"][0]["content"].endswith("]] Hi.")


def test_the_gate_is_opened_at_the_first_text_of_a_response(tiny: TinyServer) -> None:
    opened = threading.Event()
    delta = b'event: response.output_text.delta\ndata: {"type": "response.output_text.delta", "delta": "a"}\n\n'
    last = b'event: response.completed\ndata: {"type": "response.completed", "response": {"status": "completed"}}\n\n'

    def respond(exchange: TinyExchange) -> None:
        if exchange.marker == "open/gate":
            opened.set()
            exchange.whole({})
            return
        exchange.send(STREAM, delta)
        assert opened.wait(10)
        exchange.send(last)
        exchange.gone()

    tiny.respond = respond
    target = a_target(tiny, dialects=(Dialect.RESPONSES,))
    exchange = run(target, a_scenario(Turn(say="Hi.", act=Act.OPEN_AT_TEXT))).exchanges
    assert {one.path for one in tiny.requests} == {"/v1/responses"}
    (exchange,) = exchange[Form(Dialect.RESPONSES, Mode.STREAM)]
    assert exchange.transcript.end is End.OPEN, "the body stayed open after the terminal event"


CONTINUED = a_request(Request(method="GET", path="/responses/{response}"), path="/responses", json={"input": "x"})


def test_a_request_may_follow_the_response_before_it(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.whole({"object": "response", "id": "resp_7"})
    one = dataclasses.replace(CONTINUED, dialects=(Dialect.RESPONSES,))
    run(a_target(tiny, dialects=(Dialect.RESPONSES,)), one)
    assert [exchange.path for exchange in tiny.requests] == ["/v1/responses", "/v1/responses/resp_7"]


@pytest.mark.parametrize("answer", [{"object": "list", "data": []}, {"error": {"message": "No."}}])
def test_no_request_is_sent_that_continues_a_response_which_never_came(tiny: TinyServer, answer: Any) -> None:
    tiny.respond = lambda exchange: exchange.whole(answer)
    one = dataclasses.replace(CONTINUED, dialects=(Dialect.RESPONSES,))
    (exchanges,) = run(a_target(tiny, dialects=(Dialect.RESPONSES,)), one).exchanges.values()
    assert [exchange.path for exchange in tiny.requests] == ["/v1/responses"]
    assert len(exchanges) == 1
