"""The schemas of Responses against the types of the `openai` package, both walked together, field by field.

`CLOSED` are the types that a proxy for Codex takes or gives: they are compared to the last field. Others that stand
where one of several types may (items and tools of kinds that such a proxy never makes) are known by their type alone.
Where the schemas differ on purpose, `STRICTER` says so, with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args, get_origin

import pytest
from jsonschema import Draft202012Validator
from openai.types.responses import (
    FunctionTool,
    Response,
    ResponseFunctionToolCall,
    ResponseFunctionToolCallItem,
    ResponseFunctionToolCallOutputItem,
    ResponseInputMessageItem,
    ResponseItemList,
    ResponseOutputMessage,
    ResponseReasoningItem,
    ResponseStreamEvent,
    ToolChoiceFunction,
    response_input_item,
)
from published_types import Json, SchemaFolder, discriminator, fields_of, members, models_of, words
from pydantic import BaseModel, TypeAdapter

from wireproof.reading.schemas import errors

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMAS = SchemaFolder("openai")
NAMES = ("response", "response.stream", "response.input_item", "response.input_items")
CLOSED: set[Any] = {ResponseOutputMessage, ResponseFunctionToolCall, ResponseReasoningItem, FunctionTool,
                    ToolChoiceFunction}  # fmt: skip
STRICTER = {
    "response.status": "a response without it tells no end; two clients raise when only id, status and output are sent",
    "function_call.id": "two clients raise or lose the arguments when the item has none",
    "function_call.status": "the contract asks for it",
    "response.instructions": "list items are the input's, which has a schema of its own",
}
EVENT_TYPES = SCHEMAS.load("response.stream")["properties"]["type"]["enum"]
BEYOND = {
    "response": {"billing", "frequency_penalty", "presence_penalty", "store"},
    "response.function_call_arguments.done": {"name"},
    **{type_: {"obfuscation"} for type_ in EVENT_TYPES if type_.endswith(".delta")},
}
"""Members that OpenAI's service sends and its reference shows, and that the types do not have."""
OPTIONAL = {
    ".cache_write_tokens": "a service that writes no cache sends none, and no measured client reads it",
    "response.output_text.delta.logprobs": "the reference's own examples have none",
    "response.output_text.done.logprobs": "the reference's own examples have none",
}
"""Members that the types require and the schemas do not."""
SPELLINGS = {"prompt_cache_retention": {'"in-memory"'}}
"""Values that the reference writes otherwise than the types."""


# --- walking both ---------------------------------------------------------------------------------------------------


def differences(kind: Any, node: Json, file: str, path: str) -> Iterator[str]:
    """Where a schema does not say what a type says."""
    if path in STRICTER:
        return
    node, file = SCHEMAS.resolved(node, file)
    branches = [SCHEMAS.resolved(one, file) for one in node.get("anyOf", (node,))]
    spelled = SPELLINGS.get(path.rpartition(".")[2], ())
    yield from words(kind, [branch for branch, _ in branches], path, ours_alone=spelled)
    models = models_of(kind)
    for branch, where in branches:
        if "allOf" in branch:
            yield from of_fork(models, branch, where, path)
        elif "properties" in branch:
            fitting = [one for one in models if set(fields_of(one)) == set(branch["properties"]) - beyond(one)]
            yield from [] if fitting else [f"{path}: no type has the fields {sorted(branch['properties'])}"]
            for model in fitting[:1]:
                yield from of_model(model, branch, where, path)
        for one in members(kind):
            if get_origin(one) is list and "items" in branch:
                yield from differences(get_args(one)[0], branch["items"], where, f"{path}[]")
            if get_origin(one) is dict and isinstance(branch.get("additionalProperties"), dict):
                yield from differences(get_args(one)[1], branch["additionalProperties"], where, f"{path}{{}}")


def of_fork(models: list[type[BaseModel]], node: Json, file: str, path: str) -> Iterator[str]:
    """One of several types, which differ by `type`: closed ones to the last field, others by name."""
    by_type = {discriminator(model): model for model in models}
    if set(node["properties"]["type"]["enum"]) != set(by_type):
        yield f"{path}: the types are {sorted(map(str, by_type))}"
    branches = {one["if"]["properties"]["type"]["const"]: one["then"] for one in node["allOf"]}
    closed = {discriminator(model) for model in models if model in CLOSED} or set(by_type)
    if set(branches) != closed:
        yield f"{path}: {sorted(map(str, closed))} are closed types, the schema closes {sorted(branches)}"
    for type_, then in branches.items():
        if type_ in by_type:
            yield from differences(by_type[type_], then, file, f"{path}<{type_}>")


def stem_of(model: type[BaseModel]) -> str:
    return discriminator(model) or ("response" if model is Response else "")


