from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import Client, MakeClient

EXPECTED_ID = "expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-]"
NOWHERE = "00000000-0000-7000-8000-999999999999"


@pytest.mark.parametrize(
    ("method", "params", "result"),
    [
        ("thread/list", {}, {"data": [], "readStates": {}, "nextCursor": None, "backwardsCursor": None}),
        ("thread/loaded/list", {}, {"data": [], "nextCursor": None}),
        (
            "account/read",
            {"refreshToken": False},
            {"account": None, "userId": None, "requiresOpenaiAuth": False, "workspaceRouting": None},
        ),
        ("getAuthStatus", {}, {"authMethod": None, "authToken": None, "requiresOpenaiAuth": False}),
    ],
)
def test_the_harmless_methods_are_answered(client: Client, method: str, params: object, result: object) -> None:
    assert client.ask(method, params)[0] == result


def test_rate_limits_need_an_account(client: Client) -> None:
    error, _ = client.ask("account/rateLimits/read", None)
    assert error["message"] == "codex account authentication required to read rate limits"


@pytest.mark.parametrize(
    ("thread", "message"),
    [
        (NOWHERE, f"thread not found: {NOWHERE}"),
        (
            "not-a-uuid",
            f"invalid thread id: invalid character: {EXPECTED_ID}, found `n` at 1",
        ),
        ("abc", "invalid thread id: invalid length: expected length 32 for simple format, found 3"),
    ],
)
def test_a_thread_must_be_loaded(client: Client, thread: str, message: str) -> None:
    error, _ = client.ask("turn/start", {"threadId": thread, "input": []})
    assert error == {"code": -32600, "message": message}


def test_an_unknown_provider_is_refused(client: Client) -> None:
    error, _ = client.ask("thread/start", {"modelProvider": "nope"})
    assert error["message"] == "failed to load configuration: Model provider `nope` not found"
    assert "thread" in client.ask("thread/start", {"modelProvider": "mock"})[0]


def test_a_thread_is_sent_as_it_was_started(client: Client) -> None:
    result, received = client.ask("thread/start", {"cwd": "/x", "model": "m", "sandbox": "workspace-write"})
    assert (result["model"], result["cwd"], result["runtimeWorkspaceRoots"]) == ("m", "/x", ["/x"])
    assert result["sandbox"]["type"] == "workspaceWrite"
    assert received.params_of("thread/started")[0]["thread"] == result["thread"]


# Measured on 0.171.0: an end that nobody has read is sent to every client, as the status is.
def test_who_has_left_a_thread_gets_only_its_status_and_that_it_is_unread(client: Client) -> None:
    thread = client.start_thread(ephemeral=False)
    assert client.ask("thread/unsubscribe", {"threadId": thread})[0] == {"status": "unsubscribed"}
    _, received = client.start_turn(thread, "[[wireproof:text/hello#a]]")
    assert received.methods == [
        "response",
        "thread/status/changed",
        "thread/readState/changed",
        "thread/status/changed",
    ]
    client.ask("thread/resume", {"threadId": thread})
    assert client.start_turn(thread, "[[wireproof:text/hello#a]]")[1].text_deltas


@pytest.mark.parametrize(
    ("method", "notification"), [("thread/archive", "thread/archived"), ("thread/delete", "thread/deleted")]
)
def test_a_thread_that_is_put_away_stops_and_is_gone(client: Client, method: str, notification: str) -> None:
    thread = client.start_thread(ephemeral=False)
    client.start_turn(thread, "[[wireproof:text/silent#a]]")
    result, received = client.ask(method, {"threadId": thread})
    ends = ["account/rateLimits/updated", "thread/status/changed", "turn/completed"]
    assert (result, received.methods) == ({}, [*ends, "thread/status/changed", "response", notification])
    assert client.wait(100.0) == []
    assert client.ask("turn/start", {"threadId": thread, "input": []})[0]["message"] == f"thread not found: {thread}"
    assert '"interrupted"' in client.play("[[wireproof:reflect/turns#a]]").text_deltas[0]


def test_injected_items_are_sent_raw_where_asked_for(client: Client) -> None:
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": []},
        {"type": "message", "role": "assistant", "content": [], "id": "own"},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "r"},
        {"type": "odd"},
    ]
    thread = client.start_thread(experimentalRawEvents=True)
    _, received = client.ask("thread/inject_items", {"threadId": thread, "items": items})
    assert [item["type"] for item in received.raw] == [item["type"] for item in items]
    assert [item["id"].partition("_")[0] for item in received.raw] == ["msg", "own", "fc", "fco", "item"]
    assert {params["turnId"] for params in received.params_of("rawResponseItem/completed")} == {"auto-compact-0"}
    thread = client.start_thread()
    assert client.ask("thread/inject_items", {"threadId": thread, "items": items})[1].methods == ["response"]


def test_a_wrong_item_is_refused_and_nothing_is_injected(client: Client) -> None:
    thread = client.start_thread()
    error, _ = client.ask("thread/inject_items", {"threadId": thread, "items": [{"type": "odd"}, "x"]})
    assert error["message"].startswith("items[1] is not a valid response item")
    assert client.thread(thread).history == []


