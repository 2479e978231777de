from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_mocks.upstream.failing import HttpRefusal
from wireproof_mocks.upstream.reply import ModelReply
from wireproof_mocks.upstream.service import ModelService
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.player import Until
from wireproof_scripts.steps import Script, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from wireproof_endpoint.play import Output

Json = dict[str, Any]


def _item(given: str | Json) -> Json:
    """A message of the user's, or any item."""
    if isinstance(given, str):
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": given}]}
    return given


def _body(given: Iterable[str | Json], more: Mapping[str, object]) -> bytes:
    return json.dumps({"model": "m", "stream": True, "input": [*map(_item, given)], **more}).encode()


@dataclass
class Sent:
    """What a reply has sent so far, and whether it is over."""

    outputs: list[Output] = field(default_factory=list)
    over: bool = False

    @property
    def events(self) -> list[Json]:
        """What is said in the frames."""
        frames = [output for output in self.outputs if isinstance(output, bytes)]
        return [json.loads(frame.partition(b"\ndata: ")[2]) for frame in frames]

    @property
    def types(self) -> list[str]:
        return [event["type"].removeprefix("response.") for event in self.events]

    @property
    def text(self) -> str:
        return "".join(event["delta"] for event in self.events if event["type"] == "response.output_text.delta")

    @property
    def last(self) -> Json:
        """The response in the last event."""
        response: Json = self.events[-1]["response"]
        return response

    @property
    def waits(self) -> float | None:
        """Until when nothing is sent; None if the reply does not wait."""
        return self.outputs[-1].time if self.outputs and isinstance(self.outputs[-1], Until) else None


class Played:
    """A reply that is resumed by hand."""

    def __init__(self, reply: ModelReply, now: float) -> None:
        self.reply = reply
        self._outputs = reply.outputs(now)
        self._begun = False

    def on(self, now: float) -> Sent:
        """What it sends until it waits or is over."""
        sent = Sent()
        while sent.waits is None:
            try:
                sent.outputs.append(self._outputs.send(now) if self._begun else next(self._outputs))
            except StopIteration:
                sent.over = True
                return sent
            self._begun = True
        return sent


class Model:
    """The service, its requests made by hand."""

    def __init__(self, library: Mapping[str, Script]) -> None:
        self.service = ModelService(library)
        self.changes = 0
        """How often something has changed for which a reply may wait that was begun here."""
        self.now = 1_800_000_000.0

    def _change(self) -> None:
        self.changes += 1

    def answer(self, *given: str | Json, **more: object) -> ModelReply | HttpRefusal:
        return self.service.reply(_body(given, more), self.now)

    def begin(self, *given: str | Json, **more: object) -> Played:
        reply = self.answer(*given, **more)
        assert isinstance(reply, ModelReply)
        self.service.answerer.listen(reply.nonces, self._change)
        return Played(reply, self.now)

    def play(self, *given: str | Json, **more: object) -> Sent:
        """All that is sent until it waits or is over."""
        return self.begin(*given, **more).on(self.now)

    def refuse(self, *given: str | Json, **more: object) -> tuple[int, str]:
        """The status and the message of an HTTP error."""
        refused = self.answer(*given, **more)
        assert isinstance(refused, HttpRefusal)
        return refused.status, json.loads(refused.body)["error"]["message"]


@pytest.fixture
def model() -> Model:
    """The service with the library."""
    return Model(LIBRARY)


@pytest.fixture
def make_model() -> Callable[..., Model]:
    """A service with one script `s`; its first part is these steps, `then` the second one."""

    def make(*steps: Step, then: tuple[Step, ...] = (), **more: Any) -> Model:
        parts = (steps, then) if then else (steps,)
        return Model({"s": Script(name="s", title="", parts=parts, **more)})

    return make
