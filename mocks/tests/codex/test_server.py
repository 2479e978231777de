from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_codex.context import ServerContext
from wireproof_codex.methods.table import METHODS
from wireproof_codex.protocol.outputs import CrashAt
from wireproof_codex.server import AppServer
from wireproof_codex.versions.version import NEWEST
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Call, Gate, Pause, Say, Script

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import Client, MakeClient

CLIENT = {"clientInfo": {"name": "x", "version": "1"}}


def test_nothing_is_answered_before_the_handshake_but_the_handshake(stranger: Client) -> None:
    assert stranger.ask("thread/start", {})[0] == {"code": -32600, "message": "Not initialized"}
    assert stranger.send({"method": "initialized"}) == []
    result, received = stranger.ask("initialize", CLIENT)
    assert result["userAgent"] == f"x/{NEWEST.number} (Debian 12.0.0; x86_64) unknown (x; 1)"
    assert received.methods == ["response", "remoteControl/status/changed"]
    assert stranger.ask("initialize", CLIENT)[0]["message"] == "Already initialized"


def test_a_handshake_that_failed_can_be_repeated(stranger: Client) -> None:
    assert "missing field" in stranger.ask("initialize", {})[0]["message"]
    assert "userAgent" in stranger.ask("initialize", CLIENT)[0]


def test_an_unknown_method_is_answered_with_all_the_known_ones(client: Client) -> None:
    error, _ = client.ask("no/such/method", {})
    known = ", ".join(f"`{name}`" for name in NEWEST.requests.methods)
    assert error["message"] == f"Invalid request: unknown variant `no/such/method`, expected one of {known}"


def test_a_method_that_is_not_played_says_so(client: Client) -> None:
    assert client.ask("fs/readFile", {})[0]["message"] == "wireproof-codex does not play fs/readFile"


def test_what_is_experimental_needs_the_capability(stranger: Client) -> None:
    stranger.ask("initialize", CLIENT)
    for params, field in (
        ({"dynamicTools": []}, "dynamicTools"),
        ({"mockExperimentalField": "x"}, "mockExperimentalField"),
    ):
        error, _ = stranger.ask("thread/start", params)
        assert error["message"] == f"thread/start.{field} requires experimentalApi capability"
    error, _ = stranger.ask("collaborationMode/list", {})
    assert error["message"] == "collaborationMode/list requires experimentalApi capability"
    assert "thread" in stranger.ask("thread/start", {"dynamicTools": None})[0]


def test_the_read_state_is_sent_with_the_capability_alone(client: Client, stranger: Client) -> None:
    stranger.ask("initialize", CLIENT)
    for who, times in ((client, 1), (stranger, 0)):
        received = who.play("[[wireproof:text/hello#a]]", ephemeral=False)
        assert len(received.params_of("thread/readState/changed")) == times


def test_notifications_can_be_muted_by_name(stranger: Client) -> None:
    stranger.shake_hands(optOutNotificationMethods=["turn/started", "item/agentMessage/delta", "unknown"])
    received = stranger.play("[[wireproof:text/hello#a]]")
    assert not {"turn/started", "item/agentMessage/delta"} & set(received.methods)
    assert "item/completed" in received.methods


def test_bad_lines_are_mentioned_and_not_answered(client: Client) -> None:
    for line in (b"", b"no json", b"[]", b'{"foo":1}'):
        assert client.send_line(line) == []
    assert all(note.startswith("Failed to deserialize JSONRPCMessage: ") for note in client.notes)
    assert len(client.notes) == 4
    assert client.send({"method": "unknown/notification", "params": {}}) == []


def test_bytes_that_are_no_utf8_end_the_process(client: Client) -> None:
    client.send_line(b'{"id":1,"method":"\xff"}')
    assert client.exit == 0
    assert client.notes == ["Failed reading stdin: stream did not contain valid UTF-8"]


@pytest.mark.parametrize("answer", [{"id": 999, "result": {}}, {"id": "x", "error": {"code": 1, "message": ""}}])
def test_answers_to_nothing_are_mentioned(client: Client, answer: dict[str, Any]) -> None:
    assert client.send(answer) == []
    assert client.notes == [f"could not find callback for {answer['id']!r}"]


