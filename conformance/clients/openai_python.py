"""The `openai` package: whole answers, streams joined by hand or as its guide has it, and the `.stream` helper."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dialogue import MAX_STEPS, Call, Play, Turn, main
from openai import OpenAI
from openai.types.chat import ChatCompletion
from openai.types.chat.chat_completion_chunk import ChoiceDelta

if TYPE_CHECKING:
    from collections.abc import Callable


def _whole(client: OpenAI, body: dict[str, Any], _pieces: list[str]) -> ChatCompletion:
    completion: ChatCompletion = client.chat.completions.create(**body)
    return completion


def _stream(client: OpenAI, body: dict[str, Any], pieces: list[str]) -> ChatCompletion:
    with client.chat.completions.stream(**body, stream_options={"include_usage": True}) as stream:
        pieces += [event.delta for event in stream if event.type == "content.delta"]
        return stream.get_final_completion()


def _joined(client: OpenAI, body: dict[str, Any], pieces: list[str]) -> ChatCompletion:
    """Deltas joined by their indexes, as a careful user does it."""
    text, finish, calls = "", None, dict[int, dict[str, Any]]()
    for chunk in client.chat.completions.create(**body, stream=True):
        # The types have it that they are there; servers do not always.
        for choice in chunk.choices or []:
            finish, delta = choice.finish_reason or finish, choice.delta or ChoiceDelta()
            text += delta.content or ""
            pieces += [delta.content] if delta.content else []
            for piece in delta.tool_calls or []:
                call = calls.setdefault(piece.index, {"id": piece.id, "name": "", "arguments": ""})
                call["name"] += (piece.function and piece.function.name) or ""
                call["arguments"] += (piece.function and piece.function.arguments) or ""
    return _completion(text, finish, list(calls.values()))


def _guide(client: OpenAI, body: dict[str, Any], pieces: list[str]) -> ChatCompletion:
    """As the guide to function calling has it, which is widely copied."""
    finish, calls = None, dict[int, Any]()
    for chunk in client.chat.completions.create(**body, stream=True):
        choice = chunk.choices[0]
        pieces += [choice.delta.content] if choice.delta.content else []
        finish = choice.finish_reason or finish
        for piece in choice.delta.tool_calls or []:
            if piece.index not in calls:
                calls[piece.index] = piece
            calls[piece.index].function.arguments += piece.function.arguments
    made = [{"id": one.id, "name": one.function.name, "arguments": one.function.arguments} for one in calls.values()]
    return _completion("".join(pieces), finish, made)


def _completion(text: str, finish: str | None, calls: list[dict[str, Any]]) -> ChatCompletion:
    """What was joined, as the package has whole answers; nothing of it is checked."""
    made = [
        {"id": one["id"], "type": "function", "function": {key: one[key] for key in ("name", "arguments")}}
        for one in calls
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
    return ChatCompletion.model_construct(
        None, choices=[{"index": 0, "message": message, "finish_reason": finish}], usage=None
    )


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
    functions = [(call.id, call.function) for call in choice.message.tool_calls or [] if call.type != "custom"]
    calls = [
        Call(id=id_, name=function.name, arguments=json.loads(function.arguments), raw=function.arguments)
        for id_, function in functions
    ]
    return Turn(
        text=choice.message.content or "",
        finish=choice.finish_reason,
        usage=(usage.prompt_tokens, usage.completion_tokens) if usage else None,
        calls=calls,
    )


if __name__ == "__main__":
    main({"whole": _loop(_whole), "stream": _loop(_stream), "joined": _loop(_joined), "guide": _loop(_guide)})
