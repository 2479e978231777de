from __future__ import annotations

from typing import Any

import pytest

from wireproof_codex.protocol.params import Refused
from wireproof_codex.turns.tools import CallOutcome, check_tools, outcome, parse_arguments

TOOL = {"type": "function", "name": "a", "description": "", "inputSchema": {"type": "object"}}


def test_right_tools_pass() -> None:
    check_tools([])
    check_tools([TOOL, {"name": "B-_9", "inputSchema": {}}, {"type": "namespace", "name": "n", "tools": []}])


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        (["a"], "Invalid request: missing field `name`"),
        ([{"inputSchema": {}}], "Invalid request: missing field `name`"),
        (
            [{**TOOL, "name": "bad name!"}],
            "dynamic tool name must match ^[a-zA-Z0-9_-]+$ to match Responses API: bad name!",
        ),
        ([{**TOOL, "name": ""}], "dynamic tool name must match ^[a-zA-Z0-9_-]+$ to match Responses API: "),
        ([TOOL, TOOL], "duplicate dynamic tool name: a"),
        ([{**TOOL, "deferLoading": True}], "deferred dynamic tool must include a namespace: a"),
        (
            [{**TOOL, "inputSchema": "str"}],
            'dynamic tool input schema is not supported for a: invalid type: string "str", expected struct JsonSchema',
        ),
        (
            [{"name": "a"}],
            "dynamic tool input schema is not supported for a: invalid type: null, expected struct JsonSchema",
        ),
    ],
)
def test_wrong_tools_are_refused(tools: list[Any], message: str) -> None:
    with pytest.raises(Refused) as caught:
        check_tools(tools)
    assert caught.value.message == message


def test_arguments_are_parsed_as_json() -> None:
    assert parse_arguments('{ "n" : 1.50 }') == {"n": 1.5}
    assert parse_arguments("[]") == []


@pytest.mark.parametrize("arguments", ["", " ", "{not json", "{}}"])
def test_arguments_that_are_no_json_are_sent_to_the_model(arguments: str) -> None:
    with pytest.raises(ValueError, match=r"^failed to parse function arguments: .* at line 1 column \d+$"):
        parse_arguments(arguments)


@pytest.mark.parametrize("arguments", ["NaN", "[-Infinity]", '{"n":1e999}', "[" * 100_000])
def test_arguments_that_python_alone_reads_as_json_are_none(arguments: str) -> None:
    with pytest.raises(ValueError, match=r"^failed to parse function arguments: "):
        parse_arguments(arguments)


TEXT = {"type": "inputText", "text": "é"}
IMAGE = {"type": "inputImage", "imageUrl": "data:image/png;base64,"}


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ([TEXT], "é"),
        ([], []),
        ([TEXT, IMAGE], [{"type": "input_text", "text": "é"}, {"type": "input_image", "image_url": IMAGE["imageUrl"]}]),
    ],
)
def test_one_text_is_sent_to_the_model_as_it_is_and_anything_else_as_a_list(content: list[Any], output: object) -> None:
    assert outcome({"contentItems": content, "success": True}, None) == CallOutcome(True, content, output)  # type: ignore[arg-type]  # noqa: FBT003
    assert not outcome({"contentItems": content, "success": False}, None).success


@pytest.mark.parametrize(
    "result",
    [
        None,
        "x",
        {"output": "x"},
        {"success": True},
        {"success": 1, "contentItems": []},
        {"success": True, "contentItems": ["x"]},
        {"success": True, "contentItems": [{"type": "odd"}]},
    ],
)
def test_an_answer_of_the_wrong_shape_fails_the_call(result: object) -> None:
    came = outcome(result, None)
    assert (came.success, came.output) == (False, "dynamic tool response was invalid")


def test_an_error_as_answer_fails_the_call() -> None:
    came = outcome(None, {"code": -32601, "message": "Method not found"})
    assert (came.success, came.output) == (False, "dynamic tool request failed")
    assert came.content == [{"type": "inputText", "text": "dynamic tool request failed"}]