def test_equal_ids_are_both_answered(client: Client) -> None:
    request = json.dumps({"id": 60, "method": "thread/loaded/list", "params": {}}).encode()
    client.server.receive(request)
    assert [message["id"] for message in client.send_line(request)] == [60, 60]


def test_many_requests_are_answered_in_their_order(client: Client) -> None:
    for number in range(5000):
        client.server.receive(b'{"id":%d,"method":"thread/loaded/list","params":{}}' % number)
    assert client.server.backlog == 5000
    assert [message["id"] for message in client.receive()] == list(range(5000))


def test_notifications_carry_the_time() -> None:
    server = AppServer(ServerContext(LIBRARY, clock=lambda: 5.0))
    server.receive(json.dumps({"id": 1, "method": "initialize", "params": CLIENT}).encode())
    lines = [server.output(), server.output()]
    assert [b"emittedAtMs" in line for line in lines if isinstance(line, bytes)] == [False, True]
    assert isinstance(lines[1], bytes)
    assert lines[1].endswith(b'"emittedAtMs":5000}\n')


def _say(times: int) -> dict[str, Script]:
    return {"a": Script(name="a", title="", parts=((Say(("x",), times=times),),))}


def test_turns_take_turns(make_client: MakeClient) -> None:
    client = make_client(_say(3))
    threads = [client.start_thread() for _ in range(2)]
    for number, thread in enumerate(threads):
        text = [{"type": "text", "text": "[[wireproof:a#1]]"}]
        request = {"id": number, "method": "turn/start", "params": {"threadId": thread, "input": text}}
        client.server.receive(json.dumps(request).encode())
    order = [threads.index(params["threadId"]) for params in client.receive().params_of("item/agentMessage/delta")]
    assert order == [0, 1, 0, 1, 0, 1]


def test_a_turn_is_played_only_as_far_as_it_is_fetched(make_client: MakeClient) -> None:
    client = make_client(_say(1_000_000_000))
    thread = client.start_thread()
    text = [{"type": "text", "text": "[[wireproof:a#1]]"}]
    request = {"id": "t", "method": "turn/start", "params": {"threadId": thread, "input": text}}
    client.server.receive(json.dumps(request).encode())
    fetched = [client.server.output() for _ in range(50)]
    assert client.server.backlog == 0
    lines = [line for line in fetched if isinstance(line, bytes)]
    turn = json.loads(next(line for line in lines if line.startswith(b'{"id":"t"')))["result"]["turn"]["id"]
    received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})[1]
    assert received.methods[-1] == "turn/completed"


def test_the_server_says_when_it_wants_to_be_woken(make_client: MakeClient) -> None:
    client = make_client({"a": Script(name="a", title="", parts=((Pause(2.0), Say(("x",)), Pause(1.0)),))})
    assert client.context.wake_at() is None
    client.play("[[wireproof:a#1]]")
    client.now += 0.5
    client.play("[[wireproof:a#1]]")
    start = client.now
    assert client.context.wake_at() == start + 1.5
    assert client.wait(1.5).text_deltas == ["x"]
    assert client.context.wake_at() == start + 2.0
    assert client.wait(0.5).text_deltas == ["x"]
    assert client.wait(5.0).methods.count("turn/completed") == 2
    assert client.context.wake_at() is None


PACE = 0.02


def test_the_model_answers_a_moment_after_the_response(make_client: MakeClient) -> None:
    client = make_client(_say(1), pace=PACE)
    received = client.play("[[wireproof:a#1]]")
    assert received.methods[-4:] == ["turn/started", "response", "item/started", "item/completed"]
    assert client.context.wake_at() == client.now + 0.02
    assert client.wait(0.01) == []
    received = client.wait(0.01)
    assert (received.text_deltas, received.methods[-1]) == (["x"], "turn/completed")


def test_many_turns_wait_for_the_model_together(make_client: MakeClient) -> None:
    client = make_client(_say(1), pace=PACE)
    for _ in range(40):
        client.play("[[wireproof:a#1]]")
    assert client.wait(0.02).methods.count("turn/completed") == 40


