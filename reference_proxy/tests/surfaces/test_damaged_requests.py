"""Whatever stands in a body, a surface takes the request or refuses it with an error of its own."""

from __future__ import annotations

import copy
import random
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.messages import messages_request
from wireproof_surfaces.messages.messages_request import MessagesService
from wireproof_surfaces.surfaces import chat_request, responses_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Parse = Callable[[Mapping[str, Any], Mapping[str, str]], object]

DAMAGED = 4000
"""Bodies a surface; some thousands more found nothing else."""
FORMAT = {"name": "n", "schema": {}}
PARAMETERS = {"type": "object", "properties": {}}
CALLED = {"name": "f", "arguments": "{}"}
CHAT = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": CALLED}]},
        {"role": "tool", "tool_call_id": "a", "content": "r"},
        {"role": "assistant", "content": "", "function_call": CALLED},
        {"role": "function", "name": "f", "content": "r"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": PARAMETERS}}],
    "tool_choice": {"type": "function", "function": {"name": "f"}},
    "stream": True,
    "stream_options": {"include_usage": True},
    "response_format": {"type": "json_schema", "json_schema": FORMAT},
}
RESPONSES = {
    "model": "m",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": "u"}]},
        {"type": "function_call", "call_id": "a", **CALLED},
        {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "r"}]},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "s"}]},
        {"type": "item_reference", "id": "i"},
    ],
    "tools": [{"type": "function", "name": "f", "parameters": PARAMETERS}, {"type": "custom", "name": "c"}],
    "tool_choice": {"type": "function", "name": "f"},
    "text": {"format": {"type": "json_schema", **FORMAT}},
    "reasoning": {"effort": "low", "summary": "auto"},
}
MESSAGES = {
    "model": "m",
    "max_tokens": 10,
    "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "r"}]},
    ],
    "tools": [{"name": "f", "input_schema": PARAMETERS}],
    "tool_choice": {"type": "tool", "name": "f"},
    "thinking": {"type": "disabled"},
}
SURFACES: Mapping[str, tuple[Parse, Mapping[str, Any]]] = {
    "chat": (partial(chat_request.parse, max_choices=4), CHAT),
    "chat, all that the endpoint takes": (partial(chat_request.parse, max_choices=4, full=True), CHAT),
    "responses": (responses_request.parse, RESPONSES),
    "responses, all that the endpoint takes": (partial(responses_request.parse, full=True), RESPONSES),
    "messages": (partial(messages_request.parse, service=MessagesService()), MESSAGES),
    "messages, strict": (partial(messages_request.parse, service=MessagesService(strict=True)), MESSAGES),
}
OTHERS: tuple[Any, ...] = (None, True, 0, -1, 1.5, "", "x", "assistant", [], [1], [None], {}, {"type": "text"}, CALLED)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each object or list within a value, with each key or index of it."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def damaged(body: Mapping[str, Any], chance: random.Random) -> Mapping[str, Any]:
    """The body with one to three things lost, changed, or put where they do not belong."""
    made = copy.deepcopy(dict(body))
    for _ in range(chance.randint(1, 3)):
        (holder, key), (giver, other) = chance.choice([*places(made)]), chance.choice([*places(made)])
        match chance.randrange(4):
            case 0:
                del holder[key]
            case 1:
                holder[key] = copy.deepcopy(chance.choice(OTHERS))
            case 2:
                holder[key] = copy.deepcopy(giver[other])
            case _ if isinstance(holder, dict) and isinstance(giver, dict):
                holder[other] = copy.deepcopy(chance.choice((giver[other], *OTHERS)))
        if not made:
            return made
    return made


@pytest.mark.sampled(3)
@pytest.mark.parametrize("surface", SURFACES)
def test_a_damaged_body_is_taken_or_refused(surface: str) -> None:
    parse, body = SURFACES[surface]
    chance = random.Random(surface)  # noqa: S311 (the same bodies each time)
    statuses: list[int | None] = []
    for _ in range(DAMAGED):
        request = damaged(body, chance)
        try:
            parse(request, {"anthropic-version": "2023-06-01"})
            statuses.append(None)
        except ApiError as error:
            statuses.append(error.problem.status)
        except Exception as error:
            raise AssertionError(request) from error
    assert set(statuses) == {None, 400}
    assert DAMAGED / 20 < statuses.count(400) < DAMAGED * 19 / 20
