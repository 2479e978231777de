"""A toolbox for clients whose own tools are of no interest: what each gives is a function of its arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof_mocks.personas.answer import CallResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wireproof_mocks.personas.answer import ClientCall, Json


@dataclass(frozen=True, kw_only=True)
class Canned:
    """The toolbox."""

    tools: Sequence[Json]
    """As requests declare them."""
    runs: Mapping[str, Callable[[Json], str]]
    """By name, what comes of a call."""

    def declared(self) -> Sequence[Json]:
        """All tools."""
        return self.tools

    def run(self, calls: Sequence[ClientCall]) -> Sequence[CallResult]:
        """What comes of each call; the model reads of a tool that does not exist."""
        return [CallResult(call=call, text=self._run(call)) for call in calls]

    def _run(self, call: ClientCall) -> str:
        run = self.runs.get(call.name)
        if run is None:
            return f"Unknown tool: {call.name}"
        try:
            return run(call.arguments)
        except KeyError as error:
            return f"Missing argument: {error.args[0]}"


def function(name: str, description: str, /, *required: str, **properties: str) -> Json:
    """A tool whose parameters have these types."""
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {key: _typed(kind) for key, kind in properties.items()},
            "required": list(required),
        },
    }


def _typed(kind: str) -> Json:
    return {"type": "array", "items": {"type": "string"}} if kind == "array" else {"type": kind}
