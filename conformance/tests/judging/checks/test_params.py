from __future__ import annotations

import json
from dataclasses import replace
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


RESPONSE = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "codex", "status": "completed",
    "output": [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "Hi", "annotations": []}]}],
}  # fmt: skip
FAILED = {"type": "response.failed", "sequence_number": 0, "response": {**RESPONSE, "status": "failed", **ERROR}}


@pytest.mark.parametrize(
    ("content_type", "body", "wanted"),
    [
        ("application/json", json.dumps(RESPONSE).encode(), ""),
        ("application/json", json.dumps({**RESPONSE, "status": "failed", **ERROR}).encode(), 'an error: "Busy."'),
        ("application/json", json.dumps(ERROR).encode(), 'an error: "Busy."'),
        ("application/json", b"<html>", ""),
        ("text/event-stream", b"event: response.failed\n" + frames(FAILED), 'answered by an error: "Busy."'),
    ],
)
def test_a_real_client_is_served_a_response(content_type: str, body: bytes, wanted: str) -> None:
    row, sent = "responses.input.real-clients", exchange(200, content_type, body)
    scenario = replace(sent.scenario, exercises=(row,))
    found = list(answered(row, replace(sent, scenario=scenario, form=Form(Dialect.RESPONSES, Mode.WHOLE)), CHECKS))
    assert [wanted in violation.seen for violation in found] == [True] * bool(wanted)


def test_a_real_client_is_not_refused() -> None:
    found = list(answered(ROW, exchange(400, "application/json", json.dumps(ERROR).encode()), CHECKS))
    assert "was answered HTTP 400; it should be 200" in found[0].seen
