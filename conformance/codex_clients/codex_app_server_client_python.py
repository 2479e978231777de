"""codex-app-server-client: its threads, with a callback for events."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

from typing import Any

from codex_app_server_client import CodexAppServer
from codex_app_server_client.thread import EventAction
from codex_app_server_client.types.common import DynamicToolSpec
from codex_app_server_client.types.events import AgentMessageDeltaEvent
from codex_app_server_client.types.threads import ThreadStartParams
from play import RESULT, TOOL, Asked, Turn, main


async def play(asked: Asked) -> Turn:
    """One turn on a thread of its own."""
    turn = Turn()

    async def call(_method: str, params: dict[str, Any]) -> dict[str, Any]:
        turn.ran.append(params["arguments"])
        return RESULT

    def on_event(_method: str, event: object) -> EventAction | None:
        if not isinstance(event, AgentMessageDeltaEvent):
            return None
        turn.pieces.append(event.delta)
        return EventAction.INTERRUPT if asked.interrupt else None

    tools = [DynamicToolSpec.model_validate(TOOL)] if asked.tool else None
    async with CodexAppServer(codex_bin=asked.codex) as server:
        server.low_level.on_server_request("item/tool/call", call)
        thread = await server.start_thread(ThreadStartParams(dynamic_tools=tools))
        result = await thread.run(asked.prompt, on_event=on_event, timeout_s=20)
    turn.text, turn.end = result.final_response, result.status
    turn.error = result.error.message if result.error else None
    if result.usage:
        turn.usage = [result.usage.total.input_tokens, result.usage.total.output_tokens]
    return turn


if __name__ == "__main__":
    main(play)
