"""How fast streams came, and which requirements results differ in."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from saved_recordings import CONFIGURATION

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect, Surface
from wireproof.model.scenario import ConversationScenario, Form, Mode, Turn
from wireproof.model.target import Backend, SurfaceState, Target
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.reading import recorded
from wireproof.report.comparison import ResultToCompare, comparison, speed
from wireproof.report.data import report_of
from wireproof.results.document import Flaky
from wireproof.results.folder import versions
from wireproof.results.target_facts import SurfaceFound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate
    from wireproof.results.document import Report

TARGET = Target(base_url="http://x/v1", model="m", backend=Backend.LIVE)


def chunk(delta: Mapping[str, object], finish: str | None = None, **others: object) -> bytes:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return f"data: {json.dumps({'id': 'chatcmpl-1', 'choices': choices, **others})}\n\n".encode()


def stream(*pieces: tuple[float, bytes], tokens: int = 0, reasoning: int = 0) -> Exchange:
    """An answer whose pieces came at these times, and that counts so many tokens at its end."""
    scenario = ConversationScenario(name="s", title="t", exercises=("chat.stream.text",), turns=(Turn(say="p"),))
    usage = {
        "prompt_tokens": 1, "completion_tokens": tokens, "total_tokens": 1 + tokens,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }  # fmt: skip
    end = chunk({}, "stop", **({"usage": usage} if tokens else {})) + b"data: [DONE]\n\n"
    transcript = Transcript(
        method="POST", url="http://x", request_headers=(), request_body=b"{}", status=200,
        headers=(("content-type", "text/event-stream"),),
        pieces=(*(Piece(at=at, data=data) for at, data in pieces), Piece(at=9.0, data=end)),
        end=End.COMPLETE, seconds=9.0,
    )  # fmt: skip
    return recorded.of_turn(scenario, 0, Form(Dialect.OPENAI_JSON, Mode.STREAM), TARGET, transcript)


HEAD = chunk({"role": "assistant", "content": ""})


def test_the_first_token_is_the_first_piece_of_a_text_and_no_head() -> None:
    found = speed([stream((0.25, HEAD), (1.0, chunk({"content": "a"})), (3.0, chunk({"content": "b"})))])
    assert (found.streams, found.first_token, found.tokens_per_second) == (1, 1.0, None)


def test_a_frame_has_come_when_its_last_byte_has() -> None:
    torn = chunk({"content": "a"})
    assert speed([stream((0.5, HEAD + torn[:20]), (2.0, torn[20:]))]).first_token == 2.0


def test_the_first_piece_of_a_call_is_a_token() -> None:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    piece = {"index": 0, "function": {"arguments": "{}"}}
    found = speed([stream((0.5, chunk({"tool_calls": [call]})), (1.5, chunk({"tool_calls": [piece]})))])
    assert found.first_token == 1.5


@pytest.mark.parametrize(
    ("tokens", "reasoning", "rate"),
    [(21, 0, 10.0), (121, 100, 10.0), (7, 0, None), (21, 20, None), (0, 0, None)],
    ids=["counted", "reasoning counts apart", "too few", "too few but for reasoning", "not counted"],
)
def test_tokens_a_second_are_those_after_the_first(tokens: int, reasoning: int, rate: float | None) -> None:
    pieces = ((1.0, chunk({"content": "a"})), (3.0, chunk({"content": "b"})))
    assert speed([stream(*pieces, tokens=tokens, reasoning=reasoning)]).tokens_per_second == rate


def test_a_text_in_one_piece_has_no_speed() -> None:
    assert speed([stream((1.0, chunk({"content": "a"})), tokens=50)]).tokens_per_second is None


def test_what_is_fast_now_and_slow_then_has_the_median() -> None:
    answers = [stream((at, chunk({"content": "a"}))) for at in (1.0, 8.0, 2.0)]
    assert speed(answers).first_token == 2.0


def test_nothing_streamed_has_no_speed() -> None:
    found = speed([stream()])
    assert (found.streams, found.first_token, found.tokens_per_second) == (0, None, None)


@pytest.fixture
def one_row(right_whole: Callable[[str], Exchange], certified: Callable[..., Certificate]) -> Report:
    """A result that says something of one requirement alone."""
    report = report_of(certified(right_whole("text-hello")), load(), CONFIGURATION, versions())
    return replace(report, cells=tuple(one for one in report.cells if one.requirement == "chat.whole.text"))


def verdicts(*reports: Report, level: VerdictLevel = VerdictLevel.STRICT) -> dict[str, Sequence[str]]:
    results = [ResultToCompare(name=str(number), report=one, runs=()) for number, one in enumerate(reports)]
    found = comparison(results, level)
    return {row.requirement: [f"{one.verdict}:{one.broken_in}" for one in row.verdicts] for row in found.differing}


def with_verdict(report: Report, verdict: Verdict) -> Report:
    """The report with this verdict on each form of its only requirement."""
    return replace(report, cells=tuple(replace(cell, strict=verdict, compat=verdict) for cell in report.cells))


def test_a_requirement_that_one_result_breaks_differs(one_row: Report) -> None:
    row = one_row.cells[0].requirement
    kept, broken, unseen = (with_verdict(one_row, one) for one in (Verdict.PASS, Verdict.FAIL, Verdict.NOT_OBSERVED))
    assert verdicts(kept, broken, unseen) == {row: ["pass:0", "fail:0", "not observed:0"]}
    assert verdicts(broken, broken) == {}
    assert verdicts(kept, unseen) == {}, "what one does not judge is no difference of the targets"


def test_a_requirement_that_is_broken_in_some_runs_says_in_how_many(one_row: Report) -> None:
    kept = with_verdict(one_row, Verdict.PASS)
    cell = kept.cells[0]
    runs = (Verdict.PASS, Verdict.FAIL, Verdict.FAIL)
    flaky = Flaky(
        requirement=cell.requirement, dialect=cell.dialect, mode=cell.mode,
        strict=runs, compat=(Verdict.PASS,) * 3, seen="seen then", scenarios=("s",),
    )  # fmt: skip
    now_and_then = replace(kept, flaky=(flaky,))
    assert verdicts(kept, now_and_then) == {cell.requirement: ["pass:0", "fail:2"]}
    assert verdicts(kept, now_and_then, level=VerdictLevel.COMPAT) == {}


def test_the_surfaces_that_were_judged_are_named(one_row: Report) -> None:
    assert one_row.target is not None
    found = {
        "reason": "",
        "status": 200,
        "said": "",
        "seconds": 0.1,
        "dialects": (),
        "unspoken": {},
        "capabilities": {},
    }
    seen = (
        SurfaceFound(surface=Surface.CHAT, state=SurfaceState.ABSENT, **found),  # type: ignore[arg-type]
        SurfaceFound(surface=Surface.MESSAGES, state=SurfaceState.JUDGED, **found),  # type: ignore[arg-type]
    )
    reports = (replace(one_row, target=replace(one_row.target, surfaces=seen)), replace(one_row, target=None))
    results = [ResultToCompare(name="x", report=one, runs=()) for one in reports]
    assert [one.surfaces for one in comparison(results, VerdictLevel.STRICT).compared] == [(Surface.MESSAGES,), ()]
