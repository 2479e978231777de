"""What the request of a turn demands of its answer, and what it allows: decided once, and read by whoever needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.model.dialect import BLOCK_MODES, MODE_HEADER, STOP_HEADER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.model.dialect import Dialect
    from wireproof.model.scenario import ConversationScenario, Turn


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerTerms:
    """What a request says of the answer to it."""

    burst: bool
    """It allows several calls in one stream (the stop policy `burst`)."""
    offered: bool = True
    """It lets the backend call tools. If not, what looks like a call in the backend's text is text."""
    blocks: bool = False
    """It asks a response to write its calls as blocks in the text."""
    forced: frozenset[str] = frozenset()
    """The tools of which it demands a call; empty where it demands none."""
    json: bool = False
    """It demands an answer that is a JSON object, of no schema."""
    tools: bool = False
    """It declares tools, so that the client runs what Cursor's agent service asks for."""
    stops: tuple[str, ...] = ()
    """The stop sequences: the answer ends before the first of them."""


def answer_terms(scenario: ConversationScenario, turn: Turn, dialect: Dialect) -> AnswerTerms:
    """The terms of the request of a turn."""
    body = scenario.added(turn)
    return AnswerTerms(
        burst=_burst(scenario.headers, body, dialect),
        # Without the field OpenAI's default is auto.
        offered=body.get("tool_choice") != "none",
        blocks=scenario.headers.get(MODE_HEADER) in BLOCK_MODES,
        forced=_forced(scenario, body),
        json=_json(body),
        tools=bool(scenario.tools),
        stops=_stops(body.get("stop")),
    )


def _burst(headers: Mapping[str, str], body: Mapping[str, object], dialect: Dialect) -> bool:
    # The contract's order: the header, then the request, then what the proxy is set to.
    if STOP_HEADER in headers:
        return headers[STOP_HEADER] == "burst"
    return body.get("parallel_tool_calls", dialect.spec.parallel_by_default) is True


def _forced(scenario: ConversationScenario, body: Mapping[str, object]) -> frozenset[str]:
    match body.get("tool_choice"):
        case "required":
            return frozenset(scenario.tool_names)
        case {"function": {"name": str(name)}} | {"type": "function", "name": str(name)}:
            return frozenset({name})
        case _:
            return frozenset()


def _stops(stop: object) -> tuple[str, ...]:
    match stop:
        case str():
            return (stop,)
        case [*texts]:
            return tuple(map(str, texts))
        case _:
            return ()


def _json(body: Mapping[str, object]) -> bool:
    match body:
        case {"response_format": {"type": "json_object"}} | {"text": {"format": {"type": "json_object"}}}:
            return True
        case _:
            return False