def beyond(model: type[BaseModel]) -> set[str]:
    # Some published types have the member by now.
    return BEYOND.get(stem_of(model), set()) - set(fields_of(model))


def of_model(model: type[BaseModel], node: Json, file: str, path: str) -> Iterator[str]:
    fields = fields_of(model)
    if node["additionalProperties"] is not False:
        yield f"{path}: is not closed"
    stem = stem_of(model)
    for name, field in fields.items():
        spelt = f"{stem}.{name}"
        needed = name in node.get("required", ())
        if needed != field.is_required() and spelt not in {*STRICTER, *OPTIONAL}:
            yield f"{path}.{name}: required is {needed} in the schema and {field.is_required()} in the type"
        below = spelt if spelt in STRICTER else f"{path}.{name}"
        yield from differences(field.annotation, node["properties"][name], file, below)


def test_the_response_is_the_published_one() -> None:
    assert list(differences(Response, SCHEMAS.load("response"), "response", "")) == []


EVENTS = {discriminator(one): one for one in models_of(ResponseStreamEvent)}


def test_exactly_the_published_events_have_a_schema() -> None:
    schema = SCHEMAS.load("response.stream")
    branches = {one["if"]["properties"]["type"]["const"]: one["then"]["$ref"] for one in schema["allOf"]}
    assert set(schema["properties"]["type"]["enum"]) == set(branches) == set(EVENTS)
    assert all(reference == f"#/$defs/{type_}" for type_, reference in branches.items())


@pytest.mark.each("type_", EVENTS)
def test_an_event_is_the_published_one(type_: str) -> None:
    assert (
        list(differences(EVENTS[type_], SCHEMAS.load("response.stream")["$defs"][type_], "response.stream", "")) == []
    )


@pytest.mark.parametrize(
    ("file", "name", "model"),
    [
        ("response.input_item", "function_call", ResponseFunctionToolCall),
        ("response.input_item", "function_call_output", response_input_item.FunctionCallOutput),
        ("response.input_item", "reasoning", ResponseReasoningItem),
        ("response.input_item", "item_reference", response_input_item.ItemReference),
        ("response.input_items", "input_message", ResponseInputMessageItem),
        ("response.input_items", "function_call", ResponseFunctionToolCallItem),
        ("response.input_items", "function_call_output", ResponseFunctionToolCallOutputItem),
    ],
)
def test_an_input_item_is_the_published_one(file: str, name: str, model: type[BaseModel]) -> None:
    assert list(differences(model, SCHEMAS.load(file)["$defs"][name], file, f"{file}/{name}")) == []


def test_the_list_of_input_items_has_the_published_fields() -> None:
    schema = SCHEMAS.load("response.input_items")
    assert set(schema["properties"]) == set(fields_of(ResponseItemList))
    assert set(schema["required"]) == set(schema["properties"])


def test_a_difference_is_found_in_either_direction() -> None:
    def found(change: Json) -> list[str]:
        schema = SCHEMAS.load("response")
        node = schema["$defs"]["incomplete_details"]
        kind = Response.model_fields["incomplete_details"].annotation
        model = models_of(kind)[0]
        return list(differences(model, {**node, **change}, "response", "here"))

    assert found({}) == []
    assert found({"required": ["reason"]}) == ["here.reason: required is True in the schema and False in the type"]
    assert found({"additionalProperties": True}) == ["here: is not closed"]
    assert found({"properties": {}}) == ["here: no type has the fields []"]
    assert found({"properties": {"reason": {"type": "integer"}}})[0].startswith("here.reason: the schema allows")


# --- samples --------------------------------------------------------------------------------------------------------


PLAIN: Json = {"string": "é", "integer": 1, "number": 1, "boolean": True, "null": None}


def sample(node: Json, file: str) -> Any:
    """A value that a schema allows, with every field that it knows."""
    node, file = SCHEMAS.resolved(node, file)
    if "anyOf" in node or "allOf" in node:
        return sample(node["anyOf"][0] if "anyOf" in node else node["allOf"][0]["then"], file)
    if "const" in node or "enum" in node:
        return node.get("const", node.get("enum", [None])[0])
    types = node.get("type", "string")
    kind = types if isinstance(types, str) else types[0]
    if kind == "object":
        return {name: sample(inner, file) for name, inner in node.get("properties", {}).items()}
    if kind == "array":
        return [sample(node["items"], file)] if "items" in node else []
    return PLAIN[kind]


SAMPLES = [
    *(("response.stream", type_, SCHEMAS.load("response.stream")["$defs"][type_], EVENTS[type_]) for type_ in EVENTS),
    ("response", "response", SCHEMAS.load("response"), Response),
]


