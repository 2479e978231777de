"""`pydantic-ai` on chat or Responses: an agent, whole or streamed."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from dialogue import Call, Play, Turn, main
from openai import AsyncOpenAI
from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

if TYPE_CHECKING:
    from collections.abc import Callable

_Kind = type[OpenAIChatModel] | type[OpenAIResponsesModel]


def _runner(kind: _Kind, *, stream: bool) -> Callable[[Play], list[Turn]]:
    async def play(play: Play) -> list[Turn]:
        url, key, model = (play.endpoint[name] for name in ("url", "key", "model"))
        async with AsyncOpenAI(base_url=url, api_key=key, max_retries=0, timeout=20) as client:
            agent = Agent(
                kind(model, provider=OpenAIProvider(openai_client=client)),
                tools=[_tool(play, tool) for tool in play.dialogue["tools"]],
                retries=0,
            )
            if stream:
                async with agent.run_stream(play.dialogue["prompt"]) as streamed:
                    play.pieces.append(str(await streamed.get_output()))
                    messages = streamed.all_messages()
            else:
                messages = (await agent.run(play.dialogue["prompt"])).all_messages()
        return [_turn(one) for one in messages if isinstance(one, ModelResponse)]

    return lambda started: asyncio.run(play(started))


def _tool(play: Play, declared: dict[str, Any]) -> Tool[None]:
    def run(**arguments: object) -> str:
        return play.run(declared["name"], arguments)

    return Tool.from_schema(
        run, name=declared["name"], description=declared["description"], json_schema=declared["parameters"]
    )


def _turn(response: ModelResponse) -> Turn:
    return Turn(
        text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
        finish=response.finish_reason,
        usage=(response.usage.input_tokens, response.usage.output_tokens),
        calls=[
            Call(id=part.tool_call_id, name=part.tool_name, arguments=part.args_as_dict())
            for part in response.parts
            if isinstance(part, ToolCallPart)
        ],
    )


if __name__ == "__main__":
    main(
        {
            "whole": _runner(OpenAIChatModel, stream=False),
            "stream": _runner(OpenAIChatModel, stream=True),
            "responses-whole": _runner(OpenAIResponsesModel, stream=False),
            "responses-stream": _runner(OpenAIResponsesModel, stream=True),
        }
    )
