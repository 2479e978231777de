from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from wireproof.judging.judge import judge_runs
from wireproof.model.catalogue import load
from wireproof.model.verdict import Outcome, Verdict
from wireproof.report.phrases import CLIENTS, STYLES, broken_requirement

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate

    Make = Callable[..., Exchange]
    Certified = Callable[..., Certificate]

STOP = {"finish": "stop"}


def lines(certificate: Certificate, requirement: str) -> list[str]:
    outcome = next(o for o in certificate.outcomes if o.requirement == requirement)
    return [line.plain for line in broken_requirement(certificate, load().find(requirement), outcome)]


def test_a_failure_says_what_is_asked_who_breaks_what_was_seen_where_and_what_to_do(
    stream: Make, certified: Certified
) -> None:
    row = load().find("chat.stream.role-first")
    said = lines(certified(stream("flush", "first", STOP, bare=True)), row.id)
    assert said[0] == "FAIL chat.stream.role-first  MUST"
    assert said[1] == row.text
    named = [f"breaks {effect}" for effect in row.breaks[:CLIENTS]]
    assert said[2 : 2 + len(named)] == named
    seen, place, request, to_do = said[2 + len(named) :][:4]
    assert seen.startswith("seen in flush (stream): choice 0: content")
    assert place.startswith('at byte 0, frame 0: data: {"id": "chatcmpl-1')
    assert request.startswith("request: curl -sN http://127.0.0.1:1/v1/chat/completions -H Content-Type: --data-raw '{")
    assert to_do == f"to do: {row.hint}"


def test_only_some_broken_clients_are_named(stream: Make, certified: Certified) -> None:
    row = load().find("chat.stream.call-opening")
    # No index, no id, no type, and arguments that are an object.
    bare = {"tool_calls": [{"function": {"name": "localSearch", "arguments": {}}}]}
    said = lines(certified(stream("call-one", bare, STOP)), row.id)
    assert sum(line.startswith("breaks ") for line in said) == CLIENTS < len(row.breaks)


def test_clients_that_break_on_something_else_are_not_named(stream: Make, certified: Certified) -> None:
    said = lines(certified(stream("call-one", STOP)), "chat.stream.call-opening")
    assert not [line for line in said if line.startswith("breaks ")]


def test_a_note_names_no_client_and_a_harm_is_shown_before_it(stream: Make, certified: Certified) -> None:
    row = load().find("chat.stream.schema")
    extra = stream("flush", {"content": "first", "colour": "red"}, "second", STOP)
    said = lines(certified(extra), row.id)
    assert said[0] == "FAIL chat.stream.schema  MUST (warn at level compat)"
    assert said[2] == "seen in flush (stream): /choices/0/delta: colour is not among the published fields"
    headless = b'data: {"choices": [{"index": 0, "delta": {"content": " "}}]}\n\n'
    missing = stream("flush", {"content": "first", "colour": "red"}, headless, "second", STOP)
    said = lines(certified(missing), row.id)
    assert said[0] == "FAIL chat.stream.schema  MUST"
    assert said[2] == "breaks openai-python .stream: exception when a chunk holds only choices"
    assert "seen in flush (stream): the body: id and object and created and model are missing" in said


def test_a_violation_without_a_place_shows_no_bytes(stream: Make, certified: Certified) -> None:
    said = lines(certified(stream("flush", "first", "second", STOP, headers={})), "chat.stream.headers")
    assert said[2] == "seen in flush (stream): there is no content-type header, it should say text/event-stream"
    assert not any(line.startswith("at ") for line in said)


def test_a_violation_with_a_hint_of_its_own_shows_that_one(stream: Make, certified: Certified) -> None:
    row = load().find("chat.stream.frames")
    packing = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    packed = stream("flush", b"\x1f\x8b\x08", headers=packing)
    said = lines(certified(packed), row.id)
    assert "compressed (content-encoding: gzip)" in next(line for line in said if line.startswith("seen in"))
    assert said[-1].startswith("to do: Compress only what the request's Accept-Encoding allows")
    assert lines(certified(stream("flush", b"data: {\n\n")), row.id)[-1] == f"to do: {row.hint}"


def test_an_empty_body_has_no_bytes_to_show(plain: Make, certified: Certified) -> None:
    said = lines(certified(plain("body-not-json", 500)), "http.body.json")
    seen = "POST /chat/completions was answered HTTP 500 with an empty body; it should be 400"
    assert said[-3] == f"seen in body-not-json (whole): {seen}"


def test_bytes_that_are_no_utf8_are_shown(plain: Make, certified: Certified) -> None:
    said = lines(certified(plain("body-not-json", 500, b"\xffoops")), "http.body.json")
    assert said[-3] == r"at byte 0: \xffoops"


def test_the_exchange_of_the_finding_is_the_one_that_is_shown(stream: Make, certified: Certified) -> None:
    hushed = stream("crash-in-text", "Last words", b"data: not json\n\n", number=0)
    after = stream("crash-in-text", "Hello, moon!", STOP, number=1)
    said = lines(certified(hushed, after), "chat.stream.text")
    assert "moon" in next(line for line in said if line.startswith("at byte"))


def test_an_exchange_that_the_second_try_has_not_is_shown_as_it_was_first(
    right_whole: Make, plain: Make, certified: Certified
) -> None:
    one = certified(right_whole("tool-loop", 0))
    failed = plain("tool-loop", 500, b"The pool is empty.", number=1)
    (before,) = one.runs
    runs = [dataclasses.replace(before, set_aside={failed.form: [right_whole("tool-loop", 0), failed]})]
    judged = judge_runs(runs, one.target, load())
    said = lines(dataclasses.replace(one, runs=tuple(runs), outcomes=judged.outcomes), "target.capacity")
    assert any(line.startswith("seen in tool-loop (whole): 1 exchange failed and went well alone") for line in said)
    assert said[-2].startswith("request: curl ")


def test_a_stale_known_failure_says_why_it_fails(stream: Make, certified: Certified) -> None:
    one = certified(stream("flush", "first", "second", STOP), known={"flush:chat.stream.flushed": "buffers"})
    said = lines(one, "chat.stream.flushed")
    assert said[2] == "flush: it passes, but is declared as known failing (buffers); remove its line"


def test_every_verdict_has_a_style() -> None:
    assert set(STYLES) == set(Verdict)
    assert Outcome(scenario="s", requirement="r", verdict=Verdict.PASS).verdict in STYLES
