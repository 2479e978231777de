from __future__ import annotations

from typing import Any

import pytest

from wireproof_codex.protocol.params import Refused, check_items
from wireproof_codex.versions.version import NEWEST, VERSIONS

INPUTS = ", ".join(f"`{name}`" for name in ("text", "image", "localImage", "audio", "localAudio", "skill", "mention"))
GRANULAR = {"sandbox_approval": True, "rules": True, "mcp_elicitations": True}
CLIENT = {"name": "x", "version": "1"}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("initialize", {"clientInfo": CLIENT, "capabilities": None}),
        ("initialize", {"clientInfo": {**CLIENT, "title": None}, "capabilities": {"experimentalApi": True, "x": 1}}),
        ("thread/start", {}),
        ("thread/start", {"model": None, "approvalPolicy": {"granular": GRANULAR}, "unknown": 1}),
        ("turn/start", {"threadId": "t", "input": []}),
        ("turn/start", {"threadId": "t", "input": [{"type": "image", "url": "data:"}, {"type": "audio"}]}),
        ("turn/interrupt", {"threadId": "t", "turnId": "u"}),
        ("model/list", {"limit": 0}),
        ("review/start", {"anything": 1}),
    ],
)
def test_right_parameters_pass_without_those_that_are_not_known(method: str, params: dict[str, Any]) -> None:
    known = {name: value for name, value in params.items() if name != "unknown"}
    assert NEWEST.requests.params.check(method, params) == known


def test_a_parameter_of_another_method_is_none_of_an_older_one() -> None:
    # Nothing has checked it there, so that a value of any type would reach what reads it.
    params = VERSIONS["0.107.0"].requests.params
    assert params.check("newConversation", {"model": "m", "dynamicTools": True}) == {"model": "m"}


def test_a_method_without_parameters_needs_none() -> None:
    assert NEWEST.requests.params.check("configRequirements/read", None) == {}


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("thread/start", None, "missing field `params`"),
        ("thread/start", [], "invalid type: sequence, expected struct ThreadStartParams"),
        ("initialize", {}, "missing field `clientInfo`"),
        ("initialize", {"clientInfo": {"name": "x"}}, "missing field `version`"),
        ("initialize", {"clientInfo": 1}, "invalid type: integer `1`, expected struct ClientInfo"),
        ("initialize", {"clientInfo": None}, "invalid type: null, expected struct ClientInfo"),
        (
            "initialize",
            {"clientInfo": CLIENT, "capabilities": {"experimentalApi": "yes"}},
            'invalid type: string "yes", expected a boolean',
        ),
        ("thread/start", {"model": 1.5}, "invalid type: floating point `1.5`, expected a string"),
        ("thread/start", {"config": True}, "invalid type: boolean `true`, expected a map"),
        (
            "thread/start",
            {"sandbox": "none"},
            "unknown variant `none`, expected one of `read-only`, `workspace-write`, `danger-full-access`",
        ),
        ("thread/start", {"environments": [1]}, "invalid type: integer `1`, expected struct TurnEnvironmentParams"),
        ("turn/start", {"input": []}, "missing field `threadId`"),
        ("turn/start", {"threadId": "t"}, "missing field `input`"),
        ("turn/start", {"threadId": "t", "input": "é"}, 'invalid type: string "é", expected a sequence'),
        ("turn/start", {"threadId": "t", "input": {}}, "invalid type: map, expected a sequence"),
        (
            "turn/start",
            {"threadId": "t", "input": ["x"]},
            'invalid type: string "x", expected internally tagged enum UserInput',
        ),
        ("turn/start", {"threadId": "t", "input": [{}]}, "missing field `type`"),
        (
            "turn/start",
            {"threadId": "t", "input": [{"type": "video"}]},
            f"unknown variant `video`, expected one of {INPUTS}",
        ),
        ("turn/start", {"threadId": "t", "input": [{"type": "text"}]}, "missing field `text`"),
        ("model/list", {"limit": "x"}, 'invalid type: string "x", expected u32'),
        ("model/list", {"limit": True}, "invalid type: boolean `true`, expected u32"),
        ("model/list", {"limit": -1}, "invalid value: integer `-1`, expected u32"),
    ],
)
def test_wrong_parameters_are_refused_in_the_real_servers_words(method: str, params: object, message: str) -> None:
    with pytest.raises(Refused) as caught:
        NEWEST.requests.params.check(method, params)
    assert (caught.value.code, caught.value.message) == (-32600, f"Invalid request: {message}")


@pytest.mark.parametrize(
    ("item", "wrong"),
    [
        ("x", 'invalid type: string "x", expected internally tagged enum ResponseItem'),
        ({}, "missing field `type`"),
        ({"type": "message", "content": []}, "missing field `role`"),
        ({"type": "message", "role": "user"}, "missing field `content`"),
        (
            {"type": "message", "role": "user", "content": "text"},
            'invalid type: string "text", expected a sequence',
        ),
        ({"type": "message", "role": ["user"], "content": []}, "invalid type: sequence, expected a string"),
        ({"type": "function_call", "name": "f", "arguments": "{}"}, "missing field `call_id`"),
        ({"type": "function_call_output", "call_id": "c"}, "missing field `output`"),
    ],
)
def test_a_wrong_item_is_refused_with_its_index(item: object, wrong: str) -> None:
    with pytest.raises(Refused) as caught:
        check_items([{"type": "bogus"}, item], "internally tagged enum ResponseItem")
    assert caught.value.message == f"items[1] is not a valid response item: {wrong}"


def test_right_items_and_unknown_ones_pass() -> None:
    check_items(
        [
            {"type": "message", "role": "user", "content": []},
            {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
            {"type": "function_call_output", "call_id": "c", "output": "o"},
            {"type": "reasoning", "summary": []},
            {"type": ["odd"]},
        ],
        "internally tagged enum ResponseItem",
    )