def test_only_the_first_answer_of_a_turn_takes_a_moment(make_client: MakeClient) -> None:
    call = Call(id="c", name="f", arguments="{}")
    client = make_client({"a": Script(name="a", title="", parts=((call,), (Say(("x",)),)))}, pace=PACE)
    client.play("[[wireproof:a#1]]", "f")
    asked = client.wait(0.02).tool_requests
    assert client.answer(asked[0]["id"]).methods[-1] == "turn/completed"


@pytest.mark.parametrize("version", ["0.89.0", NEWEST.number])
def test_a_turn_can_be_interrupted_before_the_model_answers(make_client: MakeClient, version: str) -> None:
    client = make_client(_say(1), version=version, pace=PACE)
    thread = client.start_thread()
    turn, _ = client.start_turn(thread, "[[wireproof:a#1]]")
    _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert [params["turn"]["status"] for params in received.params_of("turn/completed")] == ["interrupted"]
    assert client.wait(1.0) == []


def test_a_turn_that_is_woken_early_keeps_its_time(make_client: MakeClient) -> None:
    parts = (Gate(timeout=5.0), Say(("x",))), (Gate(timeout=5.0), Say(("x",))), (), ()
    client = make_client({"a": Script(name="a", title="", parts=parts)})
    for number in range(len(parts)):
        client.play(f"[[wireproof:a#1]] {number}")
    assert client.context.wake_at() == client.now + 5.0
    assert client.wait(5.0).text_deltas.count("x") == 2


def test_finished_turns_leave_nothing_behind(client: Client) -> None:
    for number in range(20):
        thread = client.start_thread("localSearch", "readNote")
        client.start_turn(thread, f"[[wireproof:text/gate#{number}]]")
        client.play(f"[[wireproof:open/gate#{number}]]")
        asked = client.start_turn(thread, f"[[wireproof:call/late#{number}]]")[1].tool_requests
        client.answer(asked[0]["id"])
        client.ask("thread/unsubscribe", {"threadId": thread})
    client.wait(100.0)
    context = client.context
    assert [list(context.turns), [*context.unanswered]] == [[], []]


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)


JSON = st.recursive(st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3), _nested, max_leaves=6)
FIELD_NAMES = sorted(
    set(itertools.chain.from_iterable(map(NEWEST.requests.params.fields, NEWEST.requests.params.methods))) | {"type"}
)
INPUT = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "image", "localImage", "audio"])},
        optional={"text": st.text(max_size=4), "url": JSON, "path": JSON, "text_elements": JSON},
    ),
    max_size=3,
)
ITEMS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["message", "function_call", "function_call_output", "odd"]) | JSON},
        optional={"role": JSON, "content": JSON, "call_id": JSON, "output": JSON, "name": JSON, "arguments": JSON},
    ),
    max_size=3,
)
TOOLS = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from(["a", "b", "tool"])}, optional={"inputSchema": JSON, "type": JSON}),
    max_size=2,
)
VALUES = {
    "input": INPUT,
    "items": ITEMS,
    "dynamicTools": TOOLS,
    "threadId": st.just("THREAD"),
    "turnId": st.just("TURN"),
}
PARAMS = st.fixed_dictionaries({}, optional={name: VALUES.get(name, JSON) | JSON for name in FIELD_NAMES})
LIKELY = st.fixed_dictionaries(
    {"threadId": st.just("THREAD")},
    optional={name: params_of for name, params_of in VALUES.items() if name != "threadId"},
)


@given(st.lists(st.tuples(st.sampled_from(sorted(METHODS)), PARAMS | LIKELY | JSON), max_size=8))
def test_no_request_however_odd_stops_the_server(requests: list[tuple[str, object]]) -> None:
    server = AppServer(ServerContext(LIBRARY))
    hello = {"id": 0, "method": "initialize", "params": {**CLIENT, "capabilities": {"experimentalApi": True}}}
    begin = {"id": 1, "method": "thread/start", "params": {"experimentalRawEvents": True}}
    sent = [
        hello,
        begin,
        *({"id": number, "method": name, "params": params} for number, (name, params) in enumerate(requests, 2)),
    ]
    thread, answered = "", set()
    for request in sent:
        server.receive(json.dumps(request).replace("THREAD", thread).encode())
        while isinstance(line := server.output(), bytes):
            message = json.loads(line)
            answered.add(message.get("id"))
            thread = thread or (message.get("result") or {}).get("thread", {}).get("id", "")
    assert answered >= {request["id"] for request in sent}


