"""Readings of large answers say what any reading says, and keep no frames."""

from __future__ import annotations

import json

import pytest

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Form, Mode
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.reading import exchange
from wireproof.reading.exchange import read
from wireproof.reading.read_again import LARGE, RECENT, ReadAgain
from wireproof.wire.reading import Reading

STREAM, WHOLE = Form(Dialect.OPENAI_JSON, Mode.STREAM), Form(Dialect.OPENAI_JSON, Mode.WHOLE)


def a_stream(text: str, *, broken: bool = False) -> Transcript:
    first = {"role": "assistant", "content": text}
    chunks = [
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
         "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        for delta, finish in ((first, None), ({"content": " End."}, None), ({}, "stop"))
    ]  # fmt: skip
    body = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    return _answer(body + (b"data: {\n\n" if broken else b"") + b"data: [DONE]\n\n", "text/event-stream")


def _answer(body: bytes, kind: str) -> Transcript:
    half = len(body) // 2
    return Transcript(
        method="POST", url="http://proxy/v1/chat/completions", request_headers=(), request_body=b"{}", status=200,
        headers=(("content-type", kind),), pieces=(Piece(at=0.0, data=body[:half]), Piece(at=0.1, data=body[half:])),
        end=End.COMPLETE, seconds=0.2,
    )  # fmt: skip


def small_and_large(form: Form) -> tuple[Reading, Reading]:
    """The same answer, read as a small one and as a large one."""
    if form.mode is Mode.STREAM:
        transcript = a_stream("x" * LARGE)
    else:
        said = {"index": 0, "message": {"role": "assistant", "content": "x" * LARGE}, "finish_reason": "stop"}
        whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [said]}
        transcript = _answer(json.dumps(whole).encode(), "application/json")
    large = read(transcript, form)
    small = exchange._read(transcript, form)
    assert large is not None
    assert small is not None
    return small, large


@pytest.mark.parametrize("form", [STREAM, WHOLE], ids=str)
def test_a_large_answer_says_what_a_small_one_says(form: Form) -> None:
    small, large = small_and_large(form)
    assert (type(small), type(large)) == (Reading, ReadAgain)
    assert large.frames == small.frames
    assert large.payloads == small.payloads
    assert large.events == small.events
    assert large.violations == small.violations
    assert large.answer == small.answer
    assert large.answer.choices[0].text == small.answer.choices[0].text
    assert large.assembled(cumulative=True) == small.assembled(cumulative=True)
    with pytest.raises(AttributeError, match="frame_s"):
        _ = large.frame_s  # type: ignore[attr-defined]  # it has none


def test_what_a_large_answer_breaks_is_known_without_reading_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    transcript = a_stream("x" * LARGE, broken=True)
    large = read(transcript, STREAM)
    assert large is not None
    monkeypatch.setattr(exchange, "_read", lambda *_: pytest.fail("it was read again"))
    assert [one.requirement for one in large.violations] == ["chat.stream.frames"]


def test_an_answer_of_the_usual_size_is_kept_as_it_was_read() -> None:
    assert type(read(a_stream("Hello."), STREAM)) is Reading


def test_what_was_read_again_is_kept_while_it_is_looked_at_and_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = [read(a_stream(f"{number}" * LARGE), STREAM) for number in range(RECENT + 1)]
    times, reads = 0, exchange._read

    def counted(transcript: Transcript, form: Form) -> Reading | None:
        nonlocal times
        times += 1
        return reads(transcript, form)

    monkeypatch.setattr(exchange, "_read", counted)
    first, *others = [one for one in readings if one is not None]
    assert first.frames is first.frames
    assert times == 1
    assert [one.answer.choices[0].text for one in others]
    assert times == 1 + RECENT
    assert first.frames
    assert times == 2 + RECENT
    # The text is no larger than the bytes, and is asked for all over a run.
    assert first.answer is first.answer
    assert [one.answer for one in (*others, first)]
    assert times == 2 + RECENT
