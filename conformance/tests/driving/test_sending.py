"""What is sent again: refusals for lack of capacity, and connections to a target that has died and is started again."""

from __future__ import annotations

import asyncio
import re
import shlex
import sys
import textwrap
import threading
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from wireproof.driving import restarting, sending
from wireproof.driving.drive import drive
from wireproof.driving.planning import planned
from wireproof.model.dialect import Dialect
from wireproof.model.reasons import CROWDED
from wireproof.model.scenario import Act, ConversationScenario, Form, Mode, PlainScenario, Request, Scenario, Turn
from wireproof.model.target import Backend, Target
from wireproof.model.transcript import Death, End, Transcript
from wireproof.targets import budget as budgets
from wireproof.targets.budget import Budget, TargetClock
from wireproof.targets.launch import launch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.tests.conftest import TinyExchange, TinyServer, Until

    from wireproof.driving.drive import Driving
    from wireproof.judging.outcomes import ScenarioRun

pytestmark = pytest.mark.sampled(14)

FORM = Form(Dialect.OPENAI_JSON, Mode.WHOLE)


def talk(
    name: str = "one", script: str = "text/hello", modes: tuple[Mode, ...] = (Mode.WHOLE,), **how: Any
) -> Scenario:
    turn = Turn(say="Hi.", act=how.pop("act", Act.READ))
    return ConversationScenario(
        name=name, title="", exercises=("chat.whole.text",), script=script, turns=(turn,), modes=modes
    )


def plain(**how: Any) -> Scenario:
    request = Request(json={"model": "m"}, **how)
    return PlainScenario(name="plain", title="", exercises=("http.body.json",), requests=(request,))


def target(base_url: str, **how: Any) -> Target:
    return Target(base_url=base_url, model="m", **{"dialects": (Dialect.OPENAI_JSON,), "timeout": 5.0, **how})


def driven(to: Target, *scenarios: Scenario, **how: Any) -> Driving:
    return asyncio.run(drive(planned(scenarios, to), to, **how))


def only(runs: Sequence[ScenarioRun]) -> Transcript:
    (run,) = runs
    (exchanges,) = run.exchanges.values()
    return exchanges[0].transcript


class Busy:
    """Refuses so many requests, each with this status, and serves what comes then."""

    def __init__(self, times: int, status: str = "429 Too Many Requests", body: Any = None) -> None:
        self.left, self.status, self.body = times, status, body or {"error": {"message": "busy"}}

    def __call__(self, exchange: TinyExchange) -> None:
        self.left -= 1
        if self.left >= 0:
            exchange.whole(self.body, self.status)
        else:
            exchange.answer("Hello, world!")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
def test_a_busy_target_is_waited_for_and_the_waits_are_kept(tiny: TinyServer, status: str) -> None:
    tiny.respond = Busy(2, status)
    got = only(driven(target(tiny.base_url), talk()).runs)
    assert (got.status, len(tiny.requests)) == (200, 3)
    assert [one.status for one in got.waits] == [int(status[:3])] * 2
    assert all(0 < one.seconds < 1 for one in got.waits)


def test_a_plain_request_is_waited_for_too(tiny: TinyServer) -> None:
    tiny.respond = Busy(1)
    assert [one.status for one in only(driven(target(tiny.base_url), plain()).runs).waits] == [429]


def test_a_target_that_stays_busy_is_given_up_and_nothing_more_is_sent(
    tiny: TinyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "FIRST", 0.1)
    tiny.respond = Busy(1000)
    crowd = [talk(str(number)) for number in range(20)]
    budget = Budget(clock=TargetClock(max_wait=0.5))
    first, *rest = driven(target(tiny.base_url), *crowd, jobs=1, budget=budget).runs
    # It waited 0.1 s and 0.3 s; the next pause would be too long.
    assert (only([first]).status, len(tiny.requests)) == (429, 3)
    said = re.compile(r"has served none for \d s; --max-wait sets the bound of 0\.5 s")
    assert all(said.search(run.not_driven[FORM]) for run in rest)


@pytest.mark.parametrize(
    ("scenario", "status", "body"),
    [
        (talk(script="fail/first"), "503 Service Unavailable", None),
        (talk(script="fail/rate"), "429 Too Many Requests", None),
        (plain(expect=429), "429 Too Many Requests", None),
        (talk(), "429 Too Many Requests", {"error": {"code": "insufficient_quota"}}),
        (talk(), "500 Internal Server Error", None),
    ],
    ids=["a failure is due", "a rate limit is due", "a refusal is expected", "no quota is left", "another error"],
)
def test_what_is_no_lack_of_capacity_is_not_waited_for(
    tiny: TinyServer, scenario: Scenario, status: str, body: Any
) -> None:
    tiny.respond = Busy(1, status, body)
    got = only(driven(target(tiny.base_url), scenario).runs)
    assert (got.status, got.waits, len(tiny.requests)) == (int(status[:3]), (), 1)


