"""What two public clients sent to a server, sent to the mock: it reads all of it, and ends as that server did.

The script is made from what the server of the recording sent. Ids are the mock's own, so those in the client's answers
are mapped: the n-th answer about a blob is for the n-th such request, and so on. `replays.toml` says where a replay
differs, with the reason.
"""

from __future__ import annotations

import itertools
import json
import tomllib
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cursor_agents import Agent, Connection, Run, RunSSE, named
from google.protobuf import json_format

from wireproof_cursor.runs.context import RunConditions
from wireproof_cursor.serving import serving
from wireproof_cursor.wire.errors import CODES
from wireproof_cursor.wire.messages import read_client_message
from wireproof_cursor_protos import agent_pb2 as pb
from wireproof_scripts.steps import Call, Crash, Fail, Finish, Say, Script, Step, Think, cursor

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]
FOLDER = Path(__file__).parent
RECORDINGS = sorted(path.stem for path in (FOLDER / "recordings").glob("*.json"))
TABLE: Json = tomllib.loads((FOLDER / "replays.toml").read_text(encoding="utf-8"))


def recorded(name: str) -> Json:
    data: Json = json.loads((FOLDER / "recordings" / f"{name}.json").read_text(encoding="utf-8"))
    return data


def message_of(event: Json) -> pb.AgentClientMessage:
    if "hex" in event:
        return read_client_message(bytes.fromhex(event["hex"]))
    return json_format.ParseDict(event["message"], pb.AgentClientMessage())


def of_client(recording: Json) -> list[Json]:
    """What the client sent but for the request of its stream."""
    return [event for event in recording["events"] if event["side"] == "client" and event["rpc"] != "RunSSE"]


@pytest.mark.each("name", RECORDINGS)
def test_everything_that_a_client_sent_is_read(name: str) -> None:
    sent = [message_of(event) for event in of_client(recorded(name))]
    assert sent[0].HasField("run_request")
    assert all(message.WhichOneof("message") for message in sent)


def test_a_listing_as_text_is_a_listing() -> None:
    (listing,) = [message_of(event) for event in of_client(recorded("rs_builtin")) if "hex" in event]
    files = listing.exec_client_message.ls_result.success.directory_tree_root.children_files
    assert (listing.exec_client_message.id, [one.name for one in files]) == (5, ["new/", "a.txt"])


# The script of a recording


def step_of(message: Json) -> Step | None:
    """The step that sends a message; None for what the mock sends by itself: announcements, counts, blobs to keep."""
    step: Step | None = None
    match message:
        case {"interaction_update": {"text_delta": delta}}:
            step = Say((delta["text"],))
        case {"interaction_update": {"thinking_delta": delta}}:
            step = Think(delta["text"])
        case {"interaction_update": {"heartbeat": _}}:
            step = cursor.Heartbeat()
        case {"interaction_update": {"turn_ended": _}}:
            step = Finish()
        case {"conversation_checkpoint_update": _}:
            step = cursor.Checkpoint()
        case {"kv_server_message": {"get_blob_args": _}}:
            step = cursor.GetBlob("unknown")
        case {"interaction_query": {"web_search_request_query": query}}:
            step = cursor.Query(query["args"]["search_term"], wait=0.1)
        case {"exec_server_message": request}:
            step = exec_of(request)
    return step


def exec_of(request: Json) -> Step:  # noqa: PLR0911 - one for each kind of request
    kind = next(name for name in request if name.endswith("_args"))
    args = request[kind]
    call_id = args.get("tool_call_id", "")
    match kind:
        case "request_context_args":
            return cursor.RequestContext()
        case "shell_args" | "shell_stream_args":
            return cursor.Shell(id=call_id, command=args["command"], stream=kind == "shell_stream_args")
        case "read_args":
            return cursor.Read(id=call_id, path=args["path"])
        case "write_args":
            return cursor.Write(id=call_id, path=args["path"], text=args["file_text"])
        case "delete_args":
            return cursor.Delete(id=call_id, path=args["path"])
        case "ls_args":
            return cursor.Ls(id=call_id, path=args["path"])
        case "grep_args" if "pattern" in args:
            return cursor.Grep(id=call_id, pattern=args["pattern"])
        case "grep_args":
            return cursor.Glob(id=call_id, pattern=args["glob"])
        case "mcp_args":
            return Call(id=call_id, name=args["tool_name"], arguments=json.dumps(args.get("args", {})))
    raise AssertionError(f"no step for {kind}")


def end_of(event: Json) -> Step | None:
    match event:
        case {"drop": True}:
            return Crash()
        case {"end_stream": {"error": error}}:
            return cursor.Refuse(code=error["code"], message=error["message"])
        case {"trailer": str(trailer)}:
            return _ENDS_BY_STATUS[trailer.split("\r\n")[0].removeprefix("grpc-status: ")]
    return None


