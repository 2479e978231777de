"""The OpenAI Agents SDK on responses or chat: `Runner.run` and `Runner.run_streamed`, whose runner is the loop."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from agents import (
    Agent,
    FunctionTool,
    ModelResponse,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    Tool,
)
from dialogue import MAX_STEPS, Call, Play, Turn, main
from openai import AsyncOpenAI
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agents.result import RunResultBase
    from agents.tool_context import ToolContext

    Run = Callable[[Agent[Any], Play], Awaitable[RunResultBase]]

_Kind = type[OpenAIResponsesModel] | type[OpenAIChatCompletionsModel]
UNTRACED = RunConfig(tracing_disabled=True)


async def _whole(agent: Agent[Any], play: Play) -> RunResultBase:
    return await Runner.run(agent, play.dialogue["prompt"], max_turns=MAX_STEPS, run_config=UNTRACED)


async def _stream(agent: Agent[Any], play: Play) -> RunResultBase:
    result = Runner.run_streamed(agent, play.dialogue["prompt"], max_turns=MAX_STEPS, run_config=UNTRACED)
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            play.pieces.append(event.data.delta)
    return result


def _runner(run: Run, kind: _Kind = OpenAIResponsesModel) -> Callable[[Play], list[Turn]]:
    async def play(play: Play) -> list[Turn]:
        url, key = play.endpoint["url"], play.endpoint["key"]
        async with AsyncOpenAI(base_url=url, api_key=key, max_retries=0, timeout=20) as client:
            result = await run(_agent(play, client, kind), play)
        turns = [_turn(response) for response in result.raw_responses]
        if result.final_output != turns[-1].text:
            raise ValueError(f"the output was {result.final_output!r}")
        return turns

    return lambda started: asyncio.run(play(started))


def _agent(play: Play, client: AsyncOpenAI, kind: _Kind) -> Agent[Any]:
    return Agent(
        name="Wireproof",
        model=kind(model=play.endpoint["model"], openai_client=client),
        model_settings=ModelSettings(parallel_tool_calls=play.dialogue["parallel"]),
        tools=[_tool(play, function) for function in play.functions],
    )


def _tool(play: Play, function: dict[str, Any]) -> Tool:
    async def invoke(_context: ToolContext[Any], arguments: str) -> str:
        return play.run(function["name"], json.loads(arguments))

    return FunctionTool(
        name=function["name"],
        description=function["description"],
        params_json_schema=function["parameters"],
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )


def _turn(response: ModelResponse) -> Turn:
    messages = [item for item in response.output if isinstance(item, ResponseOutputMessage)]
    parts = [part for message in messages for part in message.content]
    called = [item for item in response.output if isinstance(item, ResponseFunctionToolCall)]
    return Turn(
        text="".join(part.text for part in parts if isinstance(part, ResponseOutputText)),
        finish=None,
        usage=(response.usage.input_tokens, response.usage.output_tokens),
        calls=[
            Call(id=item.call_id, name=item.name, arguments=json.loads(item.arguments), raw=item.arguments)
            for item in called
        ],
    )


if __name__ == "__main__":
    main(
        {
            "whole": _runner(_whole),
            "stream": _runner(_stream),
            "chat-whole": _runner(_whole, OpenAIChatCompletionsModel),
            "chat-stream": _runner(_stream, OpenAIChatCompletionsModel),
        }
    )
