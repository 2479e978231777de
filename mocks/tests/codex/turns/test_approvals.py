"""Commands that the backend runs and files that it adds, and what becomes of them as the client answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex.versions import version as versions
from wireproof_scripts.steps import Command, Hang, Patch, Question, Say, Script, Step

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import Client, MakeClient

TOUCH = Command(id="call_1", command="touch a.txt && echo done", output="done\n")
ADD = Patch(id="call_1", path="new.txt", content="one\ntwo\n")
NEWEST, OLDEST = versions.NEWEST.number, "0.89.0"


@pytest.fixture
def make(make_client: MakeClient) -> Any:
    """A client whose turn plays these steps, then says what the model says; everything received until it waits."""

    def play(*steps: Step, version: str = NEWEST, policy: str = "untrusted") -> tuple[Any, Any]:
        library = {"a": Script(name="a", title="", parts=(steps, (Say(("So.",)),)))}
        client = make_client(library, version=version)
        return client, client.play("[[wireproof:a#1]]", approvalPolicy=policy)

    return play


def items(received: Any) -> list[tuple[str, str]]:
    """The statuses of the backend's own tools, as they were sent."""
    messages = [message for message in received if message.get("method", "").startswith("item/")]
    return [
        (it["method"], it["params"]["item"]["status"]) for it in messages if "status" in it["params"].get("item", {})
    ]


def statuses(received: Any) -> list[list[str]]:
    return [params["status"].get("activeFlags", []) for params in received.params_of("thread/status/changed")]


def request(received: Any) -> Any:
    (asked,) = [message for message in received if str(message.get("method")).endswith("requestApproval")]
    return asked


def decide(client: Client, decision: Any) -> Any:
    return client.send({"id": 0, "result": {"decision": decision}})


def test_a_command_is_asked_for_and_the_thread_waits(make: Any) -> None:
    _, received = make(TOUCH)
    asked = request(received)
    assert asked["method"] == "item/commandExecution/requestApproval"
    assert asked["params"]["command"] == "/bin/bash -lc 'touch a.txt && echo done'"
    assert asked["params"]["proposedExecpolicyAmendment"] == ["touch", "a.txt"]
    assert "reason" not in asked["params"]
    assert statuses(received)[-1] == ["waitingOnApproval"]
    assert items(received) == [("item/started", "inProgress")]


@pytest.mark.parametrize("decision", ["accept", "acceptForSession", {"acceptWithExecpolicyAmendment": {}}])
def test_an_accepted_command_runs_and_the_model_goes_on(make: Any, decision: Any) -> None:
    client, _ = make(TOUCH)
    received = decide(client, decision)
    assert received.methods[:3] == ["serverRequest/resolved", "thread/status/changed", "item/completed"]
    item = received.params_of("item/completed")[0]["item"]
    assert (item["status"], item["aggregatedOutput"], item["exitCode"]) == ("completed", "done\n", 0)
    assert (item["source"], received.text_deltas) == ("unifiedExecStartup", ["So."])
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "completed"


def test_a_command_that_fails_ends_so(make: Any) -> None:
    _, received = make(Command(id="c", command="false", status=1, asks="never"))
    assert items(received) == [("item/started", "inProgress"), ("item/completed", "failed")]


@pytest.mark.parametrize(
    ("version", "answer", "expected"),
    [
        (NEWEST, {"result": {"decision": "decline"}}, ["declined"]),
        (NEWEST, {"result": {"decision": "approved"}}, ["failed"]),
        (NEWEST, {"result": None}, ["failed"]),
        (NEWEST, {"error": {"code": -32601, "message": "no"}}, ["failed"]),
        ("0.142.0", {"result": {"decision": "approved"}}, ["declined"]),
        ("0.99.0", {"result": {"decision": "decline"}}, ["declined"]),
        ("0.94.0", {"error": {"code": -32601, "message": "no"}}, ["failed", "failed"]),
        (OLDEST, {"result": {"decision": "decline"}}, ["declined", "failed"]),
        (OLDEST, {"result": {"decision": "approved"}}, ["declined", "failed"]),
    ],
)
def test_what_is_not_approved_of_does_not_run_and_the_model_goes_on(
    make: Any, version: str, answer: Any, expected: list[str]
) -> None:
    client, _ = make(TOUCH, version=version)
    received = client.send({"id": 0, **answer})
    assert items(received) == [("item/completed", status) for status in expected]
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "completed"