@pytest.mark.each(("file", "title", "node", "model"), SAMPLES, ids=[one[1] for one in SAMPLES])
def test_a_sample_that_is_valid_here_parses_there(file: str, title: str, node: Json, model: Any) -> None:
    value = sample(node, file)
    assert errors(file, value) == [], title
    TypeAdapter(model).validate_python(value)
    assert set(value) - set(fields_of(model)) == beyond(model)
    assert errors(file, {**value, "unheard_of": 1}) == ["the body: unheard_of is not among the published fields"]


def spots(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    children: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in children:
        yield from spots(inner, (*path, step))


@pytest.mark.each(("file", "title", "node", "model"), SAMPLES, ids=[one[1] for one in SAMPLES])
def test_a_required_field_that_is_missing_is_reported(file: str, title: str, node: Json, model: Any) -> None:
    assert model
    value = sample(node, file)
    for name in node.get("required", ()):
        less = {key: inner for key, inner in value.items() if key != name}
        assert any(name in one for one in errors(file, less)), (title, name)


@pytest.mark.parametrize("file", NAMES)
def test_a_schema_is_sound_and_named_after_its_file(file: str) -> None:
    schema = SCHEMAS.load(file)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"https://wireproof.invalid/schemas/openai/{file}.json"
    assert schema["title"] == file


def unions(node: Any) -> Iterator[Json]:
    """The schemas of objects of several types in whose place null or a text may stand."""
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    if isinstance(node, dict) and isinstance(node.get("type"), list) and "object" in node["type"] and "allOf" in node:
        yield node
    for inner in children:
        yield from unions(inner)


@pytest.mark.parametrize("file", NAMES)
def test_what_may_stand_in_an_objects_place_is_held_to_none_of_its_types(file: str) -> None:
    for node in unions(SCHEMAS.load(file)):
        allowed = {name for name in node["type"] if name != "object"}
        made = Draft202012Validator({key: value for key, value in node.items() if key != "$ref"})
        for name, value in PLAIN.items():
            assert made.is_valid(value) == (name in allowed), (node["type"], value)


def test_a_call_may_say_that_it_has_no_caller() -> None:
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c",
        "name": "f",
        "arguments": "{}",
        "status": "completed",
    }
    body = {**sample(SCHEMAS.load("response"), "response"), "output": [{**call, "status": "completed", "caller": None}]}
    assert errors("response", body) == []
    body["output"] = [{**call, "status": "completed", "caller": {"type": "program"}}]
    assert errors("response", body) == ["/output/0/caller: caller_id is missing"]


def test_items_and_tools_of_other_kinds_are_known_by_their_type_alone() -> None:
    right = sample(SCHEMAS.load("response"), "response")
    right["output"] = [{"type": "web_search_call", "id": "ws_1", "anything": 7}]
    right["tools"] = [{"type": "web_search", "anything": 7}]
    assert errors("response", right) == []
    right["output"] = [{"type": "wand"}]
    assert errors("response", right)[0].startswith('/output/0/type: is "wand", should be one of')


INPUT = [
    {"role": "user", "content": "Hello."},
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Hello."}]},
    {"role": "user", "content": [{"type": "input_image", "image_url": "data:", "detail": "auto"}]},
    {"role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]},
    {
        "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "Hello.", "annotations": []}],
    },
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "x"},
    {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "x"}]},
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "item_reference", "id": "msg_1"},
    {"type": "web_search_call", "anything": 7},
]  # fmt: skip


@pytest.mark.parametrize("item", INPUT)
def test_what_clients_send_is_an_input_item(item: Json) -> None:
    assert errors("response.input_item", item) == []


@pytest.mark.parametrize(
    "item",
    [
        {"role": "pirate", "content": "Arr."},
        {"role": "user"},
        {"role": "user", "content": 7},
        {"role": "user", "content": [{"type": "input_text"}]},
        {"role": "user", "content": "Hello.", "name": "x"},
        {"type": "function_call", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c"},
        {"type": "wand"},
        "Hello.",
    ],
)
def test_what_no_one_published_is_none(item: object) -> None:
    assert errors("response.input_item", item) != []


def test_a_list_of_input_items() -> None:
    said = {"type": "message", "id": "msg_1", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]}
    reply = {**said, "role": "assistant", "status": "completed"}
    reply["content"] = [{"type": "output_text", "text": "Hello.", "annotations": []}]
    page = {"object": "list", "data": [said, reply], "first_id": "msg_1", "last_id": "msg_1", "has_more": False}
    assert errors("response.input_items", page) == []
    ResponseItemList.model_validate(page)
    assert errors("response.input_items", {**page, "data": [{**said, "id": None}]}) != []
    assert errors("response.input_items", {**page, "data": [{**reply, "content": "Hello."}]}) != []
