from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wireproof_scripts.steps import Gate, Hang, Overload, Say, Script

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import Client, MakeClient

HANGS = {"a": Script(name="a", title="", parts=((Say(("x",)), Hang()),))}
QUEUED = {"a": Script(name="a", title="", parts=((Gate(timeout=1.0, late="late"),), (Say(("again",)),)))}
WAITS = {"a": Script(name="a", title="", parts=((Gate(timeout=1.0, late="late"),),))}


def _given(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def test_input_for_a_busy_thread_joins_its_turn(make_client: MakeClient) -> None:
    client = make_client(HANGS)
    thread = client.start_thread()
    turn, _ = client.start_turn(thread, "[[wireproof:a#1]]")
    again, received = client.start_turn(thread, "more")
    assert again == turn
    assert "turn/started" not in received.methods


def test_in_older_versions_it_is_sent_as_a_turn_that_never_ends(make_client: MakeClient) -> None:
    client = make_client(QUEUED, version="0.89.0")
    thread = client.start_thread()
    assert client.start_turn(thread, "[[wireproof:a#1]]")[0] == "0"
    turn, received = client.start_turn(thread, "more")
    assert (turn, received.params_of("turn/started")[0]["turn"]["id"]) == ("1", "1")
    received = client.wait(1.0)
    assert received.text_deltas == ["late", "again"]
    assert [params["turn"]["id"] for params in received.params_of("turn/completed")] == ["0"]


@pytest.mark.parametrize(("version", "items"), [("0.96.0", 0), ("0.98.0", 1), ("0.142.0", 1), ("0.150.0", 1)])
def test_input_that_waits_for_the_answer_is_sent_as_an_item_where_the_version_does(
    make_client: MakeClient, version: str, items: int
) -> None:
    client = make_client(QUEUED, version=version)
    thread = client.start_thread()
    turn, _ = client.start_turn(thread, "[[wireproof:a#1]]")
    again, received = client.start_turn(thread, "more")
    assert (again == turn) is (version == "0.150.0")
    assert received.params_of("item/started") == []
    types = [item["item"]["type"] for item in client.wait(1.0).params_of("item/started")]
    assert types == ["agentMessage", *["userMessage"] * items, "agentMessage"]


@pytest.mark.parametrize(
    ("version", "methods"),
    [
        ("0.99.0", ["turn/started"]),
        ("0.110.0", []),
        ("0.118.0", ["thread/status/changed", "error"]),
    ],
)
def test_a_turn_without_input_may_never_end(make_client: MakeClient, version: str, methods: list[str]) -> None:
    client = make_client(version=version)
    _, received = client.start_turn(client.start_thread(), None)
    assert received.methods == ["response", *methods]


def test_later_a_turn_without_input_asks_the_model(make_client: MakeClient) -> None:
    client = make_client(version="0.134.0")
    assert "turn/completed" in client.start_turn(client.start_thread(), None)[1].methods


def test_in_older_versions_a_turn_without_input_ends_at_once(older: Client) -> None:
    turn, received = older.start_turn(older.start_thread(), None)
    assert turn == "0"
    assert received.methods == ["response", "turn/started", "codex/event/task_complete", "turn/completed"]


def test_an_interrupt_must_name_the_running_turn(make_client: MakeClient) -> None:
    client = make_client(HANGS)
    thread = client.start_thread()
    asked = {"threadId": thread, "turnId": "x"}
    assert client.ask("turn/interrupt", asked)[0]["message"] == "no active turn to interrupt"
    turn, _ = client.start_turn(thread, "[[wireproof:a#1]]")
    assert client.ask("turn/interrupt", asked)[0]["message"] == f"expected active turn id x but found {turn}"


# Measured on 0.99.0, 0.107.0, 0.125.0, 0.134.0, 0.142.5, 0.146.0, 0.149.1, 0.150.1, 0.155.1 and 0.171.0.
@pytest.mark.parametrize("version", ["0.125.0", "0.134.0", "0.171.0"])
def test_an_interrupt_of_no_turn_by_name_is_answered_and_ends_what_runs(make_client: MakeClient, version: str) -> None:
    client = make_client(HANGS, version=version)
    thread = client.start_thread()
    asked = {"threadId": thread, "turnId": ""}
    assert client.ask("turn/interrupt", asked) == ({}, [{"id": 1002, "result": {}}])
    client.start_turn(thread, "[[wireproof:a#1]]")
    _, received = client.ask("turn/interrupt", asked)
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "interrupted"


def test_older_versions_do_not_answer_it_on_an_idle_thread(make_client: MakeClient) -> None:
    client = make_client(version="0.107.0")
    asked = {"threadId": client.start_thread(), "turnId": ""}
    assert client.send({"id": 1, "method": "turn/interrupt", "params": asked}) == []


# Measured on 0.149.1, 0.150.1, 0.155.1, 0.171.0 and on 0.134.0, 0.142.5, 0.146.0.
@pytest.mark.parametrize("version", ["0.149.1", "0.171.0"])
def test_a_running_turn_is_not_joined_without_input(make_client: MakeClient, version: str) -> None:
    client = make_client(HANGS, version=version)
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:a#1]]")
    answer, received = client.ask("turn/start", {"threadId": thread, "input": [], "effort": "high"})
    assert answer == {"code": -32603, "message": "failed to submit turn input: EmptyInput"}
    assert received.methods == ["response"]


@pytest.mark.parametrize("version", ["0.125.0", "0.134.0", "0.146.0"])
def test_in_between_it_is_an_error_of_a_turn_of_its_own(make_client: MakeClient, version: str) -> None:
    client = make_client(HANGS, version=version)
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:a#1]]")
    _, received = client.start_turn(thread, None)
    assert received.methods == ["response", "thread/status/changed", "error"]
    assert received.params_of("thread/status/changed")[0]["status"] == {"type": "systemError"}
    # Seen of 0.125.0: a thread that has failed is not said to fail once more.
    assert client.start_turn(thread, None)[1].methods == ["response", "error"]


# Measured on 0.134.0, 0.149.1, 0.150.1 and 0.171.0.
@pytest.mark.parametrize(("version", "sent"), [("0.134.0", 1), ("0.150.0", 1), ("0.171.0", 1), ("0.125.0", 0)])
def test_input_for_a_running_turn_changes_the_settings(make_client: MakeClient, version: str, sent: int) -> None:
    client = make_client(HANGS, version=version)
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:a#1]]")
    for params, times in (({"effort": "high"}, sent), ({"effort": "high"}, 0), ({"model": "mock-model"}, 0)):
        _, received = client.ask("turn/start", {"threadId": thread, "input": _given("more"), **params})
        updated = received.params_of("thread/settings/updated")
        assert [it["threadSettings"]["effort"] for it in updated] == ["high"] * times
    assert client.thread(thread).settings.effort == "high"


# Measured on 0.99.0, 0.125.0, 0.134.0, 0.150.1 and 0.171.0.
@pytest.mark.parametrize(
    ("version", "idle"),
    [
        ("0.99.0", "input must not be empty"),
        ("0.125.0", "input must not be empty"),
        ("0.134.0", "no active turn to steer"),
        ("0.171.0", "no active turn to steer"),
    ],
)
def test_steering_needs_a_turn_and_input(make_client: MakeClient, version: str, idle: str) -> None:
    client = make_client(HANGS, version=version)
    thread = client.start_thread()

    def refused(turn: str, given: list[dict[str, str]]) -> str:
        return str(client.ask("turn/steer", {"threadId": thread, "expectedTurnId": turn, "input": given})[0]["message"])

    assert refused("x", []) == idle
    assert refused("", []) == refused("", _given("x" * 1_048_577)) == "expectedTurnId must not be empty"
    turn, _ = client.start_turn(thread, "[[wireproof:a#1]]")
    assert refused(turn, []) == "input must not be empty"
    assert refused("", _given("x")) == "expectedTurnId must not be empty"


def test_in_older_versions_any_id_will_do_and_an_idle_thread_does_not_answer(
    make_client: MakeClient,
) -> None:
    client = make_client(HANGS, version="0.89.0")
    thread = client.start_thread()
    asked = {"threadId": thread, "turnId": "x"}
    assert client.send({"id": "early", "method": "turn/interrupt", "params": asked}) == []
    client.start_turn(thread, "[[wireproof:a#1]]")
    received = client.send({"id": "now", "method": "turn/interrupt", "params": asked})
    assert [message["id"] for message in received if "result" in message] == ["early", "now"]
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "interrupted"
    assert client.start_turn(thread, "[[wireproof:a#1]]")[0] == "3"


def test_overrides_are_counted_where_turns_are(older: Client) -> None:
    thread = older.start_thread()
    params = {"threadId": thread, "input": _given("hi"), "model": "other"}
    assert older.ask("turn/start", params)[0]["turn"]["id"] == "1"


def test_a_long_input_is_refused_where_there_is_a_limit(client: Client, older: Client) -> None:
    for who, refused in ((client, True), (older, False)):
        thread = who.start_thread()
        answer, _ = who.ask("turn/start", {"threadId": thread, "input": _given("x" * 1_048_577)})
        assert ("code" in answer) is refused


@pytest.mark.parametrize("item", [{"type": "audio"}, {"type": "mention", "name": "a", "path": "b"}])
def test_older_versions_know_fewer_kinds_of_input(older: Client, item: dict[str, str]) -> None:
    answer, _ = older.ask("turn/start", {"threadId": older.start_thread(), "input": [item]})
    assert answer["message"].endswith("expected one of `text`, `image`, `localImage`, `skill`")


def test_an_overloaded_server_refuses_turns_as_often_as_the_script_says(make_client: MakeClient) -> None:
    part = (Overload(times=2), Say(("x",)))
    client = make_client({"a": Script(name="a", title="", parts=(part,))})
    params = {"threadId": client.start_thread(), "input": _given("[[wireproof:a#1]]")}
    for _ in range(2):
        error, received = client.ask("turn/start", params)
        assert error == {"code": -32001, "message": "Server overloaded; retry later."}
        assert received.methods == ["response"]
    assert client.ask("turn/start", params)[1].text_deltas == ["x"]


def test_other_nonces_are_refused_anew(client: Client) -> None:
    thread = client.start_thread()
    for nonce in ("1", "2"):
        params = {"threadId": thread, "input": _given(f"[[wireproof:act/overload#{nonce}]]")}
        assert client.ask("turn/start", params)[0]["code"] == -32001
        assert client.ask("turn/start", params)[1].text_deltas == ["Do", "ne."]
