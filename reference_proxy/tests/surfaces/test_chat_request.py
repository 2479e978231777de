from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.conversation import Tool
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.surfaces.chat_dialect import FormatOptions
from wireproof_surfaces.surfaces.chat_request import ChatRequest, parse

LEAST: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def tool(name: Any = "f", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **more}}


def named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def request(headers: dict[str, str] | None = None, **more: Any) -> ChatRequest:
    return parse({**LEAST, **more}, headers or {})


def fault(headers: dict[str, str] | None = None, **more: Any) -> ApiError:
    with pytest.raises(ApiError) as raised:
        request(headers, **more)
    assert raised.value.problem.status == 400
    assert raised.value.problem.type == "invalid_request_error"
    return raised.value


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("model", {"model": None}),
    ("model", {"model": 1}),
    ("model", {"model": ""}),
    ("messages", {"messages": []}),
    ("n", {"n": 2}),
    ("n", {"n": 0}),
    ("n", {"n": "1"}),
    ("stream", {"stream": "true"}),
    ("stream", {"stream": 1}),
    ("stream_options", {"stream_options": {}}),
    ("stream_options", {"stream_options": {"include_usage": True}, "stream": False}),
    ("stream_options", {"stream_options": [], "stream": True}),
    ("stream_options", {"stream_options": {"include_usage": 1}, "stream": True}),
    ("temperature", {"temperature": 2.5}),
    ("temperature", {"temperature": "1"}),
    ("top_p", {"top_p": -1}),
    ("max_tokens", {"max_tokens": 0}),
    ("max_tokens", {"max_tokens": 1.5}),
    ("max_completion_tokens", {"max_completion_tokens": "1"}),
    ("tools", {"tools": {}}),
    ("tools[0].type", {"tools": ["f"]}),
    ("tools[0].type", {"tools": [{"type": "custom", "custom": {"name": "f"}}]}),
    ("tools[0].function.name", {"tools": [{"type": "function"}]}),
    ("tools[0].function.name", {"tools": [tool("bad name")]}),
    ("tools[0].function.name", {"tools": [tool("x" * 65)]}),
    ("tools[1].function.name", {"tools": [tool(), tool()]}),
    ("tools[0].function.description", {"tools": [tool(description=1)]}),
    ("tools[0].function.parameters", {"tools": [tool(parameters="x")]}),
    ("functions", {"functions": "f"}),
    ("functions[0].name", {"functions": [{}]}),
    ("functions[0].name", {"functions": ["f"]}),
    ("tool_choice", {"tool_choice": "maybe"}),
    ("tool_choice", {"tool_choice": "required"}),
    ("tool_choice", {"tool_choice": named("g"), "tools": [tool()]}),
    ("tool_choice", {"tool_choice": {"type": "function"}, "tools": [tool()]}),
    ("tool_choice", {"tool_choice": 1}),
    ("function_call", {"function_call": {"name": "g"}, "functions": [{"name": "f"}]}),
    ("parallel_tool_calls", {"parallel_tool_calls": "yes"}),
    ("response_format", {"response_format": "json"}),
    ("response_format", {"response_format": {"type": "xml"}}),
    ("response_format", {"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}}),
]


@pytest.mark.parametrize(("param", "more"), WRONG)
def test_a_wrong_parameter_is_named(param: str, more: dict[str, Any]) -> None:
    error = fault(**more)
    assert error.param == param
    assert param in (error.message or "")


def test_tools_after_one_of_an_unknown_kind_are_not_looked_at() -> None:
    assert fault(tools=[{}, tool("bad name")]).param == "tools[0].type"


def test_the_order_of_the_table_decides_which_fault_is_sent() -> None:
    order = ["model", "messages", "n", "stream", "temperature", "top_p", "max_tokens", "tools", "functions"]
    wrong: dict[str, Any] = dict.fromkeys(order, "wrong")
    wrong["model"] = 1
    right: dict[str, Any] = {**dict.fromkeys(order), **LEAST}
    for name in order:
        assert fault(**wrong).param == name
        wrong[name] = right[name]


@pytest.mark.parametrize("header", ["x-proxy-output-mode", "x-proxy-tool-arguments", "x-proxy-stop-after-tools"])
def test_a_wrong_header_is_named_after_everything_else(header: str) -> None:
    assert fault({header: "nonsense"}).param == header
    assert fault({header: "nonsense"}, response_format="x").param == "response_format"


def test_the_least_request_is_whole_text_without_tools() -> None:
    sent = request()
    assert (sent.model, sent.stream, sent.include_usage, sent.tools, sent.schema) == ("m", False, False, (), None)
    assert sent.options == FormatOptions()


def test_unknown_fields_and_nulls_are_ignored() -> None:
    names = ["n", "stream", "stream_options", "temperature", "tools", "tool_choice", "response_format", "max_tokens"]
    assert request(**dict.fromkeys(names), seed=1, store=False, reasoning_effort="low", whatever=[1]) == request()


def test_a_stream_may_ask_for_usage() -> None:
    assert request(stream=True, stream_options={"include_usage": True}).include_usage
    assert not request(stream=True, stream_options={"include_usage": None}).include_usage


def test_tools_are_offered_in_the_order_given() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    sent = request(tools=[tool("b", description="does b", parameters=schema), tool("a")])
    assert sent.tools == (
        Tool(name="b", description="does b", parameters=schema),
        Tool(name="a", description="", parameters={"type": "object", "properties": {}}),
    )


@pytest.mark.parametrize(
    ("choice", "names"),
    [("auto", ["f", "g"]), ("required", ["f", "g"]), ("none", []), (named("g"), ["g"])],
)
def test_the_choice_decides_what_is_offered(choice: Any, names: list[str]) -> None:
    assert [offered.name for offered in request(tools=[tool("f"), tool("g")], tool_choice=choice).tools] == names


def test_the_header_wins_over_parallel_tool_calls() -> None:
    assert request(parallel_tool_calls=True).options.stop_policy == "burst"
    assert request(parallel_tool_calls=False).options.stop_policy == "first"
    assert request({"x-proxy-stop-after-tools": "first"}, parallel_tool_calls=True).options.stop_policy == "first"


def test_the_output_mode_may_be_asked_for() -> None:
    assert request({"x-proxy-output-mode": "openai-json"}).options.output_mode == "openai-json"


def test_the_arguments_mode_may_be_asked_for() -> None:
    assert request().options.arguments is None
    assert request({"x-proxy-tool-arguments": "cumulative"}).options.arguments == "cumulative"


@pytest.mark.parametrize("value", ["", "Obsidian-XML", "function-call"])
def test_headers_are_spelled_exactly(value: str) -> None:
    assert fault({"x-proxy-output-mode": value}).param == "x-proxy-output-mode"


def test_several_choices_may_be_asked_for_up_to_the_largest_number() -> None:
    assert parse({**LEAST, "n": 4}, {}, max_choices=4).n == 4
    assert request(n=None).n == 1
    with pytest.raises(ApiError) as raised:
        parse({**LEAST, "n": 5}, {}, max_choices=4)
    assert "from 1 to 4" in str(raised.value.body())


def test_functions_make_a_legacy_request() -> None:
    sent = request(functions=[{"name": "f"}])
    assert sent.legacy
    assert [offered.name for offered in sent.tools] == ["f"]
    assert not request(functions=[{"name": "f"}], tools=[tool("t")]).legacy
    assert request(tools=[tool("t")], tool_choice="none").calls is False


def test_a_json_schema_is_passed_on() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}, "strict": True}}
    assert request(response_format=form).schema == {"type": "object"}
    assert request(response_format={"type": "text"}).schema is None


def test_any_json_object_is_refused() -> None:
    with pytest.raises(ApiError) as raised:
        request(response_format={"type": "json_object"})
    assert raised.value.param == "response_format"