def test_of_a_live_model_no_failure_is_due(tiny: TinyServer) -> None:
    tiny.respond = Busy(1, "503 Service Unavailable")
    got = only(driven(target(tiny.base_url, backend=Backend.LIVE), talk()).runs)
    assert (got.status, len(got.waits)) == (200, 1)


def test_concurrency_falls_to_what_the_target_serves(tiny: TinyServer) -> None:
    lock, active, refused = threading.Lock(), 0, 0

    def respond(exchange: TinyExchange) -> None:
        nonlocal active, refused
        with lock:
            taken = active >= 2
            active += not taken
            refused += taken
        if taken:
            exchange.whole({"error": {"message": "busy"}}, "429 Too Many Requests")
            return
        exchange.gone(0.05)
        with lock:
            active -= 1
        exchange.answer("Hello, world!")

    tiny.respond = respond
    got = driven(target(tiny.base_url), *(talk(str(number)) for number in range(60)), jobs=16)
    assert {exchange.transcript.status for run in got.runs for exchange in run.exchanges[FORM]} == {200}
    assert 1 <= got.at_a_time <= 8
    assert refused


def test_a_request_beside_a_stream_that_is_refused_shows_nothing(
    tiny: TinyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireproof.driving.driver.BESIDE", 0.1)
    refused = threading.Event()

    def respond(exchange: TinyExchange) -> None:
        if exchange.marker == "open/gate":
            exchange.whole({"error": {"message": "busy"}}, "429 Too Many Requests")
            refused.set()
            return
        exchange.begin("first")
        refused.wait(10)
        exchange.send(b"data: [DONE]\n\n")

    tiny.respond = respond
    (run,) = driven(target(tiny.base_url), talk(script="text/gate", modes=(Mode.STREAM,), act=Act.OPEN_AT_TEXT)).runs
    assert run.not_driven == {Form(Dialect.OPENAI_JSON, Mode.STREAM): CROWDED}


MORTAL = """
    import http.server, json, os, pathlib, sys
    killer, lives = sys.argv[1], pathlib.Path(sys.argv[2])
    lives.write_text(lives.read_text() + "x" if lives.exists() else "x")
    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_): pass
        def do_GET(self):
            self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
        def do_POST(self):
            asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if killer in asked and "before" in killer:
                sys.stderr.write("it was too much\\n"); sys.stderr.flush(); os._exit(7)
            body = json.dumps({"choices": []}).encode()
            self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
            self.wfile.write(body); self.wfile.flush()
            if killer in asked:
                self.connection.shutdown(1); sys.stderr.write("it was too much\\n"); sys.stderr.flush(); os._exit(7)
    http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""


class Mortal:
    """A command whose process dies of a request with a certain word: before it answers, or after."""

    def __init__(self, folder: Path) -> None:
        self._lives, self._file = folder / "lives", folder / "mortal.py"
        self._file.write_text(textwrap.dedent(MORTAL))

    def command(self, killer: str) -> str:
        return shlex.join([sys.executable, str(self._file), killer, str(self._lives)])

    @property
    def lives(self) -> int:
        return len(self._lives.read_text())


@pytest.fixture
def mortal(tmp_path: Path) -> Mortal:
    return Mortal(tmp_path)


def deadly(name: str, word: str = "") -> Scenario:
    request = Request(json={"model": "m", "word": word})
    return PlainScenario(name=name, title="", exercises=("http.body.json",), requests=(request,))


def test_a_target_that_dies_is_started_again_and_the_rest_is_driven(mortal: Mortal) -> None:
    with launch(mortal.command("die before"), env={}) as launched:
        scenarios = [deadly("1"), deadly("2", "die before"), deadly("3")]
        runs = driven(target(launched.base_url), *scenarios, jobs=1).runs
    one, two, three = (run.exchanges[FORM][0].transcript for run in runs)
    assert (one.status, one.death) == (200, None)
    assert (two.status, two.end, two.death) == (None, End.CUT, Death(status=7, last_words="it was too much"))
    assert (three.status, three.death) == (200, None)
    assert mortal.lives == 2


def test_a_death_between_two_requests_is_noted_by_the_one_that_finds_it(mortal: Mortal) -> None:
    with launch(mortal.command("die after"), env={}) as launched:
        scenarios = [deadly("1", "die after"), deadly("2"), deadly("3")]
        runs = driven(target(launched.base_url), *scenarios, jobs=1).runs
    one, two, three = (run.exchanges[FORM][0].transcript for run in runs)
    assert (one.status, three.status, three.death) == (200, 200, None)
    # Whether the process was gone by the time of the next request is a matter of moments.
    assert two.end in {End.REFUSED, End.CUT}
    assert two.death == Death(status=7, last_words="it was too much")


def test_what_a_target_has_died_of_before_is_no_fault_of_the_first_request(mortal: Mortal, until: Until) -> None:
    with launch(mortal.command("die before"), env={}) as launched:
        with suppress(httpx.RemoteProtocolError):
            httpx.post(launched.base_url, content=b"die before", trust_env=False)
        until(lambda: launched.death() is not None)
        runs = driven(target(launched.base_url), deadly("1")).runs
    transcript = only(runs)
    assert (transcript.status, transcript.death) == (200, None)
    assert mortal.lives == 2


def test_a_target_that_is_launched_at_need_is_started_by_its_first_request(mortal: Mortal) -> None:
    with launch(mortal.command("never"), env={}, at_need=True) as launched:
        runs = driven(target(launched.base_url), *(deadly(str(n)) for n in range(3))).runs
    assert [run.exchanges[FORM][0].transcript.status for run in runs] == [200, 200, 200]
    assert mortal.lives == 1


@pytest.mark.parametrize(("unready", "status"), [(True, 503), (False, None)])
def test_what_waits_for_its_backend_has_its_time_where_others_have_less(
    tiny: TinyServer,
    unready: bool,  # noqa: FBT001 - a case
    status: int | None,
) -> None:
    def respond(exchange: TinyExchange) -> None:
        if not exchange.gone(0.5):
            exchange.whole({"error": {"message": "starting"}}, "503 Service Unavailable")

    tiny.respond = respond
    slow, to = plain(expect=503, unready=unready), target(tiny.base_url, timeout=1.0, unready_url=tiny.base_url)
    runs = asyncio.run(drive(planned([slow], to, {slow.name: [FORM]}), to, silences=3)).runs
    assert only(runs).status == status


SERVER = """
    import http.server, json, os
    def say(self, status):
        body = json.dumps({"choices": []}).encode()
        self.send_response(status); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_): pass
        def do_GET(self): say(self, 200)
        def do_POST(self): answer(self, self.rfile.read(int(self.headers["Content-Length"])).decode())
    http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""