# Measured on 0.171.0, which else cuts an answer off for more input.
def test_more_input_waits_for_the_answer_to_a_request_for_approval(make: Any) -> None:
    client, received = make(TOUCH)
    thread = request(received)["params"]["threadId"]
    _, received = client.start_turn(thread, "more")
    assert received.methods == ["response"]
    received = decide(client, "decline")
    assert items(received) == [("item/completed", "declined")]
    assert [it["item"]["type"] for it in received.params_of("item/started")] == ["userMessage", "agentMessage"]


def test_the_oldest_version_waits_for_ever_after_an_error(make: Any) -> None:
    client, _ = make(TOUCH, version=OLDEST)
    assert client.send({"id": 0, "error": {"code": -32601, "message": "no"}}) == []
    assert client.wait(1000.0) == []


def test_a_line_of_a_diff_ends_where_git_ends_it(make: Any) -> None:
    client, _ = make(replace(ADD, content="one\u2028line\r\ntwo\n"))
    received = decide(client, "accept")
    diffs = {diff["diff"].partition("@@ -0,0 ")[2] for diff in received.params_of("turn/diff/updated")}
    assert diffs == {"+1,2 @@\n+one\u2028line\r\n+two\n"}


@pytest.mark.parametrize(("version", "expected"), [(NEWEST, ["declined"]), (OLDEST, ["declined", "failed"])])
def test_a_cancelled_command_interrupts_the_turn(make: Any, version: str, expected: list[str]) -> None:
    client, _ = make(TOUCH, version=version)
    received = decide(client, "cancel")
    assert items(received) == [("item/completed", status) for status in expected]
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "interrupted"
    assert received.text_deltas == []


def test_an_answer_that_comes_too_late_counts_where_turns_are_counted(make: Any) -> None:
    client, received = make(TOUCH, version=OLDEST)
    turn = received.params_of("turn/started")[0]
    client.ask("turn/interrupt", {"threadId": turn["threadId"], "turnId": "0"})
    assert decide(client, "accept") == []
    assert client.start_turn(turn["threadId"], "hello")[0] == "3"


def test_an_interrupt_leaves_the_request_and_says_so_afterwards(make: Any) -> None:
    client, received = make(TOUCH)
    turn = received.params_of("turn/started")[0]
    _, received = client.ask("turn/interrupt", {"threadId": turn["threadId"], "turnId": turn["turn"]["id"]})
    assert received.methods[-2:] == ["turn/completed", "serverRequest/resolved"]
    assert items(received) == []
    assert statuses(received)[-1] == []
    assert decide(client, "accept") == []
    assert client.start_turn(turn["threadId"], "hello")[1].params_of("turn/completed")


@pytest.mark.parametrize(
    ("policy", "asks", "asked"),
    [
        ("never", "policy", False),
        ("on-request", "policy", True),
        ("never", "always", True),
        ("untrusted", "never", False),
    ],
)
def test_whether_the_client_is_asked_the_policy_says_or_the_script(
    make: Any,
    policy: str,
    asks: Any,
    asked: bool,  # noqa: FBT001 - a row of the table
) -> None:
    _, received = make(Command(id="c", command="ls", asks=asks), policy=policy)
    assert any(str(message.get("method")).endswith("requestApproval") for message in received) is asked
    assert bool(received.params_of("turn/completed")) is not asked


def test_without_an_environment_nothing_runs(make_client: MakeClient) -> None:
    client = make_client({"a": Script(name="a", title="", parts=((TOUCH,), (Say(("So.",)),)))})
    received = client.play("[[wireproof:a#1]]", approvalPolicy="untrusted", environments=[])
    assert items(received) == []
    assert received.params_of("turn/completed")


def test_a_patch_is_asked_for_and_sent_as_a_diff(make: Any) -> None:
    client, received = make(ADD)
    assert request(received)["method"] == "item/fileChange/requestApproval"
    assert received.params_of("item/started")[-1]["item"]["changes"] == [
        {"path": "/workspace/new.txt", "kind": {"type": "add"}, "diff": "one\ntwo\n"}
    ]
    received = decide(client, "accept")
    assert items(received) == [("item/completed", "completed")]
    diffs = {diff["diff"] for diff in received.params_of("turn/diff/updated")}
    # The name of the blob is git's own, of these eight bytes.
    diff = (
        "diff --git a/new.txt b/new.txt\nnew file mode 100644\n"
        "index 0000000000000000000000000000000000000000..814f4a422927b82f5f8a43f8fab6d3839e3983f2\n"
        "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n"
    )
    assert diffs == {diff}


