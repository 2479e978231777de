"""Starts that fail, and what fails in mid-run: what is sent, what is said, and how the command ends.

Each server is one that plays a service of a vendor on loopback; none has a mock behind it unless it says so.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from wireproof.cli.root import root
from wireproof.model.dialect import Surface
from wireproof.results.certificate import ExitStatus
from wireproof.targets import budget as budgets
from wireproof.targets.launch import executable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.tests.conftest import Serving, TinyExchange, TinyServer

    Respond = Callable[[TinyExchange], None]

pytestmark = pytest.mark.sampled(10)

EACH = len(Surface)
"""Requests of a start that fails at once: one for each surface."""
TWICE, RETRIED = 2 * EACH, 2 * EACH + 2
FEW = 6 * EACH
"""Requests of a start that fails, at most: for all surfaces, whole and streamed, some of them asked again."""
QUOTA = {"error": {"message": "You exceeded your current quota.", "type": "insufficient_quota", "param": None,
                   "code": "insufficient_quota"}}  # fmt: skip
REGION = {"error": {"message": "Country, region, or territory not supported", "type": "request_forbidden",
                    "param": None, "code": "unsupported_country_region_territory"}}  # fmt: skip


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "FIRST", 0.02)
    monkeypatch.setattr(budgets, "MOST", 0.2)


def certified(tiny: TinyServer, *more: str) -> Result:
    words = ("certify", "--url", tiny.base_url, "--model", "m", "--timeout", "0.5", *more)
    return CliRunner().invoke(root, words)


def refusing(status: str, body: Any, *headers: str) -> Respond:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = "text/html" if data.startswith(b"<") else "application/json"
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(data)}", *headers, "", ""]
    return lambda exchange: exchange.send("\r\n".join(lines).encode(), data)


def saying(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def silent(exchange: TinyExchange) -> None:
    exchange.gone()


@pytest.mark.parametrize(
    ("respond", "said", "most"),
    [
        (refusing("401 No", saying("Incorrect API key")), "refuses with 401: it wants a key; name its variable", EACH),
        (
            refusing("402 Pay", saying("Top up.")),
            "refuses with 402: the quota or the credit of the account is used up",
            EACH,
        ),
        (refusing("403 No", saying("Invalid API key")), "refuses with 403: it wants a key; name its variable", EACH),
        (refusing("403 No", REGION), "refuses with 403: it does not serve the region from which it is asked", EACH),
        (refusing("403 No", saying("This is not available in your country")), "it does not serve the region", EACH),
        (refusing("403 No", saying("x", code="account_deactivated")), "refuses with 403: the account is closed", EACH),
        (refusing("404 No", saying("no route")), "is no OpenAI-compatible API: POST /chat/completions: HTTP 404", EACH),
        (
            refusing("404 No", saying("no", code="model_not_found")),
            "a plain request for the model 'm'; name one",
            EACH,
        ),
        (refusing("429 Busy", QUOTA), "refuses with 429: the quota or the credit of the account is used up", EACH),
        (refusing("429 Busy", saying("slow down")), "answers HTTP 429 to every request, and has served none", FEW),
        (refusing("429 Busy", saying("wait"), "Retry-After: 3600"), "HTTP 429 and asks to wait 3,600 s; --max-wait", 1),
        (refusing("503 Busy", saying("loading")), "answers HTTP 503 to every request, and has served none", FEW),
        (refusing("500 Oh", saying("boom")), "HTTP 500 (boom); it fails, also when it is asked again", RETRIED),
        (
            refusing("502 Oh", b"<html>nginx"),
            "HTTP 502 with text/html; it fails, also when it is asked again",
            RETRIED,
        ),
        (refusing("400 No", saying("no")), "HTTP 400 (no); it has to take a plain request for a text", TWICE),
        (refusing("200 OK", b"<html>welcome"), "is no OpenAI-compatible API", EACH),
        (
            silent,
            "does not speak HTTP as it should: POST /chat/completions: no answer came within the limit",
            2 * EACH + 1,
        ),
    ],
)
def test_a_start_that_fails_ends_with_its_cause(tiny: TinyServer, respond: Respond, said: str, most: int) -> None:
    tiny.respond = respond
    result = certified(tiny, "--max-wait", "1")
    assert (result.exit_code, result.stdout) == (ExitStatus.UNREACHABLE, "")
    (line,) = (one for one in result.stderr.splitlines() if one.startswith("wireproof: "))
    assert said in line
    assert result.stderr.splitlines()[-1] == line
    assert len(tiny.requests) <= most


@pytest.mark.parametrize(
    "respond",
    [
        refusing("401 No", saying("Incorrect API key")),
        refusing("429 Busy", QUOTA),
        refusing("500 Oh", saying("boom")),
    ],
)
def test_a_start_that_fails_before_a_model_is_known_ends_too(tiny: TinyServer, respond: Respond) -> None:
    tiny.respond = respond
    result = CliRunner().invoke(root, ("certify", "--url", tiny.base_url))
    assert (result.exit_code, result.stdout) == (ExitStatus.UNREACHABLE, "")
    assert len(tiny.requests) <= FEW


class Model:
    """A service with a model that answers by its own mind, after so many requests that it refuses."""

    def __init__(
        self, text: str = "Hello! I am a helpful assistant.", *, after: int = 0, refusal: Respond = silent
    ) -> None:
        self.text, self.after, self.refusal = text, after, refusal
        self.served = 0
        self.lock = threading.Lock()

    def __call__(self, exchange: TinyExchange) -> None:
        if not exchange.path.endswith("/chat/completions"):
            exchange.whole(saying("no route"), "404 Not Found")
            return
        with self.lock:
            self.after -= 1
            refused = self.after >= 0
            self.served += not refused
        self.refusal(exchange) if refused else exchange.answer(self.text)


ONE = ("--only", "live-say")


@pytest.mark.parametrize("text", ["Hello! I am a helpful assistant.", "", "Wireproof: the scripted backend is here."])
def test_what_proves_no_mock_is_driven_as_a_model_that_is_paid_for(tiny: TinyServer, text: str) -> None:
    tiny.respond = Model(text)
    result = certified(tiny)
    assert result.output.startswith(f"a model answers at {tiny.base_url}: the run sends ")
    assert "live backend" in result.output
    assert len(tiny.requests) <= 100


@pytest.mark.parametrize("repeats", ['{"nonce": "x"}', "[[wireproof:reflect/backend#{nonce}]]", "nonce {nonce}"])
def test_a_text_that_repeats_the_request_proves_nothing(tiny: TinyServer, repeats: str) -> None:
    def respond(exchange: TinyExchange) -> None:
        said = "Wireproof: the scripted backend is here."
        if exchange.marker == "reflect/backend":
            nonce = re.search(r"#(\w+)\]\]", exchange.body.decode())
            said = repeats.replace("{nonce}", nonce[1] if nonce else "")
        exchange.answer(said)

    tiny.respond = respond
    assert "live backend" in certified(tiny, *ONE, "--surface", "chat").output


def test_a_mock_that_reflects_the_nonce_is_one(serving: Serving) -> None:
    with serving() as served:
        words = ("certify", "--url", served.base_url, "--only", "text-hello", "--surface", "chat")
        result = CliRunner().invoke(root, words)
    assert result.exit_code == ExitStatus.CERTIFIED, result.output
    assert "mock backend" in result.output


def test_a_mock_that_is_declared_is_judged_whatever_it_answers(tiny: TinyServer) -> None:
    tiny.respond = refusing("500 Oh", saying("boom"))
    result = certified(tiny, "--backend", "codex", "--only", "text-hello")
    assert result.exit_code == ExitStatus.FAILED, result.output
    assert "mock backend" in result.output


@pytest.mark.parametrize(
    ("times", "refusal"),
    [
        (2, refusing("500 Oh", saying("starting"))),
        (2, refusing("429 Busy", saying("slow down"))),
        (1, refusing("429 Busy", saying("slow down"), "retry-after-ms: 30")),
        (1, refusing("503 Busy", saying("loading"), "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT")),
    ],
)
def test_a_start_that_fails_first_and_then_works_is_a_start(tiny: TinyServer, times: int, refusal: Respond) -> None:
    tiny.respond = Model(after=times, refusal=refusal)
    assert "live backend" in certified(tiny, *ONE).output


# In mid-run


def later(first: int, refusal: Respond) -> Respond:
    """A model that serves so many requests, and refuses all that come then."""
    model, lock, left = Model(), threading.Lock(), [first]

    def respond(exchange: TinyExchange) -> None:
        with lock:
            left[0] -= exchange.path.endswith("/chat/completions")
            served = left[0] >= 0
        (model if served else refusal)(exchange)

    return respond


@pytest.mark.parametrize(
    ("refusal", "why"),
    [
        (refusing("429 Busy", QUOTA), "the target answers HTTP 429: the quota or the credit of the account is used up"),
        (
            refusing("402 Pay", saying("Top up.")),
            "the target answers HTTP 402: the quota or the credit of the account is used up",
        ),
        (
            refusing("429 Busy", saying("wait"), "Retry-After: 3600"),
            "the target answers HTTP 429 and asks to wait 3,600 s; --max-wait sets the bound of 60 s",
        ),
        (
            refusing("401 No", saying("This key has expired.", code="invalid_api_key")),
            "the target answers HTTP 401: it refuses the key that it took before; give one that is still good",
        ),
        (
            refusing("403 No", saying("Invalid authentication credentials")),
            "the target answers HTTP 403: it refuses the key that it took before; give one that is still good",
        ),
    ],
)
def test_a_run_that_may_send_no_more_ends_with_what_there_is(
    tiny: TinyServer, tmp_path: Path, refusal: Respond, why: str
) -> None:
    tiny.respond = later(12, refusal)
    result = certified(tiny, "--output", str(tmp_path / "run"))
    assert f"the run ended early: {why}" in result.output
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert any(why in one["reason"] for one in report["driven"])
    # Those that were under way with the one that was refused.
    # Each of them gives a key that is refused once more.
    assert len(tiny.requests) <= 1 + 12 + 4 * EACH + 8
    assert result.exit_code in {ExitStatus.PARTIAL, ExitStatus.FAILED}
    assert "429" not in json.dumps([one["seen"] for one in report["findings"]])


def test_a_key_that_is_refused_once_is_given_again_and_a_refusal_of_something_else_ends_nothing(
    tiny: TinyServer,
) -> None:
    model, lock, slips = Model(), threading.Lock(), [1]

    def respond(exchange: TinyExchange) -> None:
        with lock:
            slips[0] -= "LIGHTHOUSE" in exchange.body.decode()
            slipped = slips[0] == 0
        if slipped:
            refusing("401 No", saying("no key"))(exchange)
        elif b"image_url" in exchange.body:
            refusing("403 No", saying("This picture is not allowed here."))(exchange)
        else:
            model(exchange)

    tiny.respond = respond
    result = certified(tiny, "--surface", "chat")
    assert slips[0] < 0
    assert "the run ended early" not in result.output
    assert "HTTP 401" not in result.output


def test_nothing_is_sent_inside_a_wait_and_refused_requests_use_up_no_bound(tiny: TinyServer) -> None:
    """A limit of so many requests a window, as vendors have it."""
    window, most, grace, lock, model = 0.6, 6, 0.2, threading.Lock(), Model()
    arrived: list[float] = []
    waits: list[tuple[float, float]] = []

    def respond(exchange: TinyExchange) -> None:
        now = time.monotonic()
        with lock:
            refused = sum(one > now - window for one in arrived) >= most
            arrived.append(now)
            if refused:
                waits.append((now, now + window))
        if refused:
            refusing("429 Busy", saying("slow down"), f"retry-after-ms: {window * 1000:.0f}")(exchange)
        else:
            model(exchange)

    tiny.respond = respond
    result = certified(tiny, "--surface", "chat")
    assert waits
    assert "requests are spent" not in result.output
    assert "the run ended early" not in result.output
    assert "target.capacity" not in result.output
    # What was under way when the refusal was sent could not know of it.
    inside = [one for one in arrived for begun, due in waits if begun + grace < one < due - 0.01]
    assert inside == []


@pytest.mark.parametrize("repeat", [1, 3])
def test_an_explicit_bound_counts_every_request(tiny: TinyServer, repeat: int) -> None:
    tiny.respond = Model(after=3, refusal=refusing("429 Busy", saying("slow down")))
    result = certified(tiny, "--max-requests", "11", "--repeat", str(repeat))
    assert result.exit_code in {ExitStatus.PARTIAL, ExitStatus.FAILED}
    assert len(tiny.requests) == 11


def test_a_bound_that_is_reached_before_the_target_is_known_is_said(tiny: TinyServer) -> None:
    tiny.respond = Model()
    result = certified(tiny, "--max-requests", "1")
    assert result.exit_code == ExitStatus.UNREACHABLE
    assert "it is not known yet what answers" in result.stderr
    assert "the run's 1 requests are spent; --max-requests sets the bound" in result.stderr
    assert len(tiny.requests) == 1


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("first", [0, 12])
def test_an_interrupt_in_a_wait_ends_at_once_with_what_there_is(tiny: TinyServer, tmp_path: Path, first: int) -> None:
    tiny.respond = later(first, refusing("429 Busy", saying("slow down"), "Retry-After: 50"))
    process = subprocess.Popen(
        [executable("wireproof"), "certify", "--url", tiny.base_url, "--model", "m", "--output", str(tmp_path / "run")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    shown = next(line for line in process.stderr if line.startswith("waiting "))
    assert "waiting 50 s, until " in shown
    assert "the target answers HTTP 429 and asks for that" in shown
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == ExitStatus.INTERRUPTED
    assert "interrupted" in said
    assert time.monotonic() - began < 15
    assert (tmp_path / "run" / "report.json").exists()