"""What follows the `answer` that a test gives its server."""


def server(folder: Path, answer: str) -> str:
    """The command of a server that answers so."""
    file = folder / "server.py"
    file.write_text(textwrap.dedent(answer) + textwrap.dedent(SERVER))
    return shlex.join([sys.executable, str(file)])


UNSETTLED = """
    import threading, time
    state = {"refuses": False, "hangs": False}
    def answer(self, asked):
        if state["hangs"]:
            threading.Event().wait()
        refuses = state["refuses"] or "refuse" in asked
        state.update(refuses="fail/" in asked, hangs=refuses)
        time.sleep(0 if "fail/" in asked else 0.05)
        say(self, 500 if refuses else 200)
"""
"""It hangs after each refusal, and refuses what comes after a failing script, which it answers soonest of all."""


def test_whether_an_instance_hangs_is_not_asked_with_what_makes_it_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "GLANCE", 0.5)
    talks = [talk(str(number)) for number in range(8)]
    scenarios = [talk("first"), talk("failing", "fail/crash-finish"), *talks, deadly("refused", "refuse"), *talks]
    with launch(server(tmp_path, UNSETTLED), env={}) as launched:
        runs = driven(target(launched.base_url, timeout=1.0), *scenarios, jobs=1).runs
    statuses = [run.exchanges[FORM][0].transcript.status for run in runs]
    # One exchange shows the silence; an instance that hangs is replaced before the others meet it.
    assert Counter(statuses) == {200: len(scenarios) - 3, 500: 2, None: 1}


