"""LangChain, by `ChatOpenAI` and `ChatAnthropic`: `bind_tools` with `invoke` and with `stream`, chunks added up."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

from dialogue import MAX_STEPS, Call, Play, Turn, main
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

if TYPE_CHECKING:
    from collections.abc import Callable

    from langchain_core.runnables import Runnable

    Model = Runnable[Any, AIMessage]
    Make = Callable[[Play], Model]
    Ask = Callable[[Model, list[BaseMessage], list[str]], AIMessage]


def _whole(model: Model, messages: list[BaseMessage], _pieces: list[str]) -> AIMessage:
    return model.invoke(messages)


def _stream(model: Model, messages: list[BaseMessage], pieces: list[str]) -> AIMessage:
    chunks = [chunk for chunk in model.stream(messages) if isinstance(chunk, AIMessageChunk)]
    pieces += [str(chunk.text) for chunk in chunks if chunk.text]
    return reduce(add, chunks)


def _loop(ask: Ask, make: Make) -> Callable[[Play], list[Turn]]:
    def play(play: Play) -> list[Turn]:
        model = make(play)
        messages: list[BaseMessage] = [HumanMessage(play.dialogue["prompt"])]
        turns: list[Turn] = []
        while len(turns) < MAX_STEPS and (not turns or turns[-1].calls):
            message = ask(model, messages, play.pieces)
            turns.append(_turn(message))
            messages.append(message)
            messages += [
                ToolMessage(play.run(call.name, call.arguments), tool_call_id=call.id) for call in turns[-1].calls
            ]
        return turns

    return play


def _openai(play: Play, *, responses: bool = False) -> Model:
    model = ChatOpenAI(
        model=play.endpoint["model"],
        base_url=play.endpoint["url"],
        api_key=SecretStr(play.endpoint["key"]),
        max_retries=0,
        timeout=20,
        stream_usage=True,
        use_responses_api=responses,  # which it would choose for a model of this name
    )
    return model.bind_tools(play.tools, **play.options) if play.tools else model


def _anthropic(play: Play) -> Model:
    model = ChatAnthropic(
        model_name=play.endpoint["model"],
        base_url=play.endpoint["url"].removesuffix("/v1"),  # which the package below adds
        api_key=SecretStr(play.endpoint["key"]),
        max_retries=0,
        timeout=20,
        stop=None,
        max_tokens_to_sample=1024,
    )
    return model.bind_tools(play.input_tools, parallel_tool_calls=play.dialogue["parallel"]) if play.tools else model


def _turn(message: AIMessage) -> Turn:
    usage, said = message.usage_metadata, message.response_metadata
    raw = [chunk["args"] for chunk in message.tool_call_chunks] if isinstance(message, AIMessageChunk) else []
    return Turn(
        text=str(message.text),
        finish=said.get("finish_reason") or said.get("status") or said.get("stop_reason"),
        usage=(usage["input_tokens"], usage["output_tokens"]) if usage else None,
        calls=[
            Call(
                id=str(call["id"]),
                name=call["name"],
                arguments=call["args"],
                raw=raw[place] if raw else None,
            )
            for place, call in enumerate(message.tool_calls)
        ],
    )


if __name__ == "__main__":
    main(
        {
            "whole": _loop(_whole, _openai),
            "stream": _loop(_stream, _openai),
            "responses-whole": _loop(_whole, partial(_openai, responses=True)),
            "responses-stream": _loop(_stream, partial(_openai, responses=True)),
            "messages-whole": _loop(_whole, _anthropic),
            "messages-stream": _loop(_stream, _anthropic),
        }
    )
