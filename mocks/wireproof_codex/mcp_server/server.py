"""An MCP server whose tools are Codex: each call of `codex` or `codex-reply` is a turn.

It is a client of a core of the app-server in this process, whose older family of notifications it passes on as
`codex/event`; a request for approval becomes an elicitation. `receive` takes what stdin brings, `output` gives what
goes to stdout, as an app-server does for the same edge.
"""

from __future__ import annotations

import json
import shlex
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from wireproof_codex.legacy.codex_events import MCP_STARTUP_COMPLETE
from wireproof_codex.mcp_server.tools import WrongCallError, check, thread_params, tools
from wireproof_codex.methods.lookup import check_uuid
from wireproof_codex.protocol.params import Refused
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.protocol.outputs import Output
    from wireproof_codex.server import AppServer

_NOT_FOUND, _INVALID = -32601, -32600
_UNANSWERED = frozenset({"resources/list", "resources/templates/list", "prompts/list"})
"""What no version that was recorded answers."""
_OLDER_DELTAS = frozenset({"agent_message_delta", "agent_reasoning_delta", "agent_reasoning_raw_content_delta"})
_DECISIONS = {"approved": "accept", "approved_for_session": "acceptForSession", "abort": "cancel"}
"""The answers to an elicitation, and what they are to the core; all else declines."""


