from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from mocks.tests.codex.conftest import Client


def test_models_are_listed_in_pages(client: Client) -> None:
    everything, _ = client.ask("model/list", {})
    assert [model["id"] for model in everything["data"]] == ["mock-model", "mock-model-small"]
    assert [model["isDefault"] for model in everything["data"]] == [True, False]
    first, _ = client.ask("model/list", {"limit": 1})
    rest, _ = client.ask("model/list", {"limit": 0, "cursor": first["nextCursor"]})
    assert (first["data"] + rest["data"], rest["nextCursor"]) == (everything["data"], None)


@pytest.mark.parametrize(
    ("cursor", "message"),
    [
        ("x", "invalid cursor: x"),
        ("1" * 5000, f"invalid cursor: {'1' * 5000}"),
        ("\u0661", "invalid cursor: \u0661"),
        ("99", "cursor 99 exceeds total models 2"),
    ],
)
def test_a_cursor_of_models_is_a_number(client: Client, cursor: str, message: str) -> None:
    assert client.ask("model/list", {"cursor": cursor})[0]["message"] == message


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("mcpServerStatus/list", {"data": [], "nextCursor": None}),
        ("experimentalFeature/list", {"data": [], "nextCursor": None}),
        ("app/list", {"data": [], "nextCursor": None}),
        ("skills/list", {"data": [{"cwd": "/workspace", "skills": [], "errors": []}]}),
        ("hooks/list", {"data": [{"cwd": "/workspace", "hooks": [], "warnings": [], "errors": []}]}),
        ("modelProvider/capabilities/read", {"imageGeneration": True, "webSearch": True}),
        ("configRequirements/read", {"supportsIndependentSpeedModes": True, "requirements": None}),
    ],
)
def test_a_client_that_begins_is_answered(client: Client, method: str, result: object) -> None:
    assert client.ask(method, {})[0] == result


def test_skills_are_listed_for_the_folders_that_are_named(client: Client) -> None:
    listed, _ = client.ask("skills/list", {"cwds": ["/a", "/b"]})
    assert [entry["cwd"] for entry in listed["data"]] == ["/a", "/b"]


def test_the_configuration_names_the_model_and_its_provider(client: Client) -> None:
    read, _ = client.ask("config/read", {})
    config = read["config"]
    assert (config["model"], config["model_provider"], config["sandbox_mode"]) == ("mock-model", "mock", "read-only")
    assert config["instructions"] is None
    assert list(read) == ["config", "origins"]
    assert client.ask("config/read", {"includeLayers": True})[0]["layers"] == []
    providers, _ = client.ask("modelProvider/list", {})
    assert [provider["id"] for provider in providers["data"]] == ["openai", "mock"]


def test_permissions_are_listed_in_pages(client: Client) -> None:
    page, _ = client.ask("permissionProfile/list", {"limit": 2})
    assert ([profile["id"] for profile in page["data"]], page["nextCursor"]) == ([":read-only", ":workspace"], "2")


def test_modes_are_listed_where_they_have_no_instructions(client: Client, older: Client) -> None:
    modes, _ = client.ask("collaborationMode/list", {})
    assert [(mode["name"], mode["mode"]) for mode in modes["data"]] == [("Plan", "plan"), ("Default", "default")]
    error, _ = older.ask("collaborationMode/list", {})
    assert error["message"] == "wireproof-codex does not play collaborationMode/list"


def test_usage_needs_an_account(client: Client) -> None:
    error, _ = client.ask("account/usage/read", None)
    assert error["message"] == "codex account authentication required to read token usage"


def test_settings_change_without_a_turn(make_client: Callable[..., Any]) -> None:
    client = make_client()
    thread = client.start_thread()
    _, received = client.ask("thread/settings/update", {"threadId": thread, "model": "m"})
    assert received.methods == ["response", "thread/settings/updated"]
    assert received.params_of("thread/settings/updated")[0]["threadSettings"]["model"] == "m"
    _, received = client.ask("thread/settings/update", {"threadId": thread, "model": "m"})
    assert received.methods == ["response"]