_ENDS_BY_STATUS: Mapping[str, Step] = {
    "0": cursor.EndStream(),
    "5": cursor.Refuse(code="not_found", message="model not found"),
    "8": cursor.Refuse(code="resource_exhausted"),
    "14": cursor.Refuse(code="unavailable", message="unavailable"),
}
_BY_SCRIPT = {
    "err_append": cursor.Refuse(code="invalid_argument", form="append"),
    "err_auth": cursor.Refuse(code="unauthenticated", form="http"),
}
"""Refusals that are no event of the recording: an HTTP error was the answer."""


def script_of(recording: Json) -> Script:
    """What the recorded server sent; a part ends where it waited for a result."""
    parts: list[list[Step]] = [[]]
    kept = False
    if recording["script"] in _BY_SCRIPT:
        parts[0].append(_BY_SCRIPT[recording["script"]])
    for event in recording["events"]:
        if "wait_exec" in event and any(isinstance(step, Call | cursor.Exec) for step in parts[-1]):
            parts.append([])
        elif event["side"] == "server" and (step := step_of(event.get("message", {})) or end_of(event)) is not None:
            parts[-1].append(step)
        elif event["side"] == "server" and "set_blob_args" in event.get("message", {}).get("kv_server_message", {}):
            # The mock sends the first by itself.
            parts[-1] += [cursor.SetBlob("kept")] if kept else []
            kept = True
    # A client that sent no context is asked for it before the script.
    if not has_context(recording):
        parts = [[step for step in part if not isinstance(step, cursor.RequestContext)] for part in parts]
    if not any(isinstance(step, _ENDS) for step in parts[-1]):
        # The recorded server had enough: it closed the stream.
        parts[-1].append(Fail("cut"))
    return Script(name="replay", title="", parts=tuple(map(tuple, parts)), when="")


_ENDS = Finish | Crash | cursor.Refuse | cursor.EndStream


def has_context(recording: Json) -> bool:
    request = message_of(of_client(recording)[0]).run_request
    return request.action.user_message_action.HasField("request_context")


# The replay


@dataclass(kw_only=True)
class Outcome:
    text: str = ""
    ended: bool = False
    """Whether `turn_ended` came."""
    code: str = ""
    """That of the error; empty without one."""
    faults: list[str] = field(default_factory=list)


def recorded_outcome(recording: Json) -> Outcome:
    found = Outcome()
    for event in recording["events"]:
        match event:
            case {"side": "server", "message": {"interaction_update": {"text_delta": delta}}}:
                found.text += delta["text"]
            case {"side": "server", "message": {"interaction_update": {"turn_ended": _}}}:
                found.ended = True
            case {"side": "server"} if isinstance(end := end_of(event), cursor.Refuse):
                found.code = end.code
    refusal = _BY_SCRIPT.get(recording["script"])
    found.code = refusal.code if refusal else found.code
    return found


_MOST_BEATS = 10
"""More than a recorded server sent."""


