"""The types that clients rely on in what they read of an answer; they pass over everything else."""

# No `from __future__ import annotations` here: pydantic reads them when the program runs.
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from wireproof_mocks.personas.answer import Json, NotServedError
from wireproof_mocks.personas.line import as_json, short


class _Form(BaseModel):
    model_config = ConfigDict(strict=True)


class _ToolFunction(_Form):
    name: str | None = None
    # What is wrong with arguments is said with the name of their call.
    arguments: Any = None


class _ToolCall(_Form):
    id: str | None = None
    function: _ToolFunction | None = None


class _FunctionCall(_Form):
    name: str | None = None
    arguments: str | None = None


class _Said(_Form):
    content: str | None = None
    tool_calls: list[_ToolCall] | None = None
    function_call: _FunctionCall | None = None


class _Choice(_Form):
    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: str | None = None


class Chat(_Form):
    """A chunk or a completion of chat."""

    choices: list[_Choice]


class _Part(_Form):
    text: str = ""


class _Item(_Form):
    """An item of a response."""

    name: str = ""
    call_id: str | None = None
    arguments: str = ""
    content: list[_Part] | None = None


class TextDelta(_Form):
    """An event with text."""

    delta: str


class ItemDone(_Form):
    """An event with an item that is complete."""

    item: _Item


class Response(_Form):
    """A response."""

    status: str | None = None
    output: list[_Item] = []


class ResponseEnd(_Form):
    """An event with the response."""

    response: Response


_NAMES = {"model_type": "an object", "list_type": "a list", "string_type": "text"}
"""What is right in the place of each mistake that these forms can show."""


def readable(form: type[BaseModel], value: Json) -> Json:
    """The value itself, of which the client can read what the form has.

    Raises:
        NotServedError: it cannot, and which member that is.
    """
    try:
        form.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        if first["type"] == "missing":
            raise NotServedError(f"{place} is missing in {short(as_json(value))}") from None
        raise NotServedError(f"{place} is {short(as_json(first['input']))}, not {_NAMES[first['type']]}") from None
    return value