@dataclass(kw_only=True, slots=True)
class _ToolCall:
    """A call of a tool that is not over."""

    identity: object
    """The id of the request."""
    thread: str
    turn: str
    said: str = ""
    """The last complete message of the model."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """The files that it wants to change."""


class McpServer:
    """One process; `core` plays its version with the older notifications, whatever its app-server sends."""

    outlives_input = False

    def __init__(self, core: AppServer) -> None:
        self._core, self.context = core, core.context
        self.version = core.context.version
        core.context.version = replace(self.version, messages=replace(self.version.messages, legacy_events=True))
        self._out: deque[Output] = deque()
        self._begun = False
        self._elicitations = count()
        self._asked: dict[object, int] = {}
        """By the number of an elicitation, the core's request for approval."""
        self._calls: dict[str, _ToolCall] = {}
        """The calls that run, by their threads."""
        self._threads: set[str] = set()
        client = {"name": "codex-mcp-server", "version": self.version.number}
        core.ask("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})

    # For the edge

    @property
    def backlog(self) -> int:
        """How many outputs wait to be fetched."""
        return len(self._out)

    def prepare(self) -> None:
        """Import what calls need."""
        self._core.prepare()

    def receive(self, line: bytes) -> None:
        """Take a line of the client; what is no message is passed over."""
        try:
            message = parse_json(line)
        except ValueError:
            return
        match message:
            case {"id": identity, "method": str(method)}:
                params = message.get("params")
                self._handle(identity, method, params if isinstance(params, dict) else {})
            case {"method": "notifications/cancelled", "params": {"requestId": identity}}:
                for call in [one for one in self._calls.values() if one.identity == identity]:
                    self._core.ask("turn/interrupt", {"threadId": call.thread, "turnId": call.turn})
            case {"id": int(number)} if number in self._asked:
                # What is no decision declines, an error too.
                answer = message.get("result")
                decided = answer.get("decision") if isinstance(answer, dict) else None
                result = {"decision": _DECISIONS.get(str(decided), "decline")}
                self._core.receive(json.dumps({"id": self._asked.pop(number), "result": result}).encode())

    def output(self) -> Output | None:
        """The next thing to write, None while there is nothing."""
        while not self._out and (output := self._core.output()) is not None:
            self._take(output)
        return self._out.popleft() if self._out else None

    # Requests of the client

    def _handle(self, identity: object, method: str, params: Mapping[str, Any]) -> None:
        match method:
            case "initialize" if self._begun:
                self._send({"id": identity, "error": {"code": _INVALID, "message": "initialize called more than once"}})
            case "initialize":
                self._begun = True
                self._reply(identity, _opened(params, self.version.number))
            case "ping":
                self._reply(identity, {})
            case "tools/list":
                self._reply(identity, {"tools": tools(self.version)})
            case "tools/call":
                self._call(identity, params)
            case _ if method not in _UNANSWERED and self.version.mcp_server.answers_unknown:
                unknown = {"code": _NOT_FOUND, "message": f"method not found: {method}", "data": {"method": method}}
                self._send({"id": identity, "error": unknown})

    def _call(self, identity: object, params: Mapping[str, Any]) -> None:
        name = str(params.get("name"))
        try:
            arguments = check(name, params.get("arguments"), self.version)
            thread = self._start(identity, arguments) if name == "codex" else self._found(arguments)
            given = [{"type": "text", "text": arguments["prompt"]}]
            turn = self._ask("turn/start", {"threadId": thread, "input": given})
        except WrongCallError as wrong:
            self._reply(identity, _result(str(wrong), wrong.thread, failed=True))
        except Refused as refused:
            self._reply(identity, _result(refused.message, thread, failed=True))
        else:
            self._calls[thread] = _ToolCall(identity=identity, thread=thread, turn=str(turn["turn"]["id"]))

    def _start(self, identity: object, arguments: Mapping[str, Any]) -> str:
        try:
            answer = self._ask("thread/start", {**thread_params(arguments), "experimentalRawEvents": True})
        except Refused as refused:
            raise WrongCallError(f"Failed to load Codex configuration from overrides: {refused.message}") from refused
        thread = str(answer["thread"]["id"])
        self._threads.add(thread)
        session = {
            "type": "session_configured",
            "session_id": thread,
            "thread_id": thread,
            "model": answer["model"],
            "model_provider_id": answer["modelProvider"],
            "approval_policy": answer["approvalPolicy"],
            "cwd": answer["cwd"],
            "rollout_path": answer["thread"]["path"],
        }
        self._event(identity, thread, session, "")
        self._event(identity, thread, MCP_STARTUP_COMPLETE, "")
        return thread

    def _found(self, arguments: Mapping[str, Any]) -> str:
        thread = arguments.get("threadId") or arguments.get("conversationId")
        if not thread:
            raise WrongCallError("Failed to parse thread_id: either threadId or conversationId must be provided")
        try:
            check_uuid(thread, "Failed to parse thread_id")
        except Refused as refused:
            raise WrongCallError(refused.message) from refused
        if thread not in self._threads:
            raise WrongCallError(f"Session not found for thread_id: {thread}", thread)
        return str(thread)

    # The core

    def _ask(self, method: str, params: Json) -> Json:
        """The result of a request to the core, after what that has sent before.

        Raises:
            Refused: it is refused.
        """
        for _ in range(self._core.backlog):
            output = self._core.output()
            if output is not None:
                self._take(output)
        return self._core.ask(method, params)

    def _take(self, output: Output) -> None:
        if not isinstance(output, bytes):
            self._out.append(output)
            return
        message = parse_json(output)
        method, params = str(message.get("method")), message.get("params", {})
        call = self._calls.get(str(params.get("threadId") or params.get("conversationId")))
        if call is None:
            return
        if method.startswith("codex/event/"):
            self._pass_on(call, params["msg"], params["id"])
        elif method == "item/completed" and params["item"]["type"] == "agentMessage":
            call.said = params["item"]["text"]
        elif method == "turn/completed":
            self._end(call, params["turn"])
        elif method.endswith("/requestApproval"):
            self._elicit(call, message["id"], params)

    def _pass_on(self, call: _ToolCall, msg: Json, event: str) -> None:
        """Send an event of the older family; with an error the call is over, whatever else the turn sends."""
        if msg["type"] in _OLDER_DELTAS and not self.version.mcp_server.older_deltas:
            return
        self._event(call.identity, call.thread, msg, event)
        call.changes = msg.get("changes", call.changes)
        if msg["type"] == "error":
            del self._calls[call.thread]
            self._reply(call.identity, _result(msg["message"], call.thread, failed=True))

    def _end(self, call: _ToolCall, turn: Mapping[str, Any]) -> None:
        del self._calls[call.thread]
        if turn["status"] == "completed":  # the call of a turn that is interrupted gets no result
            self._reply(call.identity, _result(call.said, call.thread))

    def _elicit(self, call: _ToolCall, request: int, params: Mapping[str, Any]) -> None:
        number = next(self._elicitations)
        self._asked[number] = request
        asks = _command(params) if "command" in params else _patch(call.changes)
        named = {
            "threadId": call.thread,
            "codex_mcp_tool_call_id": str(call.identity),
            "codex_event_id": call.turn,
            "codex_call_id": params["itemId"],
        }
        schema = {"requestedSchema": {"type": "object", "properties": {}}}
        self._send({"id": number, "method": "elicitation/create", "params": {**schema, **named, **asks}})

    # What is sent

    def _event(self, identity: object, thread: str, msg: Json, event: str) -> None:
        meta = {"requestId": identity, "threadId": thread}
        self._send({"method": "codex/event", "params": {"_meta": meta, "msg": msg, "id": event}})

    def _reply(self, identity: object, result: Json) -> None:
        self._send({"id": identity, "result": result})

    def _send(self, message: Json) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
        self._out.append(line.encode(errors="surrogatepass") + b"\n")


def _opened(params: Mapping[str, Any], number: str) -> Json:
    client = params.get("clientInfo")
    named = client if isinstance(client, dict) else {}
    agent = f"codex_cli_rs/{number} (mock) unknown ({named.get('name')}; {named.get('version')})"
    return {
        "protocolVersion": params.get("protocolVersion"),
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {"name": "codex-mcp-server", "title": "Codex", "version": number, "user_agent": agent},
    }


def _command(params: Mapping[str, Any]) -> Json:
    return {
        "message": f"Allow Codex to run `{params['command']}` in `{params['cwd']}`?",
        "codex_elicitation": "exec-approval",
        "codex_command": shlex.split(params["command"]),
        "codex_cwd": params["cwd"],
        "codex_parsed_cmd": [{"type": one["type"], "cmd": one["command"]} for one in params["commandActions"]],
    }


def _patch(changes: Mapping[str, Any]) -> Json:
    asked = "Allow Codex to apply proposed code changes?"
    return {"message": asked, "codex_elicitation": "patch-approval", "codex_changes": changes}


def _result(text: str, thread: str, *, failed: bool = False) -> Json:
    """The result of a call; one that has no thread is its text alone."""
    structured = {"structuredContent": {"threadId": thread, "content": text}} if thread else {}
    return {"content": [{"type": "text", "text": text}], **structured, **({"isError": True} if failed else {})}
