"""Execs as calls: the table of the contract, and the names that a client's own tools have."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from wireproof_cursor_protos.agent_pb2 import ExecServerMessage
from wireproof_proxy.backends.cursor.execs import ExecCall, call_of
from wireproof_surfaces.conversation import Tool


def tool(name: str, *properties: str) -> Tool:
    return Tool(name=name, description="", parameters={"properties": {one: {} for one in properties}})


def called(exec_: dict[str, Any], *tools: Tool) -> ExecCall:
    call = call_of(ParseDict(exec_, ExecServerMessage()), {one.name: one for one in tools})
    assert call is not None
    return call


@pytest.mark.parametrize(
    ("exec_", "name", "arguments"),
    [
        ({"shell_args": {"command": "ls -l"}}, "bash", {"command": "ls -l"}),
        ({"shell_stream_args": {"command": "ls", "working_directory": "/w"}}, "bash", {"command": "ls", "cwd": "/w"}),
        ({"read_args": {"path": "a.txt"}}, "read", {"filePath": "a.txt"}),
        ({"write_args": {"path": "a", "file_text": "x"}}, "write", {"filePath": "a", "content": "x"}),
        (
            {"write_args": {"path": "a", "file_bytes": "eQ=="}},
            "write",
            {"filePath": "a", "content": "y"},
        ),
        ({"ls_args": {"path": "."}}, "list", {"path": "."}),
        ({"grep_args": {"pattern": "TODO", "path": "src"}}, "grep", {"pattern": "TODO", "path": "src"}),
        ({"grep_args": {"pattern": "TODO"}}, "grep", {"pattern": "TODO"}),
        ({"grep_args": {"glob": "**/*.md", "path": "src"}}, "glob", {"pattern": "**/*.md", "path": "src"}),
        ({"grep_args": {"pattern": "a", "glob": "*.md"}}, "grep", {"pattern": "a", "include": "*.md"}),
        ({"fetch_args": {"url": "http://127.0.0.1/"}}, "webfetch", {"url": "http://127.0.0.1/"}),
    ],
)
def test_a_native_exec_is_a_call_of_the_tool_of_the_contract(
    exec_: dict[str, Any], name: str, arguments: dict[str, Any]
) -> None:
    call = called(exec_)
    assert (call.name, json.loads(call.arguments)) == (name, arguments)


def test_arguments_have_the_names_that_the_declared_tool_has() -> None:
    bash = tool("bash", "command", "workdir", "description", "timeout")
    shell = {"shell_args": {"command": "make", "working_directory": "/w", "timeout": 500}}
    assert json.loads(called(shell, bash).arguments) == {
        "command": "make",
        "workdir": "/w",
        "description": "Run: make",
        "timeout": 500,
    }
    assert json.loads(called({"read_args": {"path": "a"}}, tool("read", "file_path")).arguments) == {"file_path": "a"}


def test_what_only_some_clients_have_is_sent_to_those_alone() -> None:
    read = {"read_args": {"path": "a", "offset": 3, "limit": 0}}
    assert json.loads(called(read, tool("read", "filePath")).arguments) == {"filePath": "a"}
    full = called(read, tool("read", "filePath", "offset", "limit"))
    # A limit of 0 was said, and is no absence.
    assert json.loads(full.arguments) == {"filePath": "a", "offset": 3, "limit": 0}


def test_a_search_with_a_glob_goes_to_the_tool_that_the_client_has() -> None:
    grep = {"grep_args": {"pattern": "a", "glob": "*.md"}}
    assert called(grep, tool("grep"), tool("glob")).name == "grep"
    assert called(grep, tool("glob")).name == "glob"


def test_a_tool_of_the_client_has_its_own_name_and_arguments() -> None:
    args = {"city": "Paris", "days": 2.0, "exact": 1.5, "deep": {"list": [1.0, None, True]}}
    call = called({"mcp_args": {"name": "x-weather", "tool_name": "get_weather", "args": args, "tool_call_id": "c"}})
    assert (call.id, call.name) == ("c", "get_weather")
    # A whole number is written as one: 2, not 2.0.
    assert call.arguments == '{"city": "Paris", "days": 2, "deep": {"list": [1, null, true]}, "exact": 1.5}'


def test_what_json_cannot_say_is_null() -> None:
    message = ExecServerMessage()
    message.mcp_args.name = "measure"
    message.mcp_args.args["most"].number_value = math.inf
    call = call_of(message, {})
    assert call is not None
    assert call.arguments == '{"most": null}'


def test_the_arguments_of_a_tool_come_in_the_order_of_its_declaration() -> None:
    weather = tool("get_weather", "days", "city")
    args = {"args": {"city": "Paris", "days": 2.0, "also": True}, "name": "get_weather"}
    assert called({"mcp_args": args}, weather).arguments == '{"days": 2, "city": "Paris", "also": true}'


@pytest.mark.parametrize("kind", ["delete_args", "diagnostics_args", "computer_use_args", "pi_read_args"])
def test_an_exec_that_no_client_runs_is_no_call(kind: str) -> None:
    assert call_of(ParseDict({kind: {}}, ExecServerMessage()), {}) is None
    assert call_of(ExecServerMessage(), {}) is None
