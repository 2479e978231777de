"""What the service is like beside its answers: times, quotas, failures; all of it by a seed, none of it by a script."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import httpx
import pytest

from wireproof_endpoint.endpoint import Endpoint, EndpointRequest
from wireproof_endpoint.in_process import Transport
from wireproof_endpoint.play import Play, WholeReply
from wireproof_endpoint.service.chaos import FAULTS, fault_of
from wireproof_endpoint.service.latency import TimeError, delays, times
from wireproof_endpoint.service.quota import KEYS, Quota, room_of
from wireproof_endpoint.serving import endpoint_of, running
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.player import Until
from wireproof_scripts.steps import Pace, Pause
from wireproof_surfaces.errors import ApiError

CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "one two"}]}


def endpoint(**settings: Any) -> Endpoint:
    return endpoint_of(EndpointSettings(**settings), lambda: LIBRARY)


def post(served: Endpoint, body: dict[str, Any], path: str = "/v1/chat/completions", **headers: str) -> Any:
    content = json.dumps(body).encode()
    names = {"content-type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    request = EndpointRequest(method="POST", path=path, headers=names, body=content)
    return request, served.answer(request)


def silences(answer: Play) -> list[float]:
    """How long the answer waits, each time."""
    now, found = 0.0, []
    outputs = answer.outputs(now)
    output = next(outputs, None)
    while output is not None:
        if isinstance(output, Until):
            found.append(round(output.time - now, 6))
            now = output.time
        try:
            output = outputs.send(now)
        except StopIteration:
            break
    return found


# Times


@pytest.mark.each(
    ("text", "low", "high"),
    [
        ("0.3", 0.3, 0.3),
        ("300ms", 0.3, 0.3),
        ("2s", 2, 2),
        ("0.2..0.5", 0.2, 0.5),
        ("200ms..1s", 0.2, 1),
        ("normal:0.3,0.1", 0, 1),
        ("lognormal:0.3,0.5", 0.01, 10),
        ("exponential:0.3", 0, 10),
    ],
)
def test_times_are_drawn_as_they_are_described(text: str, low: float, high: float) -> None:
    draw, chance = times(text), random.Random(1)  # noqa: S311 - times, no secrets
    drawn = [draw(chance) for _ in range(500)]
    assert low <= min(drawn) <= max(drawn) <= high
    assert (len(set(drawn)) > 1) is (low != high)


@pytest.mark.each(
    "text",
    [
        "fast",
        "-1",
        "0.5..0.2",
        "normal:0.3",
        "uniform:1,2",
        "lognormal:0,1",
        "exponential:0",
        "1h",
        "99999",
        ":1",
        "1,2",
    ],
)
def test_what_describes_no_time_is_refused_with_what_would(text: str) -> None:
    with pytest.raises(TimeError, match=r"must be a time such as|longer than"):
        times(text)


def test_an_answer_waits_before_its_first_output_and_between_its_pieces() -> None:
    _, answer = post(endpoint(ttft="0.5", itl="100ms", commit=60.0), {**CHAT, "stream": True})
    assert silences(answer) == [0.5, 0.1, 0.1, 0.1]  # You said: one two
    _, whole = post(endpoint(ttft="0.5", itl="100ms"), CHAT)
    assert sum(silences(whole)) == pytest.approx(0.8)


def test_the_same_seed_gives_the_same_times_and_another_one_others() -> None:
    def drawn(seed: int) -> list[list[float]]:
        before = delays(EndpointSettings(ttft="0.2..0.5", itl="normal:0.1,0.05", jitter=0.2, seed=seed))
        assert before is not None
        found = []
        for number in (1, 2):
            pause, pace = before(number)
            assert isinstance(pause, Pause)
            assert isinstance(pace, Pace)
            found.append([pause.seconds, *itertools.islice(pace.gaps(), 5)])
        return found

    first, second = drawn(1)
    assert first != second
    assert drawn(1) == [first, second]
    assert drawn(2) != [first, second]


# Quotas


def test_a_quota_runs_out_and_comes_back_little_by_little() -> None:
    now = [0.0]
    quota = Quota(requests=3, tokens=None, clock=lambda: now[0])
    left = [quota.take({}, 100, 0)["x-ratelimit-remaining-requests"] for _ in range(3)]
    assert left == ["2", "1", "0"]
    with pytest.raises(ApiError) as refused:
        quota.take({}, 100, 0)
    error = refused.value
    assert (error.problem.status, error.problem.type, error.problem.code) == (429, "requests", "rate_limit_exceeded")
    assert "Limit 3, Used 3, Requested 1. Please try again in 20s." in error.problem.message
    assert error.headers == {
        "x-ratelimit-limit-requests": "3",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1m0s",
        "Retry-After": "20",
        "retry-after-ms": "20000",
    }
    now[0] = 20.0
    assert quota.take({}, 100, 0)["x-ratelimit-remaining-requests"] == "0"


def test_tokens_are_counted_by_what_is_asked_and_what_may_come() -> None:
    quota = Quota(requests=None, tokens=1000, clock=lambda: 0.0)
    headers = quota.take({}, 400, 500)
    assert headers == {
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "400",
        "x-ratelimit-reset-tokens": "36s",
    }
    with pytest.raises(ApiError, match="tokens per min"):
        quota.take({}, 400, 500)


def test_a_request_that_is_larger_than_all_tokens_is_answered_when_all_are_there() -> None:
    quota = Quota(requests=None, tokens=100, clock=lambda: 0.0)
    assert quota.take({}, 4_000, 0)["x-ratelimit-remaining-tokens"] == "0"


def test_each_key_has_a_quota_of_its_own_and_keys_are_bounded() -> None:
    quota = Quota(requests=1, tokens=None, clock=lambda: 0.0)
    for number in range(KEYS + 1):
        quota.take({"authorization": f"Bearer {number}"}, 0, 0)
    quota.take({"authorization": "Bearer 0"}, 0, 0)  # forgotten
    with pytest.raises(ApiError):
        quota.take({"authorization": f"Bearer {KEYS}"}, 0, 0)


@pytest.mark.each(
    ("body", "room"),
    [(b"{}", 16), (b'{"max_tokens": 7}', 7), (b'{"max_output_tokens":70}', 70), (b'{"max_completion_tokens" : 8}', 8)],
)
def test_the_room_of_an_answer_is_read_off_a_body(body: bytes, room: int) -> None:
    assert room_of(body) == room


def test_answers_say_what_is_left_and_a_refusal_is_noted_in_the_journal() -> None:
    served = endpoint(rpm=1)
    with httpx.Client(transport=Transport(served), base_url="http://endpoint/v1") as client:
        first, second = (client.post("/chat/completions", json=CHAT) for _ in range(2))
        other = client.post("/chat/completions", json=CHAT, headers={"Authorization": "Bearer another"})
        assert "x-ratelimit-limit-requests" not in client.get("/models").headers
    assert (first.status_code, first.headers["x-ratelimit-remaining-requests"]) == (200, "0")
    assert (second.status_code, second.json()["error"]["code"]) == (429, "rate_limit_exceeded")
    assert int(second.headers["retry-after"]) > 0
    assert other.status_code == 200
    refused = served.journal.entries[1]
    assert (refused.script, refused.why()[0].why.startswith("Rate limit reached")) == ("quota", True)


# Failures


def test_about_the_share_that_is_asked_for_fails_and_the_same_ones_each_time() -> None:
    faults, again, other = ([fault_of(number, share=0.2, seed=seed) for number in range(2000)] for seed in (1, 1, 2))
    assert 300 < sum(fault is not None for fault in faults) < 500
    assert {fault for fault in faults if fault} == set(FAULTS)
    assert faults == again
    assert faults != other


@pytest.mark.parametrize("stream", [True, False])
def test_failures_reach_the_client_and_the_journal_says_which(*, stream: bool) -> None:
    served = endpoint(chaos=1.0, seed=3)
    seen = []
    with running(served) as url, httpx.Client(base_url=url) as client:
        for _ in range(24):
            try:
                seen.append(str(client.post("/chat/completions", json={**CHAT, "stream": stream}).status_code))
            except httpx.TransportError:
                seen.append("broken")
    expected = [fault_of(number, share=1.0, seed=3) or "" for number in range(1, 25)]
    assert seen == [next((code for code in ("429", "500", "503") if code in fault), "broken") for fault in expected]
    for entry, fault in zip(served.journal.entries, expected, strict=True):
        assert entry.script == "chaos"
        assert [one.why for one in entry.why()] == [f"by --chaos 1: {fault}, in the place of default"]


# Azure's paths


@pytest.mark.each(
    ("path", "body", "model"),
    [
        ("/openai/deployments/gpt-mine/chat/completions", {"messages": CHAT["messages"]}, "gpt-mine"),
        ("/openai/deployments/gpt-mine/chat/completions", CHAT, "m"),
        ("/openai/v1/chat/completions", CHAT, "m"),
        ("/openai/responses", {"model": "m", "input": "Hello"}, "m"),
        ("/openai/deployments/mine/embeddings", {"input": "Hello"}, "mine"),
        ("/openai/deployments/mine/completions", {"prompt": "Hello"}, "mine"),
    ],
)
def test_azures_paths_are_served(path: str, body: dict[str, Any], model: str) -> None:
    with httpx.Client(transport=Transport(endpoint(api_key="k")), base_url="http://endpoint") as client:
        answer = client.post(f"{path}?api-version=2024-10-21", json=body, headers={"api-key": "k"})
        assert (answer.status_code, answer.json()["model"]) == (200, model)
        assert client.post(path, json=body, headers={"api-key": "another"}).status_code == 401
        assert client.post(path, json=body, headers={"Authorization": "Bearer k"}).status_code == 200


def test_what_is_not_served_of_azures_is_not_found() -> None:
    with httpx.Client(transport=Transport(endpoint()), base_url="http://endpoint") as client:
        assert client.post("/openai/deployments/mine/audio/speech", json={}).status_code == 421  # nothing is there
        assert client.get("/openai/models").json()["object"] == "list"


# Legacy completions


def test_a_prompt_is_answered_as_a_text_completion() -> None:
    with httpx.Client(transport=Transport(endpoint()), base_url="http://endpoint/v1") as client:
        found = client.post("/completions", json={"model": "m", "prompt": ["Hi"], "n": 2}).json()
        usage = found.pop("usage")
        assert found.pop("id").startswith("cmpl-")
        assert found.pop("created") > 0
        choice = {"text": "You said: Hi", "logprobs": None, "finish_reason": "stop"}
        assert found == {
            "object": "text_completion",
            "model": "m",
            "system_fingerprint": "fp_wireproof",
            "choices": [{**choice, "index": 0}, {**choice, "index": 1}],
        }
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
        echo = client.post("/completions", json={"model": "m", "prompt": "Hi ", "echo": True, "max_tokens": 1}).json()
        assert (echo["choices"][0]["text"], echo["choices"][0]["finish_reason"]) == ("Hi You", "length")


def test_a_prompt_is_answered_as_a_stream() -> None:
    body = {"model": "m", "prompt": "Hi", "stream": True, "stream_options": {"include_usage": True}}
    with httpx.Client(transport=Transport(endpoint()), base_url="http://endpoint/v1") as client:
        frames = client.post("/completions", json=body).text.removesuffix("\n\n").split("\n\n")
    *chunks, usage, done = [frame.removeprefix("data: ") for frame in frames]
    read = [json.loads(chunk) for chunk in chunks]
    assert "".join(one["choices"][0]["text"] for one in read) == "You said: Hi"
    assert [one["choices"][0]["finish_reason"] for one in read][-2:] == [None, "stop"]
    assert {(one["object"], one["id"]) for one in read} == {("text_completion", read[0]["id"])}
    assert (json.loads(usage)["choices"], done) == ([], "[DONE]")


@pytest.mark.each(
    ("body", "param", "code"),
    [
        ({}, "prompt", "missing_required_parameter"),
        ({"prompt": 7}, "prompt", "invalid_type"),
        ({"prompt": ["a", "b"]}, "prompt", "unsupported_value"),
        ({"prompt": [1, 2]}, "prompt", "invalid_type"),
        ({"prompt": "a", "suffix": "b"}, "suffix", "unsupported_value"),
        ({"prompt": "a", "suffix": ["b"]}, "suffix", "unsupported_value"),
        ({"prompt": "a", "best_of": 3}, "best_of", "unsupported_value"),
        ({"prompt": "a", "temperature": 3}, "temperature", "decimal_above_max_value"),
    ],
)
def test_what_is_no_prompt_is_refused(body: dict[str, Any], param: str, code: str) -> None:
    served = endpoint()
    _, answer = post(served, {"model": "m", **body}, "/v1/completions")
    assert isinstance(answer, WholeReply)
    error = json.loads(answer.body)["error"]
    assert (answer.status, error["param"], error["code"]) == (400, param, code)
