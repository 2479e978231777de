from __future__ import annotations

import json
from typing import Any

import pytest

from wireproof.judging.checks import CHECKS
from wireproof.judging.checks.answered import answered
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Form, Mode, PlainScenario, Request
from wireproof.model.target import Target
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.reading.exchange import Exchange

ROW = "param.real-clients"
CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "codex"}
WHOLE = {
    **CHUNK,
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
}
ERROR = {"error": {"message": "Busy.", "type": "server_error", "param": None, "code": None}}


def frames(*payloads: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads) + b"data: [DONE]\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {**CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


STREAM = frames(chunk({"role": "assistant"}), chunk({"content": "Hi"}), chunk({}, "stop"))
ANSWERS = [
    ("application/json", json.dumps(WHOLE).encode(), ""),
    ("application/json", json.dumps(ERROR).encode(), 'answered by an error: "Busy."'),
    ("application/json", json.dumps({**WHOLE, "choices": []}).encode(), "not answered"),
    ("application/json", b"<html>", ""),
    ("text/event-stream; charset=utf-8", STREAM, ""),
    ("text/event-stream", frames(ERROR), 'answered by an error: "Busy."'),
    ("text/event-stream", b"data: {broken\n\n", ""),
]


def exchange(status: int, content_type: str, body: bytes) -> Exchange:
    transcript = Transcript(
        method="POST", url="http://proxy/v1/chat/completions", request_headers=(), request_body=b"", status=status,
        headers=(("Content-Type", content_type),), pieces=(Piece(at=0.0, data=body),), end=End.COMPLETE, seconds=0.1,
    )  # fmt: skip
    scenario = PlainScenario(name="x", title="", exercises=(ROW,), requests=(Request(),))
    return Exchange(
        scenario=scenario, number=0, turn=None, form=Form(Dialect.OPENAI_JSON, Mode.WHOLE),
        target=Target(base_url="http://proxy/v1", model="codex"), transcript=transcript, reading=None,
    )  # fmt: skip


@pytest.mark.parametrize(("content_type", "body", "wanted"), ANSWERS)
def test_a_real_client_is_served(content_type: str, body: bytes, wanted: str) -> None:
    found = list(answered(ROW, exchange(200, content_type, body), CHECKS))
    assert len(found) == bool(wanted)
    assert not wanted or wanted in found[0].seen


def test_a_real_client_is_not_refused() -> None:
    found = list(answered(ROW, exchange(400, "application/json", json.dumps(ERROR).encode()), CHECKS))
    assert "was answered HTTP 400; it should be 200" in found[0].seen
