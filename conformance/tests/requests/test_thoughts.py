from __future__ import annotations

import json
from typing import Any

import pytest

from wireproof.model.asks import Anything
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, Form, Mode, Turn
from wireproof.model.target import Target
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.reading import recorded
from wireproof.requests.conversation import prepare, remember, thoughts
from wireproof.wire.events import Choice

TARGET = Target(base_url="http://x/v1", model="m")
SCENARIO = ConversationScenario(
    name="s", title="t", exercises=("chat.whole.text",), turns=(Turn(say="p", asks=Anything()),) * 2
)
ITEM = {"type": "reasoning", "id": "rs_1", "summary": []}


def shown(dialect: Dialect, mode: Mode, *payloads: Any) -> dict[str, Any]:
    """What an answer of these payloads shows."""
    streamed = mode is Mode.STREAM
    body = "".join(f"data: {json.dumps(one)}\n\n" for one in payloads) if streamed else json.dumps(payloads[0])
    transcript = Transcript(
        method="POST", url="http://x", request_headers=(), request_body=b"{}", status=200,
        headers=(("content-type", "text/event-stream" if streamed else "application/json"),),
        pieces=(Piece(at=0.1, data=body.encode()),), end=End.COMPLETE, seconds=0.1,
    )  # fmt: skip
    return thoughts(recorded.of_turn(SCENARIO, 0, Form(dialect, mode), TARGET, transcript))


def message(**members: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": "x", **members}}]}


def chunk(index: int = 0, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": delta}]}


@pytest.mark.parametrize(
    ("dialect", "mode", "payloads", "found"),
    [
        (Dialect.OPENAI_JSON, Mode.WHOLE, (message(reasoning_content="So."),), {"reasoning_content": "So."}),
        (Dialect.OPENAI_JSON, Mode.WHOLE, (message(reasoning="So."),), {"reasoning": "So."}),
        (Dialect.OPENAI_JSON, Mode.WHOLE, (message(reasoning_content=None),), {}),
        (Dialect.OPENAI_JSON, Mode.STREAM, ({"choices": [{"index": {}, "delta": {"reasoning": "So."}}]},), {}),
        (
            Dialect.OPENAI_JSON,
            Mode.STREAM,
            (chunk(reasoning_content="S"), chunk(1, reasoning_content="?"), chunk(reasoning_content="o.")),
            {"reasoning_content": "So."},
        ),
        (Dialect.RESPONSES, Mode.WHOLE, ({"output": [ITEM, {"type": "message"}]},), {"reasoning_items": [ITEM]}),
        (
            Dialect.RESPONSES,
            Mode.STREAM,
            ({"type": "response.output_item.done", "output_index": 0, "item": ITEM},),
            {"reasoning_items": [ITEM]},
        ),
    ],
)
def test_reasoning_is_kept_as_it_came(
    dialect: Dialect, mode: Mode, payloads: tuple[Any, ...], found: dict[str, Any]
) -> None:
    assert shown(dialect, mode, *payloads) == found


def sent(dialect: Dialect, found: dict[str, Any]) -> Any:
    """The body of the request after an answer that shows this."""
    choice = Choice(index=0, role="assistant", text="x", calls=(), finish="stop")
    history = remember([{"role": "user", "content": "p"}], choice, found)
    form = Form(dialect, Mode.WHOLE)
    return json.loads(prepare(SCENARIO, SCENARIO.turns[1], form=form, model="m", nonce="", history=history).body)


def test_each_surface_has_it_in_its_own_place() -> None:
    assert sent(Dialect.OPENAI_JSON, {"reasoning_content": "So."})["messages"][1] == {
        "role": "assistant", "content": "x", "reasoning_content": "So.",
    }  # fmt: skip
    items = sent(Dialect.RESPONSES, {"reasoning_items": [ITEM]})["input"]
    assert [one["type"] for one in items] == ["message", "reasoning", "message", "message"]
    assert items[1] == ITEM
