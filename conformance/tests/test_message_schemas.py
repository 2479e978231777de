"""The schemas of Messages against the types of the `anthropic` package, both walked together, field by field.

The package has two families of types. Those of betas have all that the others have, and more: the schemas, which are to
accuse no server of what was published, are compared with them. Blocks and members of tools that the server runs are
known by their type alone, so the walk ends there (`OPEN`). Where the schemas differ on purpose, a table says so.
"""

from __future__ import annotations

import datetime as dt
import json
import types
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from anthropic.types.beta import (
    BetaMessage,
    BetaMessageTokensCount,
    BetaModelInfo,
    BetaRawMessageStreamEvent,
    BetaTextBlock,
)
from anthropic.types.beta_error_response import BetaErrorResponse
from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[2] / "schemas" / "messages"
OPEN = {"caller", "container", "diagnostics", "context_management", "fallback_credit", "capabilities", "citation"}
"""Objects of which a schema says no more than that they are objects."""
ANY_WORD = {"category", "line"}
"""Texts for which the types name the words of today alone: others come with new models."""
PRIMITIVES = {str: "string", int: "integer", bool: "boolean", types.NoneType: "null", dt.datetime: "string"}
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

Json = dict[str, Any]


def load(name: str) -> Json:
    content: Json = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return content


def resolved(node: Json, file: str) -> tuple[Json, str]:
    """A schema behind its references, and the file it stands in."""
    while "$ref" in node:
        name, _, pointer = node["$ref"].partition("#")
        file = name.removesuffix(".json") or file
        node = load(file)
        for step in pointer.split("/")[1:]:
            node = node[step]
    return node, file


def members(kind: Any) -> Iterator[Any]:
    """The types of a union."""
    if get_origin(kind) is Annotated:
        yield from members(get_args(kind)[0])
    elif get_origin(kind) in {Union, types.UnionType}:
        for one in get_args(kind):
            yield from members(one)
    else:
        yield kind


def models_of(kind: Any) -> list[type[BaseModel]]:
    return [one for one in members(kind) if isinstance(one, type) and issubclass(one, BaseModel)]


def discriminator(model: type[BaseModel]) -> str:
    return str(get_args(model.model_fields["type"].annotation)[0])


def differences(kind: Any, node: Json, file: str, path: str) -> Iterator[str]:
    """Where a schema does not say what a type says."""
    node, file = resolved(node, file)
    if path.rpartition(".")[2] in OPEN:
        return
    yield from words(kind, node, path)
    models = models_of(kind)
    if "allOf" in node:
        yield from of_fork(models, node, file, path)
    elif "properties" in node:
        (model,) = models
        yield from of_model(model, node, file, path)
    for one in members(kind):
        if get_origin(one) is list and "items" in node:
            yield from differences(get_args(one)[0], node["items"], file, f"{path}[]")


def words(kind: Any, node: Json, path: str) -> Iterator[str]:
    """The plain types and literals of both."""
    theirs: set[str] = set()
    for one in members(kind):
        origin = get_origin(one)
        if origin is Literal:
            theirs |= {json.dumps(value) for value in get_args(one)}
        elif isinstance(one, type) and issubclass(one, BaseModel):
            theirs.add("object")
        else:
            theirs.add({list: "array", dict: "object"}.get(origin) or PRIMITIVES[one])
    if path.rpartition(".")[2] in ANY_WORD:
        theirs.add("string")
    if "string" in theirs:
        theirs = {word for word in theirs if not word.startswith('"')}
    said = node.get("type", [])
    ours = {said} if isinstance(said, str) else set(said)
    ours |= {"null" if value is None else json.dumps(value) for value in node.get("enum", ())}
    ours |= {json.dumps(node["const"])} if "const" in node else set()
    if ours != theirs:
        yield f"{path}: the schema allows {sorted(ours)}, the type {sorted(theirs)}"


def of_fork(models: list[type[BaseModel]], node: Json, file: str, path: str) -> Iterator[str]:
    """One of several types, which differ by `type`; those that have no branch are known by it alone."""
    by_type = {discriminator(model): model for model in models}
    known = set(node["properties"]["type"]["enum"])
    if known != set(by_type):
        yield f"{path}: the schema knows {sorted(known - set(by_type))} and not {sorted(set(by_type) - known)}"
    for branch in node["allOf"]:
        type_ = branch["if"]["properties"]["type"]["const"]
        if type_ in by_type:
            yield from differences(by_type[type_], branch["then"], file, type_)


def of_model(model: type[BaseModel], node: Json, file: str, path: str) -> Iterator[str]:
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
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
    assert list(differences(model, load(name), name, name)) == []


EVENTS = {discriminator(one): one for one in models_of(BetaRawMessageStreamEvent)}


@pytest.mark.parametrize("type_", EVENTS)
def test_an_event_is_the_published_one(type_: str) -> None:
    assert list(differences(EVENTS[type_], load("stream")["$defs"][type_], "stream", type_)) == []


def test_exactly_the_published_events_have_a_schema() -> None:
    # The types have neither: the SDKs pass over the one and raise the other.
    assert set(load("stream")["properties"]["type"]["enum"]) == {*EVENTS, "ping", "error"}


def test_the_published_errors_have_their_form() -> None:
    schema = load("error")
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
    node = load("message")["$defs"]["text"]
    assert list(differences(BetaTextBlock, node, "message", "text")) == []
    assert words in "; ".join(differences(BetaTextBlock, {**node, **change}, "message", "text"))