REPLACED = """
    import http.server, json, os, pathlib, sys, threading, time
    mark = pathlib.Path(sys.argv[1])
    begun, stuck, first = threading.Event(), threading.Event(), not mark.exists()
    mark.touch()
    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_): pass
        def do_GET(self):
            self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
        def do_POST(self):
            asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if first and "stuck" in asked:
                begun.wait()
                stuck.set()
            if stuck.is_set():
                threading.Event().wait()
            self.send_response(200); self.send_header("Content-Type", "text/event-stream"); self.end_headers()
            # It goes on until its process is ended.
            while self.say({"content": "Hello"}) and first and "text/utf8" in asked:
                begun.set()
                time.sleep(0.05)
            self.wfile.write(b"data: [DONE]\\n\\n")
        def say(self, delta):
            chunk = {"choices": [{"index": 0, "delta": delta}]}
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\\n\\n"); self.wfile.flush()
            return True
    http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""
"""It answers nothing more after some requests, and goes on with an answer that it has begun; a second one is well."""


def test_an_answer_that_a_fresh_instance_has_cut_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "GLANCE", 0.3)
    (tmp_path / "replaced.py").write_text(textwrap.dedent(REPLACED))
    as_stream = (Mode.STREAM,)
    scenarios = [talk("known", modes=as_stream), talk("begun", "text/utf8", as_stream), deadly("stuck", "stuck")]
    command = shlex.join([sys.executable, str(tmp_path / "replaced.py"), str(tmp_path / "lives")])
    with launch(command, env={}) as launched:
        _, begun, _ = driven(target(launched.base_url, timeout=0.5), *scenarios, jobs=2).runs
    assert only([begun]).body.endswith(b"data: [DONE]\n\n")


ONE_SLOT = """
    import threading
    slot = threading.BoundedSemaphore(1)
    def answer(self, asked):
        if not slot.acquire(blocking=False):
            return say(self, 429)
        if "stuck" in asked:
            threading.Event().wait()
        slot.release()
        say(self, 200)
"""
"""It never answers some requests, which keep its only slot."""


def test_an_instance_that_answered_nothing_may_have_lost_its_slots_all_the_same(tmp_path: Path) -> None:
    scenarios = [deadly("1", "stuck"), deadly("2", "stuck"), deadly("3", "stuck"), deadly("4"), deadly("5")]
    with launch(server(tmp_path, ONE_SLOT), env={}) as launched:
        runs = driven(target(launched.base_url, timeout=0.5), *scenarios, jobs=1).runs
    assert [run.exchanges[FORM][0].transcript.status for run in runs] == [None, None, None, 200, 200]


def test_one_that_cannot_be_started_at_need_is_not_driven() -> None:
    with launch(shlex.join([sys.executable, "-c", "raise SystemExit('no room')"]), env={}, at_need=True) as launched:
        run = driven(target(launched.base_url), deadly("1")).runs[0]
    assert not run.exchanges
    assert run.not_driven[FORM].startswith("an instance of the target could not be started")
    assert run.not_driven[FORM].endswith("no room")


def test_a_target_that_dies_all_the_time_is_given_up(mortal: Mortal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restarting, "MOST_STARTS", 2)
    with launch(mortal.command("before"), env={}) as launched:
        runs = driven(target(launched.base_url), *(deadly(str(n), "before") for n in range(5)), jobs=1).runs
    assert [bool(run.exchanges) for run in runs] == [True, True, True, False, False]
    assert "started again 2 times" in runs[4].not_driven[FORM]
    assert mortal.lives == 3


def test_a_target_that_does_not_start_again_is_given_up(mortal: Mortal, tmp_path: Path) -> None:
    with launch(mortal.command("before"), env={}) as launched:
        (tmp_path / "mortal.py").write_text("raise SystemExit('no more')")
        runs = driven(target(launched.base_url), deadly("1", "before"), deadly("2"), jobs=1).runs
    assert runs[0].exchanges[FORM][0].transcript.death == Death(status=7, last_words="it was too much")
    assert "the target died and could not be started again" in runs[1].not_driven[FORM]
    assert "no more" in runs[1].not_driven[FORM]


def test_a_target_that_comes_back_by_itself_is_waited_for(tiny: TinyServer) -> None:
    address = tiny.address
    tiny.close()
    returned: list[Any] = []

    def come_back() -> None:
        other = type(tiny)(address)
        returned.append(other)

    threading.Timer(0.2, come_back).start()
    try:
        assert only(driven(target(tiny.base_url), talk()).runs).status == 200
    finally:
        for one in returned:
            one.close()


@pytest.mark.parametrize("chunked", [True, False])
def test_a_body_in_chunks_comes_without_a_length(tiny: TinyServer, chunked: bool) -> None:  # noqa: FBT001 - a case
    tiny.respond = lambda exchange: exchange.whole({"choices": []})
    driven(target(tiny.base_url), plain(headers={"transfer-encoding": "chunked"} if chunked else {}))
    sent = tiny.requests[0].headers
    assert ("transfer-encoding" in sent, "content-length" in sent) == (chunked, not chunked)
