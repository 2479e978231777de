"""A client in the small: it holds a conversation, runs a tool, tries again what may succeed, and takes no half answer.

How requests and answers look is the surface's (`surfaces`); each step here is a method, so that a fault is one method
that does something else.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import httpx

from wireproof_mocks.clients.surfaces import Failed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof_mocks.clients.surfaces import Answer, Call, ClientSurface

Json = dict[str, Any]
TRIES = 4
WORTH_ANOTHER_TRY = frozenset({408, 429, 500, 502, 503, 504})
FIRST_PAUSE = 0.1
TOOL: Json = {
    "name": "look_up",
    "description": "Look something up.",
    "parameters": {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
        "additionalProperties": False,
    },
}


class Client:
    """Asks over `http`, whose base URL and headers are those of the endpoint."""

    def __init__(self, http: httpx.Client, surface: ClientSurface, *, model: str, stream: bool) -> None:
        self.http = http
        self.surface = surface
        self.model = model
        self.stream = stream
        self.history: list[Json] = []

    def ask(self, prompt: str) -> str:
        """The text of the answer to a prompt, once all calls are answered.

        Raises:
            Failed: none came; the conversation is as it was.
        """
        before = list(self.history)
        self.history.append(self.surface.user(prompt))
        try:
            while (answer := self.answered()).calls:
                self.remember(answer, [self.result(call) for call in answer.calls])
            self.remember(answer, [])
        except Failed:
            self.history = before
            raise
        return answer.text

    def request(self) -> Json:
        """The body of a request for what comes next in the conversation."""
        return self.surface.body(self.history, [TOOL], model=self.model, stream=self.stream)

    def remember(self, answer: Answer, results: Sequence[str]) -> None:
        """Append an answer to the conversation, and the results of its calls."""
        self.history += [*self.surface.said(answer), *self.results(answer, results)]

    def results(self, answer: Answer, results: Sequence[str]) -> list[Json]:
        """The results of calls as messages."""
        return [self.surface.result(call.id, text) for call, text in zip(answer.calls, results, strict=True)]

    def result(self, call: Call) -> str:
        """The result of a call: what the tool says, or why it was not run."""
        try:
            arguments = json.loads(call.arguments or "{}")
        except ValueError:
            return "error: the arguments are no valid JSON, so the tool was not run"
        if call.name != TOOL["name"]:
            return f"error: there is no tool {call.name}"
        if not isinstance(arguments, dict) or not isinstance(arguments.get("query"), str):
            return "error: query is missing, or no text"
        return f"found {len(arguments['query'])} characters"

    def answered(self) -> Answer:
        """The answer to the conversation so far, after as many tries as are worth it.

        Raises:
            Failed: none came.
        """
        body = self.request()
        for number in range(1, TRIES + 1):
            try:
                with self.http.stream("POST", self.surface.path, json=body) as response:
                    if response.status_code == httpx.codes.OK:
                        return self.read(response)
                    response.read()
                    if not self.worth_another_try(response) or number == TRIES:
                        raise Failed(self.refusal(response))
                    pause = self.pause(response, number)
            except httpx.TransportError as error:
                raise Failed(str(error)) from error
            time.sleep(pause)
        raise Failed("there was no try")

    def read(self, response: httpx.Response) -> Answer:
        """A whole answer.

        Raises:
            Failed: it is an error, or broke off.
        """
        return self.surface.streamed(response) if self.stream else self.surface.whole(response)

    def worth_another_try(self, response: httpx.Response) -> bool:
        """Whether the same request may succeed later."""
        return response.status_code in WORTH_ANOTHER_TRY

    def pause(self, response: httpx.Response, number: int) -> float:
        """Seconds before the next try: what the server asks for, else more each time."""
        return float(response.headers.get("retry-after") or FIRST_PAUSE * 2**number)

    def refusal(self, response: httpx.Response) -> str:
        """The message of an error response."""
        try:
            return str(response.json()["error"]["message"])
        except (ValueError, KeyError, TypeError):
            return f"HTTP {response.status_code}"
