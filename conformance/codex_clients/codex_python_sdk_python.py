"""codex-python-sdk: its stream of events, with a hook for calls."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

from typing import Any

from codex_python_sdk import create_async_client  # type: ignore[import-untyped]
from play import RESULT, TOOL, Asked, Turn, main


async def play(asked: Asked) -> Turn:
    """One turn on a thread of its own."""
    turn = Turn()

    def call(params: dict[str, Any]) -> dict[str, Any]:
        turn.ran.append(params["arguments"])
        return RESULT

    thread = {"dynamicTools": [TOOL]} if asked.tool else {}
    async with create_async_client(
        codex_command=asked.codex, default_thread_params=thread, on_tool_call=call
    ) as client:
        try:
            async for event in client.responses_events(prompt=asked.prompt):
                if event.type == "item/agentMessage/delta":
                    turn.pieces.append(event.text_delta or "")
                    if asked.interrupt and len(turn.pieces) == 1:
                        await client.turn_interrupt(event.thread_id or "", event.turn_id or "")
                if event.type == "item/completed" and event.raw["params"]["item"]["type"] == "agentMessage":
                    turn.text = event.message_text
                if event.token_usage:
                    total = event.token_usage["total"]
                    turn.usage = [total["inputTokens"], total["outputTokens"]]
                if event.type == "turn/completed":
                    turn.end = event.raw["params"]["turn"]["status"]
        except RuntimeError as error:
            turn.end, turn.error = "failed", str(error)
    return turn


if __name__ == "__main__":
    main(play)
