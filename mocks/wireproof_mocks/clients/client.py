"""A client in the small: it holds a conversation, runs a tool, tries again what may succeed, and takes no half answer.

How requests and answers look is the form's (`forms`); each step here is a method, so that a fault is one method that
does something else.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import httpx

from wireproof_mocks.clients.forms import TOOL, ClientForm, CutAnswerError, NoAnswerError, ReceivedAnswer, ReceivedCall

if TYPE_CHECKING:
    from collections.abc import Sequence

TRIES = 4
FIRST_PAUSE = 0.1


class MiniatureClient:
    """Asks over `http`, whose base URL and headers are those of the endpoint."""

    def __init__(self, http: httpx.Client, form: ClientForm, *, model: str, stream: bool) -> None:
        self.http, self.form, self.model, self.stream = http, form, model, stream
        self.history: list[dict[str, Any]] = []

    def ask(self, prompt: str) -> str:
        """The text of the answer to a prompt, once all calls are answered; NoAnswerError leaves all as it was."""
        before = list(self.history)
        self.history.append({"role": "user", "content": prompt})
        try:
            while (answer := self.answered()).calls:
                self.remember(answer, [(call.id, self.result(call)) for call in answer.calls])
            self.remember(answer, [])
        except NoAnswerError:
            self.history = before
            raise
        return answer.text

    def request(self) -> dict[str, Any]:
        """The body of a request for what comes next in the conversation."""
        return self.form.body(self.history) | {"model": self.model, "stream": self.stream}

    def remember(self, answer: ReceivedAnswer, results: Sequence[tuple[str, str]]) -> None:
        """Append an answer to the conversation, and the results of its calls, each with the call's id."""
        self.history += [*self.form.said(answer), *self.form.results(results)]

    def result(self, call: ReceivedCall) -> str:
        """The result of a call: what the tool says, or why it was not run."""
        try:
            query = json.loads(call.arguments)["query"] if call.name == TOOL["name"] else None
        except (ValueError, LookupError, TypeError):
            query = None
        return f"found {len(query)} characters" if isinstance(query, str) else "error: there is no such tool, or query"

    def answered(self) -> ReceivedAnswer:
        """The answer to the conversation so far, after as many tries as are worth it; else NoAnswerError."""
        body = self.request()
        for number in range(1, TRIES + 1):
            try:
                with self.http.stream("POST", self.form.path, json=body) as response:
                    if response.status_code == httpx.codes.OK:
                        return self.read(response)
                    response.read()
            except httpx.TransportError as error:
                raise CutAnswerError(str(error)) from error
            if number == TRIES or not self.worth_another_try(response):
                break
            time.sleep(self.pause(response, number))
        raise NoAnswerError(self.refusal(response))

    def read(self, response: httpx.Response) -> ReceivedAnswer:
        """A whole answer; NoAnswerError where it is an error, or broke off."""
        return self.form.streamed(response) if self.stream else self.form.whole(response)

    def worth_another_try(self, response: httpx.Response) -> bool:
        """Whether the same request may succeed later."""
        return response.status_code in {408, 429, 500, 502, 503, 504, 529}

    def pause(self, response: httpx.Response, number: int) -> float:
        """Seconds before the next try: what the server asks for, else more each time."""
        return float(response.headers.get("retry-after") or FIRST_PAUSE * 2**number)

    def refusal(self, response: httpx.Response) -> str:
        """What a person is shown of an error response."""
        return f"HTTP {response.status_code}: {response.text}"
