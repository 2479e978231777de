"""All that the mock can be brought to say, message by message, for those who check it against schemas.

    sessions("0.169.0") → (name of the script, [Said(kind, method, message) …]) …

A session plays a script of the library in a thread with and without raw events, answers every call, and interrupts what
hangs. `sort` makes the same of any session: requests have their method, answers that of their request.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from wireproof_codex.context import ServerContext
from wireproof_codex.protocol.outputs import ProcessExit
from wireproof_codex.server import AppServer
from wireproof_codex.versions.version import VERSIONS
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.library.calls import TOOLS_NAMED
from wireproof_scripts.steps import only_cursor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof_codex.versions.version import Version

Message = dict[str, Any]
_LISTS = (
    "permissionProfile/list",
    "config/read",
    "configRequirements/read",
    "modelProvider/list",
    "modelProvider/capabilities/read",
    "collaborationMode/list",
    "skills/list",
    "hooks/list",
    "app/list",
    "experimentalFeature/list",
    "mcpServerStatus/list",
    "account/read",
    "getAuthStatus",
    "userInfo",
    "getUserSavedConfig",
)
Kind = Literal["notification", "request", "result", "error", "accepted", "answer"]

_MORE = 400
"""Outputs of a turn that are looked at: those of longer ones repeat themselves."""
_LATER = 1000.0
_APPROVED: Message = {"decision": "accept"}
_ANSWERS: dict[str, Message] = {
    "item/tool/call": {"contentItems": [{"type": "inputText", "text": "found"}], "success": True}
}


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the server, or one of the client's that it took: an `accepted` request, an `answer` to its own.

    `value` is what a schema speaks of: the result of `result` and `answer`, else the whole message.
    """

    kind: Kind
    method: str
    value: Any


def sort(lines: Iterable[tuple[bool, Message]]) -> Iterator[Said]:
    """What was said in a session: (whether the client sent it, message), in order."""
    asked: dict[str, Message] = {}
    asking: dict[str, str] = {}
    for sent, message in lines:
        match message:
            case {"method": str(method), "id": identity} if sent:
                asked[repr(identity)] = message
            case {"id": identity, "result": result} if sent:
                if repr(identity) in asking:
                    yield Said("answer", asking[repr(identity)], result)
            case {"method": str(method), "id": identity}:
                asking[repr(identity)] = method
                yield Said("request", method, message)
            case {"method": str(method)} if not sent:
                yield Said("notification", method, message)
            case {"id": identity, "result": result} if repr(identity) in asked:
                request = asked[repr(identity)]
                yield Said("result", request["method"], result)
                yield Said("accepted", request["method"], request)
            case {"id": identity, "error": _} if not sent:
                yield Said("error", asked.get(repr(identity), {}).get("method", ""), message)


def sessions(version: str) -> Iterator[tuple[str, list[Said]]]:
    """A session with each script that is sent in the version's own words."""
    for script in LIBRARY.values():
        of_another_agent = any(only_cursor(step) for part in script.parts for step in part)
        if script.notifications == "v2" and not of_another_agent:
            yield script.name, list(sort(_Session(VERSIONS[version]).lines(script.name)))
    yield "stored threads", list(sort(_Session(VERSIONS[version]).requests()))


_INPUT = [{"type": "text", "text": "Hello."}]
_ITEMS = [{"type": "text", "data": {"text": "Hello."}}]
_REQUESTS: tuple[tuple[str, Message], ...] = (
    ("thread/start", {}),
    ("turn/start", {"threadId": "thread", "input": _INPUT}),
    ("thread/read", {"threadId": "thread", "includeTurns": True}),
    ("thread/resume", {"threadId": "thread"}),
    ("thread/turns/list", {"threadId": "thread"}),
    ("thread/items/list", {"threadId": "thread", "limit": 1}),
    ("thread/name/set", {"threadId": "thread", "name": "N"}),
    ("thread/goal/set", {"threadId": "thread", "objective": "o"}),
    ("thread/goal/get", {"threadId": "thread"}),
    ("thread/resume", {"threadId": "thread", "excludeTurns": True, "initialTurnsPage": {"limit": 1}}),
    ("thread/goal/clear", {"threadId": "thread"}),
    ("thread/metadata/update", {"threadId": "thread", "gitInfo": {"branch": "b"}}),
    ("thread/settings/update", {"threadId": "thread", "model": "m"}),
    ("thread/sample", {"threadId": "thread", "expectedTurnId": "turn", "prompt": "p"}),
    ("turn/start", {"threadId": "thread", "input": [], "toolOutput": {"name": "n", "output": "o"}}),
    ("thread/fork", {"threadId": "thread"}),
    ("thread/list", {"limit": 1}),
    ("thread/loaded/list", {"limit": 1}),
    ("thread/archive", {"threadId": "fork"}),
    ("thread/list", {"archived": True}),
    ("thread/unarchive", {"threadId": "fork"}),
    ("thread/revert", {"threadId": "thread", "beforeTurnId": "turn"}),
    ("thread/rollback", {"threadId": "thread", "numTurns": 1}),
    ("thread/delete", {"threadId": "fork"}),
    ("newConversation", {}),
    ("addConversationListener", {"conversationId": "thread"}),
    ("sendUserMessage", {"conversationId": "thread", "items": _ITEMS}),
    ("listConversations", {"pageSize": 1}),
    ("getConversationSummary", {"conversationId": "thread"}),
    ("resumeConversation", {"conversationId": "thread"}),
    ("forkConversation", {"conversationId": "thread"}),
    ("archiveConversation", {"conversationId": "thread", "rolloutPath": "path"}),
    ("model/list", {"limit": 1}),
    *((method, {}) for method in _LISTS),
)


