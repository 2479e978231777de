"""codex-sdk-python: its client of the app-server, whose turns tell notifications and requests."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import asyncio
from typing import Any

from codex_sdk.app_server import AppServerClient, AppServerOptions  # type: ignore[import-untyped]
from play import RESULT, TOOL, Asked, Turn, main


async def play(asked: Asked) -> Turn:
    """One turn on a thread of its own."""
    turn = Turn()
    options = AppServerOptions(codex_path_override=asked.codex, experimental_api_enabled=True, request_timeout=20)
    async with AppServerClient(options) as client:
        started = await client.thread_start(**({"dynamic_tools": [TOOL]} if asked.tool else {}))
        session = await client.turn_session(started["thread"]["id"], asked.prompt)

        async def run() -> None:
            async for request in session.requests():
                turn.ran.append((request.params or {})["arguments"])
                await client.respond(request.id, RESULT)

        running = asyncio.create_task(run())
        async for notification in session.notifications():
            params: dict[str, Any] = notification.params or {}
            match notification.method:
                case "item/agentMessage/delta":
                    turn.pieces.append(params["delta"])
                    if asked.interrupt and len(turn.pieces) == 1:
                        await client.turn_interrupt(session.thread_id, session.turn_id)
                case "item/completed" if params["item"]["type"] == "agentMessage":
                    turn.text = params["item"]["text"]
                case "thread/tokenUsage/updated":
                    total = params["tokenUsage"]["total"]
                    turn.usage = [total["inputTokens"], total["outputTokens"]]
        await running
    final = session.final_turn or {}
    turn.end, turn.error = final["status"], (final["error"] or {}).get("message")
    return turn


if __name__ == "__main__":
    main(play)