def test_the_process_dies_at_the_request_it_is_to_die_at(make_client: MakeClient) -> None:
    client = make_client(conditions={"crash_at": CrashAt("thread/start", 2)})
    client.start_thread()
    assert client.exit is None
    assert client.send({"id": 1, "method": "thread/start", "params": {}}) == []
    assert client.exit == 101


def test_older_versions_tell_what_they_knew(older: Client) -> None:
    result, received = older.ask("thread/start", {})
    assert list(result) == ["thread", "model", "modelProvider", "cwd", "approvalPolicy", "sandbox", "reasoningEffort"]
    assert received.methods == ["response", "thread/started", "codex/event/mcp_startup_complete"]
    assert all("emittedAtMs" not in message for message in received)
    assert "turn/started" in older.start_turn(result["thread"]["id"], "hi")[1].methods


def test_requests_that_are_too_many_are_refused_or_forgotten(make_client: MakeClient) -> None:
    client = make_client(conditions={"room": 2})
    for number in range(6):
        client.server.receive(json.dumps({"id": number, "method": "model/list", "params": {}}).encode())
    received = client.receive()
    assert [(message["id"], "result" in message) for message in received] == [
        (0, True),
        (1, True),
        (2, False),
        (4, False),
    ]
    assert received[2]["error"] == {"code": -32001, "message": "Server overloaded; retry later."}
    assert "data" in client.ask("model/list", {})[0]


def test_no_number_of_requests_is_too_many_for_old_versions(make_client: MakeClient) -> None:
    client = make_client(version="0.99.0", conditions={"room": 1})
    for number in range(6):
        client.server.receive(json.dumps({"id": number, "method": "model/list", "params": {}}).encode())
    assert all("result" in message for message in client.receive())


ADAPTING = {"adapts": True}


@pytest.mark.parametrize(
    ("first", "played"),
    [
        # 0.107 is the last that was recorded with the methods of v1.
        (("newConversation", {}), "0.107.0"),
        (("getUserAgent", None), "0.107.0"),
        (("addConversationListener", {"conversationId": "0"}), "0.107.0"),
        (("thread/start", {}), NEWEST.number),
        (("no/such/method", {}), NEWEST.number),
    ],
)
def test_the_version_is_that_of_the_clients_first_method(stranger_of: Any, first: Any, played: str) -> None:
    client = stranger_of(conditions=ADAPTING)
    client.ask("initialize", CLIENT)
    client.ask(*first)
    assert client.context.version.number == played


def test_methods_that_every_version_has_leave_the_choice_open(stranger_of: Any) -> None:
    client = stranger_of(conditions=ADAPTING)
    client.ask("initialize", CLIENT)
    assert "data" in client.ask("model/list", {})[0]
    assert client.context.version is NEWEST
    assert "conversationId" in client.ask("newConversation", {})[0]


def test_a_client_that_has_begun_has_made_its_choice(stranger_of: Any) -> None:
    client = stranger_of(conditions=ADAPTING)
    client.ask("initialize", CLIENT)
    client.ask("thread/start", {})
    assert "unknown variant `newConversation`" in client.ask("newConversation", {})[0]["message"]
    assert client.context.version is NEWEST


def test_a_version_that_was_named_is_kept(stranger: Client) -> None:
    stranger.ask("initialize", CLIENT)
    assert "unknown variant `newConversation`" in stranger.ask("newConversation", {})[0]["message"]


def test_an_older_version_sends_what_it_sent_and_no_more(stranger_of: Any) -> None:
    client = stranger_of(conditions=ADAPTING)
    client.ask("initialize", {**CLIENT, "capabilities": {"optOutNotificationMethods": ["turn/started"]}})
    client.ask("newConversation", {})
    assert client.context.opted_out == {"turn/started"}
