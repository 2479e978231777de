"""The client of a run: it talks to a core of the app-server in this process, as codex's own `exec` does.

`begin` shakes hands and starts or resumes the thread, `ask` starts the turn, `next` gives what the core sends until the
turn is over. Nobody is there to be asked.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.protocol.outputs import Output
    from wireproof_codex.server import AppServer


class SessionRefusedError(Exception):
    """The core refuses a request: `text` is its message, `code` its number."""

    def __init__(self, method: str, code: int, text: str) -> None:
        super().__init__(f"{method} failed: {text} (code {code})")
        self.method, self.code, self.text = method, code, text


@dataclass(frozen=True, slots=True)
class CoreNotification:
    """A notification of the core."""

    method: str
    params: Mapping[str, Any]


class ExecSession:
    """One run with `server`."""

    def __init__(self, server: AppServer) -> None:
        self._server = server
        self._waiting: deque[Output] = deque()
        self._requests = 0
        self.thread: Mapping[str, Any] = {}
        """The answer that opened the thread."""

    def begin(self, opening: str, params: Json) -> None:
        """Shake hands and open the thread with `thread/start` or `thread/resume`.

        Raises:
            SessionRefusedError: the core refuses the thread.
        """
        client = {"name": "codex_exec", "version": self._server.version.number}
        capabilities = {"experimentalApi": True, "optOutNotificationMethods": []}
        self._request("initialize", {"clientInfo": client, "capabilities": capabilities})
        self.thread = self._request(opening, params)

    @property
    def thread_id(self) -> str:
        """The id of the thread."""
        return str(self.thread["thread"]["id"])

    def ask(self, given: list[Json], more: Mapping[str, Any]) -> None:
        """Start the turn; `more`: further params of turn/start.

        Raises:
            SessionRefusedError: the core refuses it.
        """
        self._request("turn/start", {"threadId": self.thread_id, "input": given, **more})

    def _request(self, method: str, params: Json) -> Mapping[str, Any]:
        self._requests += 1
        self._send({"id": self._requests, "method": method, "params": params})
        # Requests are answered at once; what was sent before stays in its order.
        while (output := self._server.output()) is not None:
            message = json.loads(output) if isinstance(output, bytes) else {}
            if message.get("id") != self._requests or "method" in message:
                self._waiting.append(output)
            elif "error" in message:
                raise SessionRefusedError(method, message["error"]["code"], message["error"]["message"])
            else:
                result: Mapping[str, Any] = message["result"]
                return result
        raise AssertionError(f"the core has not answered {method}")

    def _send(self, message: Json) -> None:
        self._server.receive(json.dumps(message).encode())

    def next(self) -> CoreNotification | Output | None:
        """The next notification, or what is no message; None while there is nothing."""
        while (output := self._waiting.popleft() if self._waiting else self._server.output()) is not None:
            if not isinstance(output, bytes):
                return output
            message = json.loads(output)
            if "method" in message and "id" in message:
                self._answer(message)
            elif "method" in message:
                return CoreNotification(message["method"], message["params"])
        return None

    def _answer(self, request: Json) -> None:
        # The policy is `never`, so codex asks nobody; a script that wants the client asked goes on as if it had not.
        if request["method"].endswith("/requestApproval"):
            self._send({"id": request["id"], "result": {"decision": "accept"}})
            return
        text = f"{request['method']} is not supported in exec mode"
        self._send({"id": request["id"], "error": {"code": -32000, "message": text}})
