"""The `anthropic` package: whole answers, the `.stream` helper, and the tool runner, with threads and without."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anthropic import Anthropic
from anthropic.lib.tools import BetaBuiltinFunctionTool
from dialogue import MAX_STEPS, Call, Play, Turn, main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anthropic.types import Message

MAX_TOKENS = 1024


def _connected(play: Play) -> Anthropic:
    url = play.endpoint["url"].removesuffix("/v1")  # which the package adds
    return Anthropic(base_url=url, api_key=play.endpoint["key"], max_retries=0, timeout=20)


def _body(play: Play) -> dict[str, Any]:
    """What each request of a dialogue says."""
    parallel = play.dialogue["parallel"]
    choice = {} if parallel is None else {"tool_choice": {"type": "auto", "disable_parallel_tool_use": not parallel}}
    return {"model": play.endpoint["model"], "max_tokens": MAX_TOKENS, **choice}


def _whole(client: Anthropic, body: dict[str, Any], _pieces: list[str]) -> Message:
    message: Message = client.messages.create(**body)
    return message


def _stream(client: Anthropic, body: dict[str, Any], pieces: list[str]) -> Message:
    with client.messages.stream(**body) as stream:
        pieces += stream.text_stream
        return stream.get_final_message()


def _loop(ask: Callable[[Anthropic, dict[str, Any], list[str]], Message]) -> Callable[[Play], list[Turn]]:
    """The loop that an application writes by hand."""

    def play(play: Play) -> list[Turn]:
        tools = {"tools": play.input_tools} if play.tools else {}
        messages: list[Any] = [{"role": "user", "content": play.dialogue["prompt"]}]
        turns: list[Turn] = []
        with _connected(play) as client:
            while len(turns) < MAX_STEPS and (not turns or turns[-1].calls):
                message = ask(client, {**_body(play), "messages": messages, **tools}, play.pieces)
                turns.append(_turn(message))
                messages.append({"role": "assistant", "content": message.content})
                messages.append({"role": "user", "content": [_result(play, call) for call in turns[-1].calls]})
        return turns

    return play


def _result(play: Play, call: Call) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call.id, "content": play.run(call.name, call.arguments)}


class _Tool(BetaBuiltinFunctionTool):
    """A tool of a dialogue, as the runner calls it."""

    def __init__(self, play: Play, declared: dict[str, Any]) -> None:
        self._play, self._declared = play, declared

    def to_dict(self) -> Any:  # noqa: ANN401 (a union of all tools of the package)
        return self._declared

    def call(self, input: object) -> str:  # noqa: A002 (the package's name)
        return self._play.run(self.name, input)


def _runner(*, stream: bool, threads: bool) -> Callable[[Play], list[Turn]]:
    def play(play: Play) -> list[Turn]:
        tools = [_Tool(play, declared) for declared in play.input_tools]
        said: list[Any] = [{"role": "user", "content": play.dialogue["prompt"]}]
        # Threads are its default; only without them it is told so.
        more: dict[str, Any] = {"stream": True} if stream else {}
        more |= {} if threads else {"thread": False}
        with _connected(play) as client:
            runner: Iterable[Any] = client.beta.messages.tool_runner(
                **_body(play), messages=said, tools=tools, max_iterations=MAX_STEPS, **more
            )
            return [_turn(_streamed(one, play.pieces) if stream else one) for one in runner]

    return play


def _streamed(stream: Any, pieces: list[str]) -> Message:  # noqa: ANN401 (a stream of either package's types)
    pieces += stream.text_stream
    message: Message = stream.get_final_message()
    return message


def _turn(message: Message) -> Turn:
    usage = message.usage
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    calls = [block for block in message.content if block.type == "tool_use"]
    return Turn(
        text="".join(block.text for block in message.content if block.type == "text"),
        finish=message.stop_reason,
        usage=(usage.input_tokens + cached, usage.output_tokens),
        calls=[Call(id=block.id, name=block.name, arguments=block.input) for block in calls],
    )


if __name__ == "__main__":
    main(
        {
            "whole": _loop(_whole),
            "stream": _loop(_stream),
            "runner-whole": _runner(stream=False, threads=True),
            "runner": _runner(stream=True, threads=True),
            "runner-unthreaded-whole": _runner(stream=False, threads=False),
            "runner-unthreaded": _runner(stream=True, threads=False),
        }
    )
