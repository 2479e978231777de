"""Plans, searches and tools of MCP servers: what of them reaches a client, and what the model gets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex.versions.version import NEWEST
from wireproof_scripts.steps import McpCall, Plan, Say, Script, Step, WebSearch

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import MakeClient

MADE = Plan(id="call_1", steps=("look", "write", "rest"), done=1, explanation="how")
ECHO = McpCall(id="call_1", server="mini", tool="echo", arguments='{"n": 1.50}', output="ü")


@pytest.fixture
def make(make_client: MakeClient) -> Any:
    """Everything that a client receives of a turn of these steps, after which the model says "So."."""

    def play(*steps: Step, version: str = NEWEST.number) -> Any:
        library = {"a": Script(name="a", title="", parts=(steps, (Say(("So.",)),)))}
        client = make_client(library, version=version)
        thread = client.start_thread(experimentalRawEvents=True)
        return client.start_turn(thread, "[[wireproof:a#1]]")[1]

    return play


def output(received: Any) -> Any:
    """What the model gets of its call."""
    (result,) = [item for item in received.raw if item["type"] == "function_call_output"]
    return result["output"]


def test_a_plan_is_sent_with_the_state_of_each_step(make: Any) -> None:
    received = make(MADE, version="0.125.0")
    (sent,) = received.params_of("turn/plan/updated")
    assert sent["explanation"] == "how"
    assert [(one["step"], one["status"]) for one in sent["plan"]] == [
        ("look", "completed"),
        ("write", "inProgress"),
        ("rest", "pending"),
    ]
    (call,) = [item for item in received.raw if item["type"] == "function_call"]
    assert (call["name"], json.loads(call["arguments"])["plan"][1]["status"]) == ("update_plan", "in_progress")
    assert output(received) == "Plan updated"


def test_a_plan_without_a_reason_has_none(make: Any) -> None:
    (sent,) = make(Plan(id="call_1", steps=("look",), done=1), version="0.125.0").params_of("turn/plan/updated")
    assert (sent["explanation"], sent["plan"]) == (None, [{"step": "look", "status": "completed"}])


def test_versions_that_offer_no_plan_refuse_it_to_the_model_alone(make: Any) -> None:
    received = make(MADE)
    assert received.params_of("turn/plan/updated") == []
    assert output(received) == "unsupported call: update_plan"
    assert received.text_deltas == ["So."]


@pytest.mark.parametrize(
    ("version", "brought"),
    [
        ("0.89.0", '[{"text":"ü","type":"text"}]'),
        ("0.107.0", '[{"type":"text","text":"ü"}]'),
        ("0.121.0", 'Wall time: 0.0000 seconds\nOutput:\n[{"type":"text","text":"ü"}]'),
        (
            NEWEST.number,
            [
                {"type": "input_text", "text": "Wall time: 0.0000 seconds\nOutput:"},
                {"type": "input_text", "text": "ü"},
            ],
        ),
    ],
)
def test_the_result_of_a_server_s_tool_reaches_the_model_as_the_version_has_it(
    make: Any, version: str, brought: object
) -> None:
    assert output(make(ECHO, version=version)) == brought


@pytest.mark.parametrize(("failed", "status"), [(False, "completed"), (True, "failed")])
def test_a_server_s_tool_is_an_item_with_its_result(make: Any, *, failed: bool, status: str) -> None:
    step = McpCall(id="call_1", server="mini", tool="echo", arguments='{"n": 1.50}', output="ü", failed=failed)
    received = make(step)
    started, ended = (received.params_of(f"item/{when}")[1]["item"] for when in ("started", "completed"))
    assert (started["type"], started["status"], started["result"]) == ("mcpToolCall", "inProgress", None)
    assert (ended["status"], ended["result"]["content"]) == (status, [{"type": "text", "text": "ü"}])
    assert ended["arguments"] == {"n": 1.5}
    assert (ended["server"], ended["tool"], ended["error"]) == ("mini", "echo", None)


@pytest.mark.parametrize(("version", "name", "space"), [
    ("0.89.0", "mcp__mini__echo", None),
    ("0.121.0", "echo", "mcp__mini__"),
    (NEWEST.number, "echo", "mcp__mini"),
])  # fmt: skip
def test_the_model_calls_a_server_s_tool_by_the_name_of_the_version(
    make: Any, version: str, name: str, space: str | None
) -> None:
    (call,) = [item for item in make(ECHO, version=version).raw if item["type"] == "function_call"]
    assert (call["name"], call.get("namespace")) == (name, space)


def test_a_search_is_an_item_and_nobody_is_asked(make: Any) -> None:
    received = make(Say(("Let me see.",)), WebSearch(id="ws_1", query="herons"), Say(("Found.",)))
    types = [params["item"]["type"] for params in received.params_of("item/completed")]
    assert types == ["userMessage", "agentMessage", "webSearch", "agentMessage"]
    item = received.params_of("item/completed")[2]["item"]
    assert item["query"] == item["action"]["query"] == "herons"
    assert [item["type"] for item in received.raw].count("web_search_call") == 1
    assert "So." not in received.text_deltas  # a search ends no answer