class _Session:
    def __init__(self, version: Version) -> None:
        self._version = version
        self._now = 1_800_000_000.0
        self._server = AppServer(ServerContext(LIBRARY, version=version, clock=lambda: self._now))
        self._lines: list[tuple[bool, Message]] = []

    def lines(self, script: str) -> list[tuple[bool, Message]]:
        """All lines of a session with this script."""
        self._ask("initialize", clientInfo={"name": "a", "version": "1"}, capabilities={"experimentalApi": True})
        for raw in (True, False):
            tools = [{"type": "function", "name": name, "description": "", "inputSchema": {}} for name in TOOLS_NAMED]
            received = self._ask("thread/start", ephemeral=raw, experimentalRawEvents=raw, dynamicTools=tools)
            thread = next((message["result"]["thread"]["id"] for message in received if "result" in message), "")
            text = {"type": "text", "text": f"[[wireproof:{script}#{raw}]]"}
            received = self._ask("turn/start", threadId=thread, input=[text])
            self._answer(received)
            turn = next((message["result"]["turn"]["id"] for message in received if "result" in message), "")
            self._now += _LATER
            self._ask("turn/interrupt", threadId=thread, turnId=turn)
        return self._lines

    def requests(self) -> list[tuple[bool, Message]]:
        """All lines of a session with the requests that are about threads that are stored, and those of a beginning."""
        self._ask("initialize", clientInfo={"name": "a", "version": "1"}, capabilities={"experimentalApi": True})
        known = {"thread": "", "turn": "", "fork": "", "path": ""}
        for method, params in _REQUESTS:
            if method in self._version.requests.methods:
                taken = self._version.requests.params.fields(method)
                known_params = {name: known.get(str(value), value) for name, value in params.items() if name in taken}
                for message in self._ask(method, **known_params):
                    self._learn(known, method, message.get("result") or {})
        return self._lines

    @staticmethod
    def _learn(known: dict[str, str], method: str, result: Message) -> None:
        """Ids that later requests name."""
        match result:
            case {"thread": {"id": identity}} if method == "thread/start":
                known["thread"] = identity
            case {"thread": {"id": identity}} if method == "thread/fork":
                known["fork"] = identity
            case {"turn": {"id": identity}}:
                known["turn"] = identity
            case {"conversationId": identity, "rolloutPath": path}:
                known |= {"thread": identity, "path": path}

    def _answer(self, received: list[Message]) -> None:
        """Answer the calls and what is to be approved, and those that follow."""
        while calls := [message for message in received if "method" in message and "id" in message]:
            received = [
                message
                for call in calls
                for message in self._send({"id": call["id"], "result": _ANSWERS.get(call["method"], _APPROVED)})
            ]

    def _ask(self, method: str, **params: object) -> list[Message]:
        without = self._version.requests.params.methods.get(method) in {"unit", None}
        known_params = {} if without else {"params": params}
        return self._send({"id": len(self._lines), "method": method, **known_params})

    def _send(self, message: Message) -> list[Message]:
        self._lines.append((True, message))
        self._server.receive(json.dumps(message).encode())
        received: list[Message] = []
        for _ in range(_MORE):
            output = self._server.output()
            if output is None or isinstance(output, ProcessExit):
                break
            if isinstance(output, bytes):
                received.append(json.loads(output))
        self._lines += [(False, message) for message in received]
        return received
