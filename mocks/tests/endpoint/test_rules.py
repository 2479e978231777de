"""Requests that OpenAI's API refuses are refused, with its code and param; what is right beside them is served."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from wireproof_endpoint.api import rules
from wireproof_endpoint.api.schemas import TYPES, needed
from wireproof_endpoint.in_process import transport
from wireproof_surfaces.surfaces.rules import first_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = {"role": "user", "content": "Hello."}
SAYS_JSON = {"role": "user", "content": "As Json."}
CLOSED: Any = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2"}]}
RESULTS = [{"role": "tool", "tool_call_id": id_, "content": "1"} for id_ in ("c1", "c2")]


def tools(number: int = 1, **more: Any) -> Any:
    return [{"type": "function", "function": {"name": f"f{index}"} | more} for index in range(number)]


def flat(number: int = 1, **more: Any) -> Any:
    return [{"type": "function", **tool["function"]} for tool in tools(number, **more)]


def json_schema(schema: Any, *, name: str = "n", strict: bool = True) -> Any:
    return {"type": "json_schema", "json_schema": {"name": name, "strict": strict, "schema": schema}}


def text_schema(schema: Any, *, name: str = "n") -> Any:
    return {"format": {"type": "json_schema", "name": name, "strict": True, "schema": schema}}


OPEN: Any = {"type": "object", "properties": {}}
CHAT: list[tuple[dict[str, Any], str, str | None, dict[str, Any]]] = [
    ({"stop": list("abcde")}, "stop", "array_above_max_length", {"stop": list("abcd")}),
    ({"stop": 7}, "stop", "invalid_type", {"stop": "a"}),
    ({"stop": ["a", 7]}, "stop", "invalid_type", {"stop": None}),
    ({"functions": []}, "functions", "empty_array", {"tools": []}),
    ({"tools": tools(129)}, "tools", "array_above_max_length", {"tools": tools(128)}),
    ({"functions": []}, "functions", "empty_array", {"functions": [{"name": "f"}]}),
    (
        {"tools": tools(strict=True, parameters=OPEN)},
        "tools[0].function.parameters",
        "invalid_function_parameters",
        {"tools": tools(strict=True, parameters=CLOSED)},
    ),
    (
        {"tools": tools(strict=True)},
        "tools[0].function.parameters",
        "invalid_function_parameters",
        {"tools": tools(strict=False, parameters=OPEN)},
    ),
    ({"parallel_tool_calls": True}, "parallel_tool_calls", None, {"parallel_tool_calls": True, "tools": tools()}),
    ({"response_format": json_schema(OPEN)}, "response_format", None, {"response_format": json_schema(CLOSED)}),
    (
        {"response_format": json_schema(CLOSED, name="a b")},
        "response_format.json_schema.name",
        "invalid_value",
        {"response_format": json_schema(OPEN, strict=False)},
    ),
    (
        {"response_format": {"type": "json_object"}},
        "messages",
        None,
        {"response_format": {"type": "json_object"}, "messages": [SAYS_JSON]},
    ),
    ({"max_tokens": 9, "max_completion_tokens": 9}, "max_tokens", "invalid_parameter_combination", {"max_tokens": 9}),
    ({"frequency_penalty": 3}, "frequency_penalty", "decimal_above_max_value", {"frequency_penalty": 2}),
    ({"presence_penalty": -2.5}, "presence_penalty", "decimal_below_min_value", {"presence_penalty": -2}),
    ({"presence_penalty": "high"}, "presence_penalty", "invalid_type", {"presence_penalty": None}),
    ({"seed": "x"}, "seed", "invalid_type", {"seed": -7}),
    ({"seed": 2**63}, "seed", "integer_above_max_value", {"seed": 2**63 - 1}),
    ({"logprobs": 5}, "logprobs", "invalid_type", {"logprobs": True}),
    (
        {"logprobs": True, "top_logprobs": 21},
        "top_logprobs",
        "integer_above_max_value",
        {"logprobs": True, "top_logprobs": 20},
    ),
    ({"top_logprobs": 2}, "top_logprobs", None, {"top_logprobs": 2, "logprobs": True}),
    ({"logit_bias": {"5": 101}}, "logit_bias.5", "decimal_above_max_value", {"logit_bias": {"5": -100}}),
    ({"logit_bias": [5]}, "logit_bias", "invalid_type", {"logit_bias": {}}),
    ({"reasoning_effort": "huge"}, "reasoning_effort", "invalid_value", {"reasoning_effort": "low"}),
    ({"verbosity": "huge"}, "verbosity", "invalid_value", {"verbosity": "low"}),
    ({"service_tier": "cheap"}, "service_tier", "invalid_value", {"service_tier": "auto"}),
    ({"modalities": ["text", "audio"]}, "modalities", "unsupported_value", {"modalities": ["text"]}),
    ({"audio": {"voice": "alloy"}}, "audio", "unsupported_value", {"audio": None}),
    (
        {"metadata": {str(key): "" for key in range(17)}},
        "metadata",
        "object_above_max_properties",
        {"metadata": {str(key): "" for key in range(16)}},
    ),
    ({"metadata": {"a": "x" * 513}}, "metadata.a", "string_above_max_length", {"metadata": {"a": "x" * 512}}),
    ({"metadata": {"a" * 65: ""}}, "metadata", "string_above_max_length", {"metadata": {"a" * 64: ""}}),
    ({"messages": [USER, CALLED]}, "messages.[1].role", None, {"messages": [USER, CALLED, *RESULTS]}),
    ({"messages": [USER, CALLED, USER]}, "messages.[2].role", None, {"messages": [USER, CALLED, *RESULTS[::-1], USER]}),
    ({"messages": [USER, CALLED, RESULTS[0], USER, RESULTS[1]]}, "messages.[3].role", None, {}),
    (
        {"messages": [USER, {"role": "assistant", "content": "a", "tool_calls": []}]},
        "messages[1].tool_calls",
        "empty_array",
        {"messages": [USER, {"role": "assistant", "content": "a", "tool_calls": None}]},
    ),
    ({"messages": []}, "messages", "empty_array", {}),
    ({"n": 129}, "n", "integer_above_max_value", {"n": 2}),
    ({"n": 0}, "n", "integer_below_min_value", {"n": 1}),
    ({"temperature": 2.1}, "temperature", "decimal_above_max_value", {"temperature": 2}),
    ({"top_p": "x"}, "top_p", "invalid_type", {"top_p": 0}),
    ({"max_tokens": 0}, "max_tokens", "integer_below_min_value", {"max_tokens": 1}),
    ({"max_completion_tokens": "many"}, "max_completion_tokens", "invalid_type", {"max_completion_tokens": 1}),
    ({"stream": "yes"}, "stream", "invalid_type", {"stream": False}),
    ({"metadata": {"a": 5}}, "metadata.a", "invalid_type", {"metadata": {"a": "5"}}),
    ({"conversation": 5, "messages": []}, "messages", "empty_array", {"conversation": 5}),
]
"""What is refused, the param and the code, and what is served."""

FUNCTION_CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "1"}
RESPONSES: list[tuple[dict[str, Any], str, str | None, dict[str, Any]]] = [
    ({"max_output_tokens": 15}, "max_output_tokens", "integer_below_min_value", {"max_output_tokens": 16}),
    ({"top_logprobs": 21}, "top_logprobs", "integer_above_max_value", {"top_logprobs": 20}),
    ({"tools": flat(129)}, "tools", "array_above_max_length", {"tools": flat(128)}),
    (
        {"tools": flat(strict=True, parameters=OPEN)},
        "tools[0].parameters",
        "invalid_function_parameters",
        {"tools": flat(strict=True, parameters=CLOSED)},
    ),
    ({"tools": [7]}, "tools[0].type", "invalid_value", {"tools": []}),
    ({"conversation": "conv_1"}, "conversation", "invalid_value", {"conversation": None}),
    ({"metadata": {"a": 5}}, "metadata", "invalid_type", {"metadata": {}}),
    ({"text": text_schema(OPEN)}, "text.format.schema", "invalid_json_schema", {"text": text_schema(CLOSED)}),
    ({"text": text_schema(CLOSED, name="")}, "text.format.name", "invalid_value", {"text": {}}),
    (
        {"text": {"format": {"type": "json_object"}}},
        "input",
        None,
        {"text": {"format": {"type": "json_object"}}, "instructions": "JSON"},
    ),
    ({"reasoning": {"effort": "huge"}}, "reasoning.effort", "invalid_value", {"reasoning": {"effort": "high"}}),
    ({"reasoning": {"summary": "long"}}, "reasoning.summary", "invalid_value", {"reasoning": {"summary": "auto"}}),
    ({"reasoning": "high"}, "reasoning", "invalid_type", {"reasoning": None}),
    ({"text": {"verbosity": "x"}}, "text.verbosity", "invalid_value", {"text": {"verbosity": "low"}}),
    ({"truncation": "on"}, "truncation", "invalid_value", {"truncation": "auto"}),
    ({"service_tier": "x"}, "service_tier", "invalid_value", {"service_tier": "flex"}),
    ({"background": True}, "background", "unsupported_value", {"background": False}),
    ({"prompt": {"id": "pmpt_1"}}, "prompt", "unsupported_value", {"prompt": None}),
    ({"metadata": {"a": "x" * 513}}, "metadata.a", "string_above_max_length", {"metadata": {"a": "b"}}),
    ({"input": [USER, FUNCTION_CALL]}, "input", None, {"input": [USER, FUNCTION_CALL, OUTPUT]}),
    ({"temperature": -1}, "temperature", "decimal_below_min_value", {"temperature": 0}),
]

OF_ANOTHER_TYPE: dict[str, dict[str, Any]] = {
    "/chat/completions": {
        "messages": "Hello.", "tools": 7, "functions": {}, "tool_choice": 7, "function_call": [],
        "response_format": "json", "stream_options": True, "reasoning_effort": 7, "verbosity": [], "prediction": "a",
        "web_search_options": True,
    },
    "/responses": {
        "input": 7, "instructions": ["a"], "tools": 7, "tool_choice": 7, "text": "json", "stream_options": True,
        "previous_response_id": 7, "truncation": True, "include": "a", "max_tool_calls": "7", "reasoning": "low",
    },
}  # fmt: skip
OF_EITHER: dict[str, Any] = {
    "model": 5, "user": 5, "store": "yes", "metadata": [], "parallel_tool_calls": "no", "service_tier": ["auto"],
    "safety_identifier": 5, "prompt_cache_key": 5, "stream": 1, "temperature": "hot", "top_p": [],
}  # fmt: skip


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with httpx.Client(transport=transport(), base_url="http://endpoint/v1") as made:
        yield made


def served(client: httpx.Client, path: str, body: dict[str, Any]) -> Any:
    """The error of an answer; None when there is none."""
    before = {"messages": [USER]} if path == "/chat/completions" else {"input": "Hello."}
    answer = client.post(path, json={"model": "m", **before, **body})
    error = answer.json().get("error")
    assert (answer.status_code == 200) is (error is None), answer.text
    return error


CASES = [("/chat/completions", *case) for case in CHAT] + [("/responses", *case) for case in RESPONSES]


@pytest.mark.parametrize(("path", "wrong", "param", "code", "right"), CASES)
def test_what_openai_refuses_is_refused_and_what_is_right_is_served(
    client: httpx.Client, path: str, wrong: dict[str, Any], param: str, code: str | None, right: dict[str, Any]
) -> None:
    error = served(client, path, wrong)
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", param, code)
    assert error["message"].startswith(f"`{param}` must be ")
    assert served(client, path, right) is None


@pytest.mark.parametrize("path", OF_ANOTHER_TYPE)
def test_a_value_of_another_type_is_refused_as_that(client: httpx.Client, path: str) -> None:
    for name, value in (OF_EITHER | OF_ANOTHER_TYPE[path]).items():
        error = served(client, path, {"stream": name == "stream_options", name: value})
        assert (error["param"], error["code"]) == (name, "invalid_type")
        assert error["message"].startswith(f"`{name}` must be ")


def test_a_call_in_a_stored_response_wants_its_output(client: httpx.Client) -> None:
    asked = {"model": "m", "input": "Call f0.", "tools": flat()}
    first = client.post("/responses", json=asked).json()
    [call] = first["output"]
    error = served(client, "/responses", {"previous_response_id": first["id"]})
    assert (error["param"], error["code"]) == ("input", None)
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "1"}
    assert served(client, "/responses", {"previous_response_id": first["id"], "input": [output]}) is None


GOOD: Any = {
    "type": "object",
    "properties": {
        "a": {"type": ["object", "null"], "properties": {}, "additionalProperties": False},
        "b": {"type": "array", "items": {"$ref": "#/$defs/c"}},
        "d": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["a", "b", "d"],
    "additionalProperties": False,
    "$defs": {"c": {"type": "object", "properties": {"e": {}}, "required": ["e"], "additionalProperties": False}},
}


def changed(*path: str | int, **members: Any) -> Any:
    schema = copy.deepcopy(GOOD)
    inner = schema
    for step in path:
        inner = inner[step]
    inner |= members
    return schema


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (changed(type="array"), "an object at its root: `type: object`"),
        (None, "an object at its root: `type: object`"),
        (changed(additionalProperties=True), "`additionalProperties: false` at its root"),
        (changed(required=["a", "b"]), "d among the `required` at its root"),
        (changed("properties", "a", additionalProperties={}), "`additionalProperties: false` in properties.a"),
        (changed("$defs", "c", required=None), "e among the `required` in $defs.c"),
        (changed("properties", "d", "anyOf", 0, oneOf=[]), "no `oneOf` in properties.d.anyOf.0"),
        (changed("properties", "b", "items", allOf=[]), "no `allOf` in properties.b.items"),
        (changed(properties=7), None),
        (GOOD, None),
    ],
)
def test_a_strict_schema_is_closed_and_requires_all(schema: Any, said: str | None) -> None:
    assert needed(schema) == said


def chat_tool(parameters: Any) -> Any:
    return {"tools": tools(parameters=parameters)}


def flat_tool(parameters: Any) -> Any:
    return {"tools": flat(parameters=parameters)}


TEXTS: Any = {"type": "array", "items": {"type": "string"}}


@pytest.mark.each(
    ("schema", "said"),
    [
        ({}, "a JSON Schema of `type: object`"),
        ({"type": "array", "items": {}}, "a JSON Schema of `type: object`"),
        ({"type": "object", "oneOf": []}, "a JSON Schema without `oneOf` at its root"),
        (
            {"type": "object", "properties": {"a": {"type": "array"}}},
            "a JSON Schema with `items` for the array in properties.a",
        ),
        (
            {"type": "object", "properties": {"a": {"type": ["array", "null"]}}},
            "a JSON Schema with `items` for the array in properties.a",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "text"}}},
            f"a JSON Schema whose `type` is one of {', '.join(TYPES)} in properties.a",
        ),
        ({"type": "object", "required": "a"}, "a JSON Schema whose `required` is a list of strings at its root"),
        ({"type": "object", "properties": []}, "a JSON Schema whose `properties` is schemas by name at its root"),
        (
            {"type": "object", "properties": {"a": {"anyOf": [TEXTS, {"type": "array"}]}}},
            "a JSON Schema with `items` for the array in properties.a.anyOf.1",
        ),
        (
            {"type": "object", "additionalProperties": {"enum": []}},
            "a JSON Schema whose `enum` is a list that is not empty in additionalProperties",
        ),
    ],
)  # fmt: skip
def test_a_schema_of_a_function_that_is_not_strict_is_one(client: httpx.Client, schema: Any, said: str) -> None:
    for path, body, place in (
        ("/chat/completions", chat_tool(schema), "tools[0].function.parameters"),
        ("/chat/completions", {"functions": [{"name": "f", "parameters": schema}]}, "functions[0].parameters"),
        ("/responses", flat_tool(schema), "tools[0].parameters"),
    ):
        error = served(client, path, body)
        assert (error["param"], error["code"]) == (place, "invalid_function_parameters")
        assert error["message"] == f"`{place}` must be {said}."


@pytest.mark.each(
    "schema",
    [
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"a": TEXTS, "b": True, "c": {}, "d": {"$ref": "#/x"}}, "$defs": {"x": {}}},
        {"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["b"]},
        {"type": "object", "additionalProperties": False, "unheard": 7},
        None,
    ],
)  # fmt: skip
def test_what_openai_takes_of_schemas_is_taken(client: httpx.Client, schema: Any) -> None:
    assert served(client, "/chat/completions", chat_tool(schema)) is None
    assert served(client, "/responses", flat_tool(schema)) is None


def custom(**format_: Any) -> Any:
    return {"tools": [{"type": "custom", "name": "write", **({"format": format_} if format_ else {})}]}


def in_chat(**more: Any) -> Any:
    return {"tools": [{"type": "custom", "custom": {"name": "write", **more}}]}


PDF, TEXT_FILE = "data:application/pdf;base64,JVBERi0=", "data:text/plain;base64,SGVsbG8="


def attached(**file: Any) -> Any:
    return {"input": [{"role": "user", "content": [{"type": "input_file", **file}]}]}


def attached_in_chat(**file: Any) -> Any:
    return {"messages": [{"role": "user", "content": [{"type": "file", "file": file}]}]}


BLANK = {**CALL, "function": {"name": "a b", "arguments": ""}}
LARK = 'start: "a"'
OF_TOOLS: list[tuple[dict[str, Any], str, str | None, dict[str, Any]]] = [
    ({"tools": tools()}, "tools[0].name", "missing_required_parameter", {"tools": flat()}),
    ({"tools": [{"type": "file_search"}]}, "tools[0].vector_store_ids", "missing_required_parameter", {}),
    ({"tools": [{"type": "file_search", "vector_store_ids": ["vs_1"]}]}, "tools[0].type", "unsupported_value", {}),
    ({"tools": [{"type": "code_interpreter", "container": "c"}]}, "tools[0].type", "unsupported_value", {}),
    ({"tools": [{"type": "mcp", "server_label": "s"}]}, "tools[0].type", "unsupported_value", {}),
    ({"tools": [{"type": "image_generation"}]}, "tools[0].type", "unsupported_value", {}),
    ({"tools": [{"type": "browser"}]}, "tools[0].type", "invalid_value", {"tools": [{"type": "web_search"}]}),
    ({"tools": [{"type": "custom"}]}, "tools[0].name", "missing_required_parameter", custom()),
    ({"tools": [{"type": "custom", "name": "a b"}]}, "tools[0].name", "invalid_value", custom(type="text")),
    (custom(type="json"), "tools[0].format.type", "invalid_value",
     custom(type="grammar", syntax="lark", definition=LARK)),
    (custom(type="grammar", syntax="ebnf", definition="a"), "tools[0].format.syntax", "invalid_value", {}),
    (custom(type="grammar", syntax="regex"), "tools[0].format.definition", "missing_required_parameter", {}),
    (custom(type="grammar", syntax="regex", definition="(a"), "tools[0].format.definition", "invalid_value",
     custom(type="grammar", syntax="regex", definition="(a)+")),
    (custom(type="grammar", syntax="lark", definition="a"), "tools[0].format.definition", "invalid_value", {}),
    ({"include": ["everything"]}, "include[0]", "invalid_value", {"include": ["reasoning.encrypted_content"]}),
    ({"previous_response_id": "resp_none"}, "previous_response_id", "previous_response_not_found", {}),
    ({"input": [{**FUNCTION_CALL, "name": "a b"}, OUTPUT]}, "input[0].name", "invalid_value", {}),
    ({"text": {"format": {"type": "xml"}}}, "text.format", "invalid_value", {}),
    (attached(file_data="SGVsbG8="), "input[0].content[0].file_data", "invalid_value", attached(file_data=TEXT_FILE)),
    (attached(file_url="ftp://a"), "input[0].content[0].file_url", "invalid_value", attached(file_url="https://a.example")),
    (attached(file_id="file-1"), "input[0].content[0].file_id", "invalid_value", attached(file_data=PDF)),
    (attached(file_id="f" * 65), "input[0].content[0].file_id", "string_above_max_length", {}),
    (attached(filename="a.pdf"), "input[0].content[0].file_data", "missing_required_parameter", {}),
    (attached(file_data=7), "input[0].content[0].file_data", "invalid_type", {}),
    (
        {"input": [FUNCTION_CALL, {**OUTPUT, "output": [{"type": "input_file", "file_data": "SGVsbG8="}]}]},
        "input[1].output[0].file_data", "invalid_value",
        {"input": [FUNCTION_CALL, {**OUTPUT, "output": [{"type": "input_file", "file_data": PDF}]}]},
    ),
    ({"input": [{"role": "assistant", "content": [{"type": "input_file", "file_data": PDF}]}]},
     "input[0].content", "invalid_value", {}),
]  # fmt: skip
OF_MESSAGES: list[tuple[dict[str, Any], str, str | None, dict[str, Any]]] = [
    ({"messages": [{**USER, "name": "a b"}]}, "messages[0].name", "invalid_value",
     {"messages": [{**USER, "name": "a.b"}]}),
    (
        {"messages": [USER, {**CALLED, "tool_calls": [BLANK]}, RESULTS[0]]},
        "messages[1].tool_calls[0].function.name", "invalid_value", {"messages": [USER, CALLED, *RESULTS]},
    ),
    ({"tools": tools(name="a b")}, "tools[0].function.name", "invalid_value", {}),
    ({"tools": [{"type": "custom", "name": "a"}]}, "tools[0].custom", "invalid_value", in_chat()),
    ({"tools": [{"type": "custom", "custom": {}}]}, "tools[0].custom.name", "missing_required_parameter", {}),
    ({"tools": [*in_chat()["tools"], *in_chat()["tools"]]}, "tools[1].custom.name", "invalid_value", {}),
    (in_chat(description=1), "tools[0].custom.description", "invalid_value", in_chat(description="a")),
    (in_chat(format={"type": "grammar"}), "tools[0].custom.format.grammar", "missing_required_parameter",
     in_chat(format={"type": "text"})),
    (in_chat(format={"type": "grammar", "grammar": {"syntax": "regex", "definition": "("}}),
     "tools[0].custom.format.grammar.definition", "invalid_value",
     in_chat(format={"type": "grammar", "grammar": {"syntax": "lark", "definition": LARK}})),
    ({"tool_choice": {"type": "custom", "custom": {"name": "other"}}, **in_chat()}, "tool_choice", "invalid_value",
     {"tool_choice": {"type": "custom", "custom": {"name": "write"}}, **in_chat()}),
    ({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}}, **in_chat()},
     "tool_choice.allowed_tools", "invalid_value",
     {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": tools()}}, "tools": tools()}),
    ({"response_format": {"type": "xml"}}, "response_format", "invalid_value", {}),
    (attached_in_chat(file_data=TEXT_FILE), "messages[0].content[0].file.file_data", "invalid_value",
     attached_in_chat(file_data=PDF, filename="a.pdf")),
    (attached_in_chat(file_data="JVBERi0="), "messages[0].content[0].file.file_data", "invalid_value", {}),
    (attached_in_chat(file_id="file-1"), "messages[0].content[0].file.file_id", "invalid_value", {}),
    (attached_in_chat(filename="a.pdf"), "messages[0].content[0].file.file_data", "missing_required_parameter", {}),
    ({"messages": [{"role": "system", "content": [{"type": "file", "file": {"file_data": PDF}}]}]},
     "messages[0].content", "invalid_value", {}),
]  # fmt: skip
"""The same of the names in messages, and of formats."""


@pytest.mark.each(
    ("path", "wrong", "param", "code", "right"),
    [("/responses", *case) for case in OF_TOOLS] + [("/chat/completions", *case) for case in OF_MESSAGES],
)
def test_what_openai_refuses_of_tools_and_names_is_refused(
    client: httpx.Client, path: str, wrong: dict[str, Any], param: str, code: str | None, right: dict[str, Any]
) -> None:
    error = served(client, path, wrong)
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", param, code)
    assert served(client, path, right) is None


@pytest.mark.each(
    ("path", "body", "words"),
    [
        ("/responses", {"tools": [{"type": "browser"}]}, ("function", "custom", "web_search", "namespace")),
        (
            "/responses",
            {"tools": [{"type": "mcp", "server_label": "s"}]},
            ("mcp is run by OpenAI", "function", "custom"),
        ),
        ("/responses", {"include": ["a"]}, ("reasoning.encrypted_content", "message.output_text.logprobs")),
        ("/responses", {"text": {"format": {"type": "a"}}}, ("text", "json_object", "json_schema")),
        ("/chat/completions", {"response_format": {"type": "a"}}, ("text", "json_object", "json_schema")),
        ("/chat/completions", {"messages": [{"role": "bot", "content": "a"}]}, ("system", "developer", "user", "tool")),
    ],
)
def test_a_refusal_names_all_that_is_allowed(
    client: httpx.Client, path: str, body: dict[str, Any], words: tuple[str, ...]
) -> None:
    message = served(client, path, body)["message"]
    assert [word for word in words if word not in message] == []


@pytest.mark.each("calls", [["a"], [7], 7, [CALL], []])
def test_calls_that_no_assistant_has_sent_are_passed_over(calls: object) -> None:
    first_fault(rules.CHAT, {"model": "m", "messages": [{**USER, "tool_calls": calls}]})


@pytest.mark.each("content", [[7], [{}], [{"type": []}]])
def test_the_content_of_reasoning_may_be_anything(client: httpx.Client, content: object) -> None:
    reasoning = {"type": "reasoning", "summary": [], "content": content}
    assert served(client, "/responses", {"input": [reasoning, {"role": "user", "content": "Hello."}]}) is None


@pytest.mark.each("function", ["f", {}, {"name": "f"}, {"name": "f", "arguments": {}}])
def test_a_custom_call_may_have_a_broken_function_beside_it(client: httpx.Client, function: object) -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "f", "input": "1"}, "function": function}
    called = {"role": "assistant", "content": None, "tool_calls": [custom]}
    assert served(client, "/chat/completions", {"messages": [USER, called, RESULTS[0]]}) is None