class Client:
    """Sends what a recorded client sent, each message when that which it answers has come."""

    def __init__(self, agent: Agent, recording: Json) -> None:
        self._agent = agent
        agent.keeps = False
        events = of_client(recording)
        self._request = events[0]
        self._blobs = [event for event in events if message_of(event).HasField("kv_client_message")]
        self._execs: dict[str, list[list[Json]]] = {}
        for event in recording["events"]:
            asked = event.get("message", {}).get("exec_server_message") if event["side"] == "server" else None
            if asked:
                kind = next(name for name in asked if name.endswith("_args"))
                answers = [one for one in events if answers_exec(message_of(one)) == asked["id"]]
                self._execs.setdefault(kind, []).append(answers)
        self._numbers = itertools.count(1000)  # of what the recorded client was not asked
        self._waiting = False

    def play(self) -> Outcome:
        found = Outcome()
        request = message_of(self._request)
        state = request.run_request.conversation_state
        if state.root_prompt_messages_json:
            # What the recorded blobs held is not recorded.
            system = b'{"role":"system","content":"Be brief."}'
            self._agent.blobs[name := sha256(system).digest()] = system
            state.root_prompt_messages_json[:] = [name]
        refused, beats = self._send(request, self._request), 0
        while refused is None and (message := self._agent.message()) is not None:
            match named(message):
                case "text_delta":
                    found.text += message.interaction_update.text_delta.text
                case "turn_ended":
                    found.ended = True
                case "kv_server_message":
                    self._answer_blob(message.kv_server_message)
                case "exec_server_message":
                    self._answer_exec(message.exec_server_message)
                case "heartbeat":
                    beats += 1
                    # The mock waits for what the recorded client never sends, or has sent in vain.
                    if self._waiting or beats > _MOST_BEATS:
                        break
        found.code = refused or self._code()
        return found

    def _answer_blob(self, asked: pb.KvServerMessage) -> None:
        answer = self._agent.kept(asked)
        event = next((one for one in self._blobs if kind_of_answer(one) == answer.WhichOneof("message")), None)
        if answer.get_blob_result.HasField("blob_data"):
            event = None  # the recorded server asked for no blob that there was
        elif event is not None:
            self._blobs.remove(event)
            answer = message_of(event).kv_client_message
            answer.id = asked.id
        self._send(pb.AgentClientMessage(kv_client_message=answer), event)

    def _answer_exec(self, asked: pb.ExecServerMessage) -> None:
        kind = str(asked.WhichOneof("message"))
        recorded_answers = self._execs.get(kind, [])
        if not recorded_answers and kind == "request_context_args":
            result = pb.RequestContextResult(success=pb.RequestContextSuccess())
            answer = pb.ExecClientMessage(id=asked.id, request_context_result=result)
            self._send(pb.AgentClientMessage(exec_client_message=answer), None)
            return
        answers = recorded_answers.pop(0)
        self._waiting = self._waiting or (not answers and kind != "request_context_args")
        for event in answers:
            self._send(with_id(message_of(event), asked), event)

    def _send(self, message: pb.AgentClientMessage, event: Json | None) -> str | None:
        """Send a message with its recorded number; the code with which it is refused."""
        if not isinstance(self._agent, RunSSE):
            self._agent.send(message)
            return None
        number = next(self._numbers) if event is None else int(event["seqno"])
        response = self._agent.append(message, number)
        return None if response.status_code == 200 else str(response.json()["code"])

    def _code(self) -> str:
        if isinstance(self._agent, RunSSE) and self._agent.body:
            return str(json.loads(self._agent.body)["code"])
        end = self._agent.ended() if self._agent.end else {}
        status = end.get("grpc-status", "0")
        if "error" in end:
            return str(end["error"]["code"])
        return next((code for code, numbers in CODES.items() if str(numbers.grpc) == status), "")


def kind_of_answer(event: Json) -> str | None:
    kind: str | None = message_of(event).kv_client_message.WhichOneof("message")
    return kind


def answers_exec(message: pb.AgentClientMessage) -> int | None:
    """The number of the request that a message is about; None if it is about none."""
    if message.HasField("exec_client_message"):
        return message.exec_client_message.id
    if message.HasField("exec_client_control_message"):
        return message.exec_client_control_message.stream_close.id
    return None


def with_id(message: pb.AgentClientMessage, asked: pb.ExecServerMessage) -> pb.AgentClientMessage:
    """A recorded answer, for the request of the mock."""
    if message.HasField("exec_client_message"):
        message.exec_client_message.id = asked.id
        if message.exec_client_message.exec_id:
            message.exec_client_message.exec_id = asked.exec_id
    else:
        message.exec_client_control_message.stream_close.id = asked.id
    return message


def replay(recording: Json, script: Script, conditions: RunConditions) -> Outcome:
    entries: list[Json] = []
    with ExitStack() as stack:
        mock = stack.enter_context(serving({"replay": script}, conditions=conditions, journal=entries.append))
        if recording["events"][0]["rpc"] == "Run":
            agent: Agent = Run(stack.enter_context(Connection(mock.url)))
        else:
            agent = stack.enter_context(RunSSE(mock.url, recording["headers"]["RunSSE"]["content-type"]))
        outcome = Client(agent, recording).play()
    outcome.faults = [entry["fault"] for entry in entries if "fault" in entry]
    return outcome


@pytest.mark.sampled(28)
@pytest.mark.parametrize("name", [name for name in RECORDINGS if not name.startswith("seq_strict")])
def test_a_replay_ends_as_recorded(name: str) -> None:
    recording = recorded(name)
    outcome = replay(recording, script_of(recording), RunConditions(lenient=True, beat=0.2, patience=0.2))
    wanted, table = recorded_outcome(recording), TABLE.get(name, {})
    for key, value in table.get("ends", {}).items():
        setattr(wanted, key, value)
    wanted.faults = table.get("faults", [])
    assert outcome == wanted


@pytest.mark.nightly
def test_a_number_that_is_used_twice_stalls_the_turn_as_recorded() -> None:
    # The script is that of the server which took all; the client is the one whose number was used.
    script = script_of(recorded("seq_lenient_continue_after_exec"))
    outcome = replay(recorded("seq_strict_continue_after_exec"), script, RunConditions(beat=0.2))
    assert outcome == Outcome(faults=["append_seqno 2 comes a second time"])
    whole = replay(recorded("seq_lenient_continue_after_exec"), script, RunConditions(lenient=True))
    assert (whole.text, whole.ended) == ("Answer text.", True)


def test_the_table_names_recordings_and_gives_reasons() -> None:
    assert set(TABLE) <= set(RECORDINGS)
    assert all(row["reason"] for row in TABLE.values())
