"""`litellm` as a client: `completion`, with `stream_chunk_builder` for streams, and `responses`."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from dialogue import MAX_STEPS, Call, Play, Turn, main

# It asks GitHub for prices when it is imported, and waits where there is no network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm

if TYPE_CHECKING:
    from collections.abc import Callable

litellm.telemetry = False
litellm.suppress_debug_info = True


def _loop(*, stream: bool) -> Callable[[Play], list[Turn]]:
    def play(play: Play) -> list[Turn]:
        url, key, model = (play.endpoint[name] for name in ("url", "key", "model"))
        asked: dict[str, Any] = {"model": f"openai/{model}", "api_base": url, "api_key": key, "max_retries": 0}
        asked |= {"timeout": 20, **({"tools": play.tools, **play.options} if play.tools else {})}
        messages: list[Any] = [{"role": "user", "content": play.dialogue["prompt"]}]
        turns: list[Turn] = []
        while len(turns) < MAX_STEPS and (not turns or turns[-1].calls):
            completion: Any = litellm.completion(messages=messages, stream=stream, **asked)
            if stream:
                completion = litellm.stream_chunk_builder(list(completion))
            choice = completion.choices[0]
            functions = [(call.id, call.function) for call in choice.message.tool_calls or []]
            calls = [Call(id=id_, name=one.name, arguments=json.loads(one.arguments)) for id_, one in functions]
            # Its counts are its own where the answer has none.
            turns.append(Turn(text=choice.message.content or "", finish=choice.finish_reason, usage=None, calls=calls))
            messages.append(choice.message)
            for call in calls:
                content = play.run(call.name, call.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        return turns

    return play


def _output(response: Any, *, stream: bool) -> list[dict[str, Any]]:  # noqa: ANN401 - the library's own
    """The items of a response; those of a stream as they are done."""
    events = list(response) if stream else []
    if stream and events[-1].type != "response.completed":
        raise ValueError("no end")
    done = [event.item for event in events if event.type == "response.output_item.done"]
    items: list[Any] = done if stream else response.output
    # What it does not know it leaves as it is.
    return [one if isinstance(one, dict) else one.model_dump(exclude_none=True) for one in items]


def _responses(*, stream: bool) -> Callable[[Play], list[Turn]]:
    def play(play: Play) -> list[Turn]:
        url, key, model = (play.endpoint[name] for name in ("url", "key", "model"))
        asked: dict[str, Any] = {"model": f"openai/{model}", "api_base": url, "api_key": key, "max_retries": 0}
        asked |= {"timeout": 20, **({"tools": play.functions, **play.options} if play.tools else {})}
        items: list[Any] = [{"role": "user", "content": play.dialogue["prompt"]}]
        turns: list[Turn] = []
        while len(turns) < MAX_STEPS and (not turns or turns[-1].calls):
            output = _output(litellm.responses(input=items, stream=stream, **asked), stream=stream)
            parts = [part for one in output if one["type"] == "message" for part in one["content"]]
            functions = [one for one in output if one["type"] == "function_call"]
            calls = [
                Call(id=one.get("call_id", ""), name=one["name"], arguments=json.loads(one["arguments"]))
                for one in functions
            ]
            text = "".join(part["text"] for part in parts if part["type"] == "output_text")
            turns.append(Turn(text=text, finish=None, usage=None, calls=calls))
            items += output
            for call in calls:
                result = play.run(call.name, call.arguments)
                items.append({"type": "function_call_output", "call_id": call.id, "output": result})
        return turns

    return play


if __name__ == "__main__":
    main(
        {
            "whole": _loop(stream=False),
            "stream": _loop(stream=True),
            "responses-whole": _responses(stream=False),
            "responses-stream": _responses(stream=True),
        }
    )
