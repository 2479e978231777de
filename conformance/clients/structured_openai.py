"""The `openai` package, of either major version: `.parse` in all its forms, and forced calls."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import openai
from openai import AsyncOpenAI, OpenAI
from structured import QUESTION, Account, Event, FirstTool, SecondTool, event, main

if TYPE_CHECKING:
    from structured import Result

ASK: Any = [{"role": "user", "content": QUESTION}]
TOOLS: Any = [openai.pydantic_function_tool(tool) for tool in (FirstTool, SecondTool)]
FLAT: Any = [{"type": "function", **tool["function"]} for tool in TOOLS]
NAMED: Any = {"type": "function", "function": {"name": "SecondTool"}}


def _client(account: Account) -> OpenAI:
    return OpenAI(base_url=account.url, api_key=account.key, max_retries=0, timeout=20)


def _async_client(account: Account) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=account.url, api_key=account.key, max_retries=0, timeout=20)


def _parse(account: Account) -> Result:
    with _client(account) as client:
        answer = client.chat.completions.parse(model=account.model, messages=ASK, response_format=Event)
    return event(answer.choices[0].message.parsed)


def _parse_stream(account: Account) -> Result:
    with (
        _client(account) as client,
        client.chat.completions.stream(model=account.model, messages=ASK, response_format=Event) as stream,
    ):
        return event(stream.get_final_completion().choices[0].message.parsed)


def _parse_response(account: Account) -> Result:
    with _client(account) as client:
        return event(client.responses.parse(model=account.model, input=QUESTION, text_format=Event).output_parsed)


def _stream_response(account: Account) -> Result:
    with (
        _client(account) as client,
        client.responses.stream(model=account.model, input=QUESTION, text_format=Event) as stream,
    ):
        return event(stream.get_final_response().output_parsed)


async def _parse_async(account: Account) -> Result:
    async with _async_client(account) as client:
        answer = await client.chat.completions.parse(model=account.model, messages=ASK, response_format=Event)
    return event(answer.choices[0].message.parsed)


async def _parse_response_async(account: Account) -> Result:
    async with _async_client(account) as client:
        answer = await client.responses.parse(model=account.model, input=QUESTION, text_format=Event)
    return event(answer.output_parsed)


def _called(account: Account, *, choice: Any) -> Result:  # noqa: ANN401 - a word or an object
    with _client(account) as client:
        answer = client.chat.completions.parse(model=account.model, messages=ASK, tools=TOOLS, tool_choice=choice)
    calls = answer.choices[0].message.tool_calls or []
    parsed = [call.function.parsed_arguments for call in calls]
    return {"calls": [type(one).__name__ for one in parsed]}


async def _called_async(account: Account) -> Result:
    async with _async_client(account) as client:
        answer = await client.chat.completions.create(model=account.model, messages=ASK, tools=TOOLS, tool_choice=NAMED)
    calls: Any = answer.choices[0].message.tool_calls
    return {"calls": [call.function.name for call in calls]}


def _response_called(account: Account, *, choice: Any) -> Result:  # noqa: ANN401 - a word or an object
    with _client(account) as client:
        answer = client.responses.create(model=account.model, input=QUESTION, tools=FLAT, tool_choice=choice)
    return {"calls": [item.name for item in answer.output if item.type == "function_call"]}


if __name__ == "__main__":
    main(
        {
            "parse": _parse,
            "parse-stream": _parse_stream,
            "parse-async": _parse_async,
            "responses-parse": _parse_response,
            "responses-stream": _stream_response,
            "responses-parse-async": _parse_response_async,
            "required": partial(_called, choice="required"),
            "named": partial(_called, choice=NAMED),
            "named-async": _called_async,
            "responses-required": partial(_response_called, choice="required"),
            "responses-named": partial(_response_called, choice={"type": "function", "name": "SecondTool"}),
        }
    )
