"""The `openai` package on responses: whole answers, plain streams, the `.stream` helper, `parse`, stored responses."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dialogue import MAX_STEPS, Call, Play, Turn, main
from openai import OpenAI
from openai.types.responses import Response
from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[[OpenAI, dict[str, Any], Play], Response]


class Place(BaseModel):
    """What texts are parsed into where a dialogue has a schema."""

    name: str
    height: float


def _whole(client: OpenAI, body: dict[str, Any], _play: Play) -> Response:
    response: Response = client.responses.create(**body)
    return response


def _stream(client: OpenAI, body: dict[str, Any], play: Play) -> Response:
    """The plain stream; the items are taken as their `done` events tell them, which must be what the end tells."""
    items = []
    for event in client.responses.create(**body, stream=True):
        if event.type == "response.output_text.delta":
            play.pieces.append(event.delta)
        elif event.type == "response.output_item.done":
            items.append(event.item)
        elif event.type == "response.completed":
            if event.response.output != items:
                raise ValueError(f"the items were {items}, in the end {event.response.output}")
            response: Response = event.response
            return response
    raise ValueError("no end")


def _joined(client: OpenAI, body: dict[str, Any], play: Play) -> Response:
    """The plain stream, of which the items are taken as they are done, and nothing but that there is an end."""
    items, last = [], None
    for event in client.responses.create(**body, stream=True):
        if event.type == "response.output_text.delta":
            play.pieces.append(event.delta)
        elif event.type == "response.output_item.done":
            items.append(event.item)
        elif event.type == "response.completed":
            last = event.response
    if last is None:
        raise ValueError("no end")
    return Response.model_construct(None, **{**last.to_dict(), "output": [one.to_dict() for one in items]})


def _helper(client: OpenAI, body: dict[str, Any], play: Play) -> Response:
    with client.responses.stream(**body) as stream:
        play.pieces.extend(event.delta for event in stream if event.type == "response.output_text.delta")
        response: Response = stream.get_final_response()
        return response


def _parse(client: OpenAI, body: dict[str, Any], play: Play) -> Response:
    if not play.dialogue["schema"]:
        return client.responses.parse(**body)
    response = client.responses.parse(**body, text_format=Place)
    play.parsed.append(response.output_parsed.model_dump() if response.output_parsed else None)
    return response


def _loop(ask: Ask, *, stored: bool = False) -> Callable[[Play], list[Turn]]:
    """The loop that an application writes by hand; `stored`: all but the news is remembered by the other side."""

    def play(play: Play) -> list[Turn]:
        url, key, model = (play.endpoint[name] for name in ("url", "key", "model"))
        tools = {"tools": play.functions} if play.tools else {}
        body = {
            "model": model,
            **tools,
            **play.options,
            "input": [{"role": "user", "content": play.dialogue["prompt"]}],
        }
        turns: list[Turn] = []
        with OpenAI(base_url=url, api_key=key, max_retries=0, timeout=20) as client:
            while len(turns) < MAX_STEPS and (not turns or turns[-1].calls):
                response = ask(client, body, play)
                turns.append(_turn(response))
                results = [_result(play, call) for call in turns[-1].calls]
                before = {"previous_response_id": response.id} if stored else {}
                said = [] if stored else [*body["input"], *response.output]
                body = {**body, **before, "input": [*said, *results]}
        return turns

    return play


def _result(play: Play, call: Call) -> dict[str, str]:
    return {"type": "function_call_output", "call_id": call.id, "output": play.run(call.name, call.arguments)}


def _turn(response: Response) -> Turn:
    called = [item for item in response.output if item.type == "function_call"]
    return Turn(
        text=response.output_text,
        finish=response.status,
        usage=(response.usage.input_tokens, response.usage.output_tokens) if response.usage else None,
        calls=[
            Call(id=item.call_id, name=item.name, arguments=json.loads(item.arguments), raw=item.arguments)
            for item in called
        ],
    )


if __name__ == "__main__":
    main(
        {
            "whole": _loop(_whole),
            "stream": _loop(_stream),
            "joined": _loop(_joined),
            "helper": _loop(_helper),
            "parse": _loop(_parse),
            "stored": _loop(_whole, stored=True),
            "stored-stream": _loop(_stream, stored=True),
        }
    )