@pytest.mark.parametrize(("version", "expected"), [(NEWEST, ["declined"]), (OLDEST, ["declined", "failed"])])
def test_a_declined_patch_changes_nothing(make: Any, version: str, expected: list[str]) -> None:
    client, _ = make(ADD, version=version)
    received = decide(client, "decline")
    assert items(received) == [("item/completed", status) for status in expected]
    assert received.params_of("turn/diff/updated") == []


def test_the_older_family_sends_both_too(make: Any) -> None:
    client, received = make(Command(id="c", command="echo 'it''s'", output="its\n", reason="why"), version=OLDEST)
    assert received.events("exec_command_begin")[0]["command"] == ["bash", "-lc", "echo 'it''s'"]
    assert received.events("exec_approval_request")[0]["reason"] == "why"
    received = decide(client, "accept")
    assert received.events("exec_command_output_delta")[0]["chunk"] == "aXRzCg=="
    assert received.params_of("item/commandExecution/outputDelta")[0]["delta"] == "its\n"
    assert received.events("exec_command_end")[0]["stdout"] == "its\n"
    client, received = make(ADD, version=OLDEST)
    assert received.events("apply_patch_approval_request")[0]["changes"] == {
        "/workspace/new.txt": {"type": "add", "content": "one\ntwo\n"}
    }
    assert decide(client, "accept").events("patch_apply_end")[0]["success"] is True


def test_ids_of_requests_are_the_servers_own(make: Any) -> None:
    client, _ = make(TOUCH, Command(id="call_2", command="ls"), Hang())
    received = client.send({"id": 1, "result": {"decision": "accept"}})
    assert received.params_of("serverRequest/resolved")[0]["requestId"] == 1
    assert client.context.wake_at() is None


@pytest.fixture
def converse(make_client: MakeClient) -> Any:
    """A client whose conversation of the v1 methods plays these steps; everything received until it waits."""

    def play(step: Step, version: str = OLDEST) -> tuple[Any, Any]:
        client = make_client({"a": Script(name="a", title="", parts=((step,), (Say(("So.",)),)))}, version=version)
        conversation = client.ask("newConversation", {"approvalPolicy": "untrusted"})[0]["conversationId"]
        client.ask("addConversationListener", {"conversationId": conversation})
        items = [{"type": "text", "data": {"text": "[[wireproof:a#1]]"}}]
        return client, client.ask("sendUserMessage", {"conversationId": conversation, "items": items})[1]

    return play


@pytest.mark.parametrize(("decision", "status"), [("approved", "completed"), ("denied", "failed")])
def test_conversations_ask_in_the_words_of_v1(converse: Any, decision: str, status: str) -> None:
    client, received = converse(TOUCH)
    (asked,) = [message for message in received if message.get("method") == "execCommandApproval"]
    assert list(asked["params"]) == ["conversationId", "callId", "command", "cwd", "reason", "parsedCmd"]
    assert asked["params"]["command"] == ["bash", "-lc", "touch a.txt && echo done"]
    assert items(decide(client, decision)) == [("item/completed", status)]


def test_conversations_ask_for_patches_in_the_words_of_v1(converse: Any) -> None:
    client, received = converse(ADD)
    (asked,) = [message for message in received if message.get("method") == "applyPatchApproval"]
    assert asked["params"]["fileChanges"] == {"/workspace/new.txt": {"type": "add", "content": "one\ntwo\n"}}
    assert items(decide(client, {"approved_execpolicy_amendment": {}})) == [("item/completed", "completed")]


def test_some_versions_tell_a_command_only_once_it_runs(make: Any, converse: Any) -> None:
    client, received = make(TOUCH, version="0.107.0")
    assert items(received) == []
    assert items(decide(client, "accept")) == [("item/started", "inProgress"), ("item/completed", "completed")]
    client, _ = converse(TOUCH, "0.107.0")
    received = decide(client, "denied")
    assert (items(received), received.params_of("serverRequest/resolved")) == ([], [])
    assert received.params_of("turn/completed")