# Measured on 0.125.0, 0.134.0, 0.149.1, 0.150.1 and 0.171.0; the words for an item changed after 0.169.0.
@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.125.0", "internally tagged enum ResponseItem"),
        ("0.169.0", "internally tagged enum ResponseItem"),
        ("0.171.0", "struct WrappedItem"),
    ],
)
def test_something_must_be_injected_and_items_are_objects(make_client: MakeClient, version: str, expected: str) -> None:
    client = make_client(version=version)
    asked = {"threadId": client.start_thread()}
    assert client.ask("thread/inject_items", {**asked, "items": []})[0]["message"] == "items must not be empty"
    error, _ = client.ask("thread/inject_items", {**asked, "items": ["x"]})
    wrong = f'invalid type: string "x", expected {expected}'
    assert error["message"] == f"items[0] is not a valid response item: {wrong}"


def test_wrong_tools_are_refused(client: Client) -> None:
    error, _ = client.ask("thread/start", {"dynamicTools": [{"name": "a b", "inputSchema": {}}]})
    assert error["message"].startswith("dynamic tool name must match")


def test_an_input_may_be_as_long_as_a_mebi_of_characters(client: Client) -> None:
    thread = client.start_thread()
    text = "é" * 1_048_576
    assert "turn" in client.ask("turn/start", {"threadId": thread, "input": [{"type": "text", "text": text}]})[0]
    given = [{"type": "text", "text": text}, {"type": "text", "text": "!"}]
    assert client.ask("turn/start", {"threadId": thread, "input": given})[0] == {
        "code": -32602,
        "message": "Input exceeds the maximum length of 1048576 characters.",
        "data": {"input_error_code": "input_too_large", "max_chars": 1_048_576, "actual_chars": 1_048_577},
    }


@pytest.mark.parametrize(
    ("image", "accepted"), [({"url": "data:x"}, True), ({"url": None}, True), ({"url": "https://x"}, False)]
)
def test_images_must_be_inline(client: Client, image: dict[str, Any], accepted: bool) -> None:  # noqa: FBT001
    given = [{"type": "image", **image}]
    answer, _ = client.ask("turn/start", {"threadId": client.start_thread(), "input": given})
    assert ("turn" in answer) is accepted


def test_overrides_stay_and_are_sent(client: Client) -> None:
    thread = client.start_thread(ephemeral=False)
    params = {"threadId": thread, "input": [], "model": "other", "effort": "bogus"}
    _, received = client.ask("turn/start", params)
    assert received.methods[0] == "thread/settings/updated"
    assert received.params_of("thread/settings/updated")[0]["threadSettings"]["model"] == "other"
    assert "thread/settings/updated" not in client.ask("turn/start", params)[1].methods


def test_a_turn_can_be_steered_by_its_id(client: Client) -> None:
    thread = client.start_thread()
    given = [{"type": "text", "text": "more"}]
    params = {"threadId": thread, "input": given, "expectedTurnId": "x"}
    assert client.ask("turn/steer", params)[0]["message"] == "no active turn to steer"
    turn, _ = client.start_turn(thread, "[[wireproof:text/hang#a]]")
    assert client.ask("turn/steer", params)[0]["message"] == f"expected active turn id `x` but found `{turn}`"
    result, received = client.ask("turn/steer", {**params, "expectedTurnId": turn})
    assert result == {"turnId": turn}
    assert received.methods[:4] == ["response", "account/rateLimits/updated", "item/started", "item/completed"]
    assert "turn/completed" not in received.methods  # the script in the history plays again


def test_only_the_active_turn_can_be_interrupted(client: Client) -> None:
    thread = client.start_thread()
    params = {"threadId": thread, "turnId": "x"}
    assert client.ask("turn/interrupt", params)[0]["message"] == "no active turn to interrupt"
    turn, _ = client.start_turn(thread, "[[wireproof:text/hang#a]]")
    assert client.ask("turn/interrupt", params)[0]["message"] == f"expected active turn id x but found {turn}"


@pytest.mark.parametrize(("ephemeral", "first"), [(True, "thread/status/changed"), (False, "response")])
def test_on_threads_in_memory_the_turn_starts_before_it_is_answered(
    client: Client, *, ephemeral: bool, first: str
) -> None:
    _, received = client.start_turn(client.start_thread(ephemeral=ephemeral), "[[wireproof:text/hello#a]]")
    assert received.methods[0] == first


def test_the_clients_id_of_its_message_is_sent_back(client: Client) -> None:
    params = {
        "threadId": client.start_thread(),
        "input": [{"type": "text", "text": "x"}],
        "clientUserMessageId": "mine",
    }
    _, received = client.ask("turn/start", params)
    assert received.params_of("item/started")[0]["item"]["clientId"] == "mine"


def test_developer_text_that_asks_for_a_crash_ends_the_process_when_the_thread_is_started(client: Client) -> None:
    params = {"developerInstructions": "[[wireproof:fail/crash-thread#x]]"}
    assert client.send({"id": 7, "method": "thread/start", "params": params}) == []
    assert client.exit == 101


@pytest.mark.parametrize(
    "text", ["", "[[wireproof:fail/first#x]]", "[[wireproof:no/such-script#x]]", "[[wireproof:text/empty#x]]"]
)
def test_other_developer_text_ends_nothing(client: Client, text: str) -> None:
    assert "thread" in client.ask("thread/start", {"developerInstructions": text})[0]
    assert client.exit is None
