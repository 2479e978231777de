"""The `openai` package: whole answers, plain streams, and the `.stream` helper."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dialogue import MAX_STEPS, Call, Play, Turn, main
from openai import OpenAI

if TYPE_CHECKING:
    from collections.abc import Callable

    from openai.types.chat import ChatCompletion


def _whole(client: OpenAI, body: dict[str, Any], _pieces: list[str]) -> ChatCompletion:
    completion: ChatCompletion = client.chat.completions.create(**body)
    return completion


def _stream(client: OpenAI, body: dict[str, Any], pieces: list[str]) -> ChatCompletion:
    with client.chat.completions.stream(**body, stream_options={"include_usage": True}) as stream:
        pieces += [event.delta for event in stream if event.type == "content.delta"]
        return stream.get_final_completion()


def _loop(ask: Callable[[OpenAI, dict[str, Any], list[str]], ChatCompletion]) -> Callable[[Play], list[Turn]]:
    """The loop that an application writes by hand."""

    def play(play: Play) -> list[Turn]:
        url, key, model = (play.endpoint[name] for name in ("url", "key", "model"))
        tools = {"tools": play.tools} if play.tools else {}
        messages: list[Any] = [{"role": "user", "content": play.dialogue["prompt"]}]
        turns: list[Turn] = []
        with OpenAI(base_url=url, api_key=key, max_retries=0, timeout=20) as client:
            while len(turns) < MAX_STEPS and (not turns or turns[-1].calls):
                body = {"model": model, "messages": messages, **tools, **play.options}
                completion = ask(client, body, play.pieces)
                turns.append(_turn(completion))
                messages.append(completion.choices[0].message)
                for call in turns[-1].calls:
                    result = play.run(call.name, call.arguments)
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        return turns

    return play


def _turn(completion: ChatCompletion) -> Turn:
    choice, usage = completion.choices[0], completion.usage
    if usage is None:
        raise ValueError("no usage")
    functions = [(call.id, call.function) for call in choice.message.tool_calls or [] if call.type == "function"]
    calls = [
        Call(id=id_, name=function.name, arguments=json.loads(function.arguments), raw=function.arguments)
        for id_, function in functions
    ]
    return Turn(
        text=choice.message.content or "",
        finish=choice.finish_reason,
        usage=(usage.prompt_tokens, usage.completion_tokens),
        calls=calls,
    )


if __name__ == "__main__":
    main({"whole": _loop(_whole), "stream": _loop(_stream)})
