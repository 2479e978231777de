"""The faults of miniature clients: each is the faultless client with one method that does something else."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx

from wireproof_mocks.clients.client import FIRST_PAUSE, MiniatureClient
from wireproof_mocks.clients.forms import CutAnswerError, NoAnswerError, ReceivedAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wireproof_mocks.clients.forms import ReceivedCall

    _Results = Sequence[tuple[str, str]]

Json = dict[str, Any]


class _OutOfRange(MiniatureClient):
    def request(self) -> Json:
        return {**super().request(), "temperature": 2.5}


class _LastResultDropped(MiniatureClient):
    def remember(self, answer: ReceivedAnswer, results: _Results) -> None:
        super().remember(answer, results[:-1] if len(results) > 1 else results)


class _ResultOfNothing(MiniatureClient):
    def remember(self, answer: ReceivedAnswer, results: _Results) -> None:
        super().remember(answer, [*results, ("call_of_nobody", "done")] if results else results)


class _ArgumentsEmptied(MiniatureClient):
    def remember(self, answer: ReceivedAnswer, results: _Results) -> None:
        emptied = [replace(call, arguments='{"query": ""}') for call in answer.calls]
        super().remember(replace(answer, calls=emptied), results)


class _TextTrimmed(MiniatureClient):
    def remember(self, answer: ReceivedAnswer, results: _Results) -> None:
        super().remember(replace(answer, text=answer.text.strip()), results)


class _ResultsBeforeCalls(MiniatureClient):
    def remember(self, answer: ReceivedAnswer, results: _Results) -> None:
        self.history += [*self.form.results(results), *self.form.said(answer)]


class _TurnsKeptTwice(MiniatureClient):
    def ask(self, prompt: str) -> str:
        before = len(self.history)
        text = super().ask(prompt)
        # Turns without calls: the Messages API refuses ids that stand twice, and then the next turn is lost as well.
        if len(self.history) == before + 2:
            self.history += self.history[before:]
        return text


class _HalfAnswersKept(MiniatureClient):
    def read(self, response: httpx.Response) -> ReceivedAnswer:
        try:
            return super().read(response)
        except CutAnswerError as cut:
            return cut.answer


class _ErrorsKept(MiniatureClient):
    def answered(self) -> ReceivedAnswer:
        try:
            return super().answered()
        except CutAnswerError:
            raise
        except NoAnswerError as failed:
            answer = failed.answer
            return answer if answer.text or answer.calls else ReceivedAnswer(text=str(failed))


class _RunWithoutArguments(MiniatureClient):
    def result(self, call: ReceivedCall) -> str:
        try:
            json.loads(call.arguments or "{}")
        except ValueError:
            return "found 0 characters"
        return super().result(call)


class _Impatient(MiniatureClient):
    def pause(self, response: httpx.Response, number: int) -> float:
        del response
        return FIRST_PAUSE * float(2**number)


class _Stubborn(MiniatureClient):
    def worth_another_try(self, response: httpx.Response) -> bool:
        return response.status_code >= httpx.codes.BAD_REQUEST


class _Steady(MiniatureClient):
    def pause(self, response: httpx.Response, number: int) -> float:
        del number
        return float(response.headers.get("retry-after") or 0.3)


class _AsksAgain(MiniatureClient):
    def answered(self) -> ReceivedAnswer:
        answer = super().answered()
        for _ in range(3):
            if answer.text or answer.calls:
                break
            answer = super().answered()
        return answer


class _ToolsOnce(MiniatureClient):
    ran = False

    def result(self, call: ReceivedCall) -> str:
        self.ran = True
        return super().result(call)

    def request(self) -> Json:
        body = super().request()
        if self.ran:
            del body["tools"]
        return body


class _AsksForMore(MiniatureClient):
    def ask(self, prompt: str) -> str:
        text = super().ask(prompt)
        before = list(self.history)
        self.history.append({"role": "user", "content": "Go on."})
        self.answered()
        self.history = before
        return text


class _Redirected(MiniatureClient):
    def answered(self) -> ReceivedAnswer:
        try:
            return super().answered()
        except NoAnswerError:
            place = getattr(self, "place", "")
            if not place:
                raise
            with self.http.stream("POST", place, json=self.request()) as response:
                return self.read(response)

    def refusal(self, response: httpx.Response) -> str:
        self.place = response.headers.get("location", "")
        return super().refusal(response)


def _deaf() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@dataclass(frozen=True, kw_only=True)
class ClientFault:
    """A client with one fault."""

    breaks: str
    """The requirement that it breaks."""
    kind: type[MiniatureClient] = MiniatureClient
    prepare: Callable[[], None] | None = None
    """What is done to its process before it begins; None: nothing."""


FAULTS: dict[str, ClientFault] = {
    "temperature-out-of-range": ClientFault(breaks="client.request-valid", kind=_OutOfRange),
    "last-result-dropped": ClientFault(breaks="client.result-for-every-call", kind=_LastResultDropped),
    "result-of-no-call-added": ClientFault(breaks="client.no-foreign-result", kind=_ResultOfNothing),
    "arguments-emptied": ClientFault(breaks="client.call-replayed", kind=_ArgumentsEmptied),
    "texts-trimmed": ClientFault(breaks="client.text-replayed", kind=_TextTrimmed),
    "results-before-calls": ClientFault(breaks="client.order", kind=_ResultsBeforeCalls),
    "turns-kept-twice": ClientFault(breaks="client.order", kind=_TurnsKeptTwice),
    "half-answers-kept": ClientFault(breaks="client.cut-is-no-answer", kind=_HalfAnswersKept),
    "errors-kept-as-answers": ClientFault(breaks="client.error-is-no-answer", kind=_ErrorsKept),
    "half-arguments-run": ClientFault(breaks="client.incomplete-call-not-run", kind=_RunWithoutArguments),
    "retry-after-ignored": ClientFault(breaks="client.retry-after", kind=_Impatient),
    "refusals-repeated": ClientFault(breaks="client.no-blind-retry", kind=_Stubborn),
    "pauses-never-grow": ClientFault(breaks="client.retry-bounded", kind=_Steady),
    "empty-answers-asked-again": ClientFault(breaks="client.no-storm", kind=_AsksAgain),
    "tools-declared-once": ClientFault(breaks="client.tools-every-step", kind=_ToolsOnce),
    "asked-again-after-text": ClientFault(breaks="client.ends-on-text", kind=_AsksForMore),
    "interrupts-ignored": ClientFault(breaks="client.closes", prepare=_deaf),
    "redirects-followed-with-key": ClientFault(breaks="client.key-kept", kind=_Redirected),
}
"""By what a developer did."""
