"""openai-codex, OpenAI's own: its typed client, which reads every message into a model of its schema."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

from typing import Any

from openai_codex.client import CodexClient, CodexConfig
from openai_codex.generated.v2_all import (
    AgentMessageDeltaNotification,
    ItemCompletedNotification,
    ThreadTokenUsageUpdatedNotification,
    TurnCompletedNotification,
)
from openai_codex.models import UnknownNotification
from play import RESULT, TOOL, Asked, Turn, main


async def play(asked: Asked) -> Turn:
    """One turn on a thread of its own."""
    turn = Turn()

    def call(_method: str, params: dict[str, Any] | None) -> dict[str, Any]:
        turn.ran.append((params or {})["arguments"])
        return RESULT

    with CodexClient(CodexConfig(codex_bin=asked.codex), call) as client:
        client.initialize()
        thread = client.thread_start({"dynamicTools": [TOOL]} if asked.tool else None).thread.id
        started = client.turn_start(thread, asked.prompt).turn.id
        client.register_turn_notifications(started)
        while not turn.end:
            _hear(client.next_turn_notification(started).payload, turn)
            if asked.interrupt and len(turn.pieces) == 1:
                client.turn_interrupt(thread, started)
    return turn


def _hear(payload: object, turn: Turn) -> None:
    match payload:
        case UnknownNotification():
            raise AssertionError(f"a notification that is not in the schema: {payload}")
        case AgentMessageDeltaNotification(delta=delta):
            turn.pieces.append(delta)
        case ItemCompletedNotification(item=item) if item.root.type == "agentMessage":
            turn.text = item.root.text
        case ThreadTokenUsageUpdatedNotification(token_usage=usage):
            turn.usage = [usage.total.input_tokens, usage.total.output_tokens]
        case TurnCompletedNotification(turn=over):
            turn.end, turn.error = over.status.value, over.error.message if over.error else None


if __name__ == "__main__":
    main(play)
