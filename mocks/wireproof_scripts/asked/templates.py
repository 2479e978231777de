"""Templates filled with what was asked: `{user_text}`, `{tool_result}`, and doubled braces for braces.

A part is filled when it begins to play: the results of its conversation are known then.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof_scripts.asked.request import AskedTurn
from wireproof_scripts.conversation import is_result, result_text
from wireproof_scripts.json_text import parse_json
from wireproof_scripts.steps import Call, Say, Step, Template
from wireproof_scripts.steps.template import fill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_scripts.asked.request import Items


def filled(part: Sequence[Step], conversation: Items) -> tuple[Step, ...]:
    """The part with its templates filled; a text that the conversation does not have is empty."""
    if not has_templates(part):
        return tuple(part)
    values = {
        "user_text": AskedTurn(conversation=conversation).text or "",
        "tool_result": next((result_text(item) for item in reversed(conversation) if is_result(item)), ""),
    }
    return tuple(_filled(step, values) for step in part)


def has_templates(part: Sequence[Step]) -> bool:
    """Whether anything in a part is to be filled."""
    return any(isinstance(step, Template) or (isinstance(step, Call) and step.fill) for step in part)


def _filled(step: Step, values: Mapping[str, str]) -> Step:
    match step:
        case Template(text):
            return Say(tuple(piece.text for piece in Template(fill(text, values)).deltas()) or ("",))
        case Call(fill=True):
            return replace(step, arguments=_arguments(step.arguments, values), fill=False)
    return step


def _arguments(text: str, values: Mapping[str, str]) -> str:
    """Arguments with each of their texts filled: what is filled in is escaped as JSON wants it."""
    try:
        data = parse_json(text)
    except ValueError:
        return fill(text, values)
    return json.dumps(_each(data, values), ensure_ascii=False)


def _each(data: object, values: Mapping[str, str]) -> object:
    match data:
        case str():
            return fill(data, values)
        case list():
            return [_each(one, values) for one in data]
        case dict():
            return {name: _each(one, values) for name, one in data.items()}
    return data
