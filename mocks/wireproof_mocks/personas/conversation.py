"""One conversation of a persona with a proxy, from the first request to the last text.

The loop is the same for all: ask; while the answer has calls, run them, and ask again with what came of them. With a
scripted backend behind the proxy it is known what the model said, so each answer is held against the script: the right
calls with the right arguments, the right text. Of a real model only the loop is judged: that it comes to an end with a
text, and that everything on the way could be understood.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wireproof_mocks.personas.answer import CallResult, ClientCall, Json, NotServedError, UnderstoodAnswer
from wireproof_mocks.personas.line import Line, LineKind, short, visible
from wireproof_mocks.personas.ways import Blocks, calls_in
from wireproof_scripts import steps
from wireproof_scripts.json_text import parse_json
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.markers import Marker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wireproof_mocks.personas.endpoint import EndpointAddress, OpenEndpoint
    from wireproof_mocks.personas.line import Print
    from wireproof_mocks.personas.persona import Persona, Toolbox

MOST_REQUESTS = 12
"""After this many requests, a client that still gets calls is in a loop."""


@dataclass(frozen=True, kw_only=True)
class ConversationOutcome:
    """How a conversation ended."""

    served: bool
    why: str
    """What was understood of it, or why the client could not go on."""
    requests: int
    text: str = ""
    """The last answer's text."""


@dataclass(kw_only=True)
class PersonaConversation:
    """A persona that talks to an endpoint."""

    persona: Persona
    toolbox: Toolbox
    print: Print
    whole: bool = False
    """Whether whole answers are asked for instead of streams."""
    say: str = ""
    """What the user asks instead of the persona's own question; then the backend is taken for a model."""
    requests: int = 0

    def hold(self, endpoint: EndpointAddress) -> ConversationOutcome:
        """Hold the whole conversation.

        Raises:
            UnreachableError: nothing listens at the endpoint.
        """
        try:
            with endpoint.connected() as connection:
                text = self._to_the_end(connection)
        except NotServedError as error:
            # Names of tools, and messages of errors, stand in it as they came.
            why = visible(str(error))
            if self.persona.logs_failure:
                self.print(Line(LineKind.LOG, f"{self.persona.logs_failure} {why}"))
            return ConversationOutcome(served=False, why=why, requests=self.requests)
        why = f"the conversation came to its end after {self.requests} request{'s' * (self.requests > 1)}"
        return ConversationOutcome(served=True, why=why, requests=self.requests, text=text)

    def _to_the_end(self, connection: OpenEndpoint) -> str:
        persona, tools = self.persona, self.toolbox.declared()
        scripted = _expected(self._script, blocks=isinstance(persona.way, Blocks)) if not self.say else None
        history, results = self._beginning(), list[CallResult]()
        while self.requests < MOST_REQUESTS:
            answer = self._ask(connection, history, tools if persona.tools_later or not self.requests else ())
            if scripted is not None:
                _compare(answer, next(scripted, None), results)
            if not answer.calls:
                return _last(answer)
            results = list(self.toolbox.run(answer.calls))
            for one in results:
                self.print(Line(LineKind.TOOL, f"{one.call.name} → {short(one.text)}"))
            history += (persona.goes_on or persona.way.history)(answer, results)
        raise NotServedError(f"after {MOST_REQUESTS} requests it still asks for tools: the client is in a loop")

    @property
    def _script(self) -> str:
        return self.persona.script if self.toolbox.declared() else self.persona.without_tools

    def _beginning(self) -> list[Json]:
        text = self.say or f"{self.persona.prompt} {Marker(self._script, secrets.token_hex(8))}"
        system = [{"role": "system", "content": self.persona.system}] if self.persona.system else []
        return [*system, {"role": "user", "content": text}]

    def _ask(self, connection: OpenEndpoint, history: Sequence[Json], tools: Sequence[Json]) -> UnderstoodAnswer:
        way = self.persona.way
        body = way.request(history, tools)
        self.requests += 1
        self.print(
            Line(LineKind.SENT, _sent(history, [name for name in ("tools", "functions") if name in body], tools))
        )
        if self.whole:
            # Members that only streams may have.
            body.pop("stream_options", None)
            answer = way.whole(connection.whole(way.path, body))
        else:
            answer = way.streamed(connection.stream(way.path, body))
        self.print(Line(LineKind.UNDERSTOOD, _understood(answer)))
        return answer


def _sent(history: Sequence[Json], declared: Sequence[str], tools: Sequence[Json]) -> str:
    last = history[-1]
    names = ", ".join(tool["name"] for tool in tools) if declared else ""
    what = f"; {declared[0]}: {names}" if names else "; no tools"
    kind = last.get("role") or last["type"]
    text = last.get("content") or last.get("output") or ""
    return f"{len(history)} message{'s' * (len(history) > 1)}, the last of {kind}: {short(text)}{what}"


def _understood(answer: UnderstoodAnswer) -> str:
    calls = [f"call {call}" for call in answer.calls]
    text = [f"text {json.dumps(short(answer.text), ensure_ascii=False)}"] if answer.text else []
    return f"{'; '.join([*text, *calls]) or 'nothing'} (finish: {answer.finish or 'none'})"


def _last(answer: UnderstoodAnswer) -> str:
    if not answer.text.strip():
        raise NotServedError("the last answer has neither text nor calls: the user sees nothing")
    return answer.text


def _expected(script: str, *, blocks: bool) -> Iterator[UnderstoodAnswer | None]:
    """What the script says, part by part, as this client has to understand it; None: what the model received."""
    for part in LIBRARY[script].parts:
        if any(isinstance(step, steps.Reflect) for step in part):
            yield None
            continue
        text = "".join(step.text for step in part if isinstance(step, steps.Say))
        made = [ClientCall(name=s.name, arguments=parse_json(s.arguments)) for s in part if isinstance(s, steps.Call)]
        yield UnderstoodAnswer(text=text, calls=calls_in(text) if blocks else tuple(made))


def _compare(answer: UnderstoodAnswer, expected: UnderstoodAnswer | None, results: Sequence[CallResult]) -> None:
    """Raise unless the answer says what the script said; where it says nothing, what the model read last."""
    if expected is None:
        if answer.calls or not any(results[-1].text in text for text in _texts(answer.text)):
            raise NotServedError(f"the model repeats the result that it reads, the client got {short(answer.text)!r}")
        return
    seen, right = list(_bare(answer.calls)), list(_bare(expected.calls))
    if seen != right[: len(seen)] or bool(seen) != bool(right):
        instead = _listed(seen) if seen else f"no call, but the text {short(answer.text)!r}"
        raise NotServedError(f"the model made {_listed(right)}, the client got {instead}")
    # With calls, a whole answer has no room for the text, and proxies may cut what comes behind a block.
    if not right and answer.text != expected.text:
        raise NotServedError(f"the model said {expected.text!r}, the client got {answer.text!r}")


def _texts(said: str) -> Iterator[str]:
    """A text, and those in it if it is JSON, as a script reports what the model received."""
    yield said
    try:
        values = [parse_json(said)]
    except ValueError:
        return
    while values:
        match values.pop():
            case str() as text:
                yield text
            case list() as items:
                values += items
            case dict() as members:
                values += members.values()


def _bare(calls: Iterable[ClientCall]) -> Iterator[ClientCall]:
    return (replace(call, id="", raw="") for call in calls)


def _listed(calls: Sequence[ClientCall]) -> str:
    return " and ".join(map(str, calls)) or "no call"
