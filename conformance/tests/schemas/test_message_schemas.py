"""The schemas of Messages against the types of the `anthropic` package, both walked together, field by field.

The package has two families of types. Those of betas have all that the others have, and more: the schemas, which are to
accuse no server of what was published, are compared with them. Blocks and members of tools that the server runs are
known by their type alone, so the walk ends there (`OPEN`). Where the schemas differ on purpose, a table says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args, get_origin

import pytest
from anthropic.types.beta import (
    BetaMessage,
    BetaMessageTokensCount,
    BetaModelInfo,
    BetaRawMessageStreamEvent,
    BetaTextBlock,
)
from anthropic.types.beta_error_response import BetaErrorResponse
from published_types import Json, SchemaFolder, discriminator, fields_of, members, models_of, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

SCHEMAS = SchemaFolder("messages")
OPEN = {"caller", "container", "diagnostics", "context_management", "fallback_credit", "capabilities", "citation"}
"""Objects of which a schema says no more than that they are objects."""
ANY_WORD = {"category", "line"}
"""Texts for which the types name the words of today alone: others come with new models."""
STRICTER = {
    "message.stop_reason": "the service sends the member always, and null in message_start",
    "message.stop_sequence": "as stop_reason",
    "delta.stop_reason": "the service sends the member always",
    "delta.stop_sequence": "as stop_reason",
}
"""Members that the schemas require, and the types do not."""
LAXER = {
    "thinking.signature": "a signature that is missing stops no measured client",
    "server_tool_use.web_fetch_requests": "a server that runs one of the tools need not count the other",
    "server_tool_use.web_search_requests": "as web_fetch_requests",
    "model.lifecycle": "servers that list models of their own have no such state",
}
"""Members that the types require, and the schemas do not."""


def differences(kind: Any, node: Json, file: str, path: str) -> Iterator[str]:
    """Where a schema does not say what a type says."""
    node, file = SCHEMAS.resolved(node, file)
    if path.rpartition(".")[2] in OPEN:
        return
    yield from words(kind, [node], path, any_word=path.rpartition(".")[2] in ANY_WORD)
    models = models_of(kind)
    if "allOf" in node:
        yield from of_fork(models, node, file, path)
    elif "properties" in node:
        (model,) = models
        yield from of_model(model, node, file, path)
    for one in members(kind):
        if get_origin(one) is list and "items" in node:
            yield from differences(get_args(one)[0], node["items"], file, f"{path}[]")


def of_fork(models: list[type[BaseModel]], node: Json, file: str, path: str) -> Iterator[str]:
    """One of several types, which differ by `type`; those that have no branch are known by it alone."""
    by_type = {str(discriminator(model)): model for model in models}
    known = set(node["properties"]["type"]["enum"])
    if known != set(by_type):
        yield f"{path}: the schema knows {sorted(known - set(by_type))} and not {sorted(set(by_type) - known)}"
    for branch in node["allOf"]:
        type_ = branch["if"]["properties"]["type"]["const"]
        if type_ in by_type:
            yield from differences(by_type[type_], branch["then"], file, type_)


def of_model(model: type[BaseModel], node: Json, file: str, path: str) -> Iterator[str]:
    fields = fields_of(model)
    if node.get("additionalProperties") is not False:
        yield f"{path}: is not closed"
    if set(fields) != set(node["properties"]):
        ours, theirs = set(node["properties"]) - set(fields), set(fields) - set(node["properties"])
        yield f"{path}: the schema alone has {sorted(ours)}, the type alone {sorted(theirs)}"
    for name in set(fields) & set(node["properties"]):
        below = f"{path}.{name}"
        needed = name in node.get("required", ())
        if needed != fields[name].is_required() and not below.endswith((*STRICTER, *LAXER)):
            yield f"{below}: required is {needed} in the schema and {not needed} in the type"
        yield from differences(fields[name].annotation, node["properties"][name], file, below)


@pytest.mark.parametrize(
    ("name", "model"), [("message", BetaMessage), ("tokens", BetaMessageTokensCount), ("model", BetaModelInfo)]
)
def test_an_object_is_the_published_one(name: str, model: type[BaseModel]) -> None:
    assert list(differences(model, SCHEMAS.load(name), name, name)) == []


EVENTS = {discriminator(one): one for one in models_of(BetaRawMessageStreamEvent)}


@pytest.mark.parametrize("type_", EVENTS)
def test_an_event_is_the_published_one(type_: str) -> None:
    assert list(differences(EVENTS[type_], SCHEMAS.load("stream")["$defs"][type_], "stream", type_)) == []


def test_exactly_the_published_events_have_a_schema() -> None:
    # The types have neither: the SDKs pass over the one and raise the other.
    assert set(SCHEMAS.load("stream")["properties"]["type"]["enum"]) == {*EVENTS, "ping", "error"}


def test_the_published_errors_have_their_form() -> None:
    schema = SCHEMAS.load("error")
    fields = BetaErrorResponse.model_fields
    errors = {discriminator(one): one for one in models_of(fields["error"].annotation)}
    assert set(schema["properties"]) == set(fields)
    assert set(schema["required"]) == {name for name, field in fields.items() if field.is_required()}
    node = schema["$defs"]["error"]
    # Those that have a status alone, or a service of their own, are no types of the union.
    assert set(errors) <= set(node["properties"]["type"]["enum"])
    for model in errors.values():
        assert set(node["required"]) == {name for name, field in model.model_fields.items() if field.is_required()}
        assert set(model.model_fields) <= set(node["properties"])


WRONG: dict[str, tuple[Json, str]] = {
    "a member is required": ({"required": ["type", "text", "citations"]}, "text.citations: required is True"),
    "none is required": ({"required": []}, "text.text: required is False"),
    "a member too few": ({"properties": {"type": {"const": "text"}}}, "the type alone ['citations', 'text']"),
    "open": ({"additionalProperties": True}, "text: is not closed"),
}


@pytest.mark.parametrize(("change", "words"), WRONG.values(), ids=WRONG)
def test_a_difference_is_found(change: Json, words: str) -> None:
    node = SCHEMAS.load("message")["$defs"]["text"]
    assert list(differences(BetaTextBlock, node, "message", "text")) == []
    assert words in "; ".join(differences(BetaTextBlock, {**node, **change}, "message", "text"))