def test_a_command_prints_in_pieces_and_where_errors_are(make: Any) -> None:
    steps = Command(id="c", command="echo x; ls", output="one two", pieces=("one ", "two"), stderr=True, status=2)
    _, received = make(steps, version=OLDEST, policy="never")
    assert [params_of["delta"] for params_of in received.params_of("item/commandExecution/outputDelta")] == [
        "one ",
        "two",
    ]
    assert {event["stream"] for event in received.events("exec_command_output_delta")} == {"stderr"}
    (end,) = received.events("exec_command_end")
    assert (end["stdout"], end["stderr"], end["exit_code"]) == ("", "one two", 2)
    assert [part["cmd"] for part in end["parsed_cmd"]] == ["ls"]
    assert "stream" not in str(received.params_of("item/completed"))


@pytest.mark.parametrize(("sandbox", "tries"), [("read-only", 2), ("workspace-write", 1)])
def test_older_versions_try_an_approved_patch_in_the_sandbox_first(
    make_client: MakeClient, sandbox: Any, tries: int
) -> None:
    client = make_client({"a": Script(name="a", title="", parts=((ADD,), (Say(("So.",)),)))}, version=OLDEST)
    client.play("[[wireproof:a#1]]", approvalPolicy="untrusted", sandbox=sandbox)
    received = decide(client, "accept")
    outputs = [outputs["delta"] for outputs in received.params_of("item/fileChange/outputDelta")]
    assert len(outputs) == tries
    assert outputs[-1].startswith("Success")


ASKS = Question(id="call_1", question="Proceed?", header="H", options=("Yes", "No"))


def test_the_user_is_asked_and_the_answer_goes_to_the_model(make: Any) -> None:
    client, received = make(ASKS, policy="never")
    (asked,) = [message["params"] for message in received if message.get("method") == "item/tool/requestUserInput"]
    (question,) = asked["questions"]
    assert (question["question"], [it["label"] for it in question["options"]]) == ("Proceed?", ["Yes", "No"])
    assert (asked["itemId"], asked["isBlocking"], statuses(received)[-1]) == ("call_1", True, ["waitingOnUserInput"])
    received = client.send({"id": 0, "result": {"answers": {"q1": {"answers": ["Yes"]}}}})
    assert received.methods[:2] == ["serverRequest/resolved", "thread/status/changed"]
    assert (received.text_deltas, len(received.params_of("turn/completed"))) == (["So."], 1)


PLANNING = {"mode": "plan", "settings": {"model": "m"}}


@pytest.mark.parametrize(
    ("asks", "planning", "asked"),
    [("policy", True, True), ("policy", False, False), ("never", True, False), ("always", False, True)],
)
def test_where_the_user_does_not_plan_the_model_may_not_ask(
    make_client: MakeClient, asks: Any, planning: Any, asked: Any
) -> None:
    steps = (replace(ASKS, asks=asks),), (Say(("So.",)),)
    client = make_client({"a": Script(name="a", title="", parts=steps)})
    thread = client.start_thread(experimentalRawEvents=True)
    mode = {"collaborationMode": PLANNING} if planning else {}
    given = [{"type": "text", "text": "[[wireproof:a#1]]"}]
    _, received = client.ask("turn/start", {"threadId": thread, "input": given, **mode})
    assert any(message.get("method") == "item/tool/requestUserInput" for message in received) is asked
    assert [
        params["threadSettings"]["collaborationMode"]["mode"]
        for params in received.params_of("thread/settings/updated")
    ] == (["plan"] if planning else [])
    if not asked:
        mode_named = "Plan" if planning else "Default"
        assert [item["type"] for item in received.raw] == [
            "message",
            "function_call",
            "function_call_output",
            "message",
        ]
        assert received.raw[2]["output"] == f"request_user_input is unavailable in {mode_named} mode"


def test_the_older_family_sends_a_question_too(make: Any) -> None:
    _, received = make(ASKS, version=OLDEST)
    (asked,) = [message["params"] for message in received if message.get("method") == "item/tool/requestUserInput"]
    questions = [{"id": "q1", "header": "H", "question": "Proceed?", "options": asked["questions"][0]["options"]}]
    assert (asked["questions"], received.events("request_user_input")[0]["questions"]) == (questions, questions)
    assert "isBlocking" not in asked


def test_a_free_question_has_no_options(make: Any) -> None:
    _, received = make(Question(id="c", question="Which?"))
    assert received[-1]["params"]["questions"][0]["options"] is None
