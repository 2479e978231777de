"""Plans and tools of MCP servers in one turn: the backend runs them itself, and its client learns what came of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wireproof_codex.notifications import item_messages, raw_items

if TYPE_CHECKING:
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.turns.parts import Shared
    from wireproof_codex.turns.results import Output
    from wireproof_scripts.steps import McpCall, Plan

_STATES = {"completed": "completed", "in_progress": "inProgress", "pending": "pending"}
"""The states of a plan's steps, as the model spells them, and as the notification does."""


class OwnTools:
    """Runs what needs no client."""

    def __init__(self, shared: Shared) -> None:
        self._context = shared.context
        self._notifier = shared.notifier
        self._results = shared.results
        self._traits = shared.context.version.tools

    def plan(self, step: Plan) -> None:
        """Make or change the plan; versions without plans refuse the call."""
        planned = [{"step": text, "status": _state(at, step.done)} for at, text in enumerate(step.steps)]
        explanation = step.explanation or None
        arguments: Json = {**({"explanation": explanation} if explanation else {}), "plan": planned}
        self._called(step.id, "update_plan", json.dumps(arguments, ensure_ascii=False))
        if not self._traits.plans:
            self._results.add(step.id, "unsupported call: update_plan")
            return
        sent = [{**one, "status": _STATES[one["status"]]} for one in planned]
        self._notifier.sender.notify(
            "turn/plan/updated", {**self._notifier.place, "explanation": explanation, "plan": sent}
        )
        self._results.add(step.id, "Plan updated")

    def serve(self, step: McpCall) -> None:
        """Call the tool of an MCP server, which brings its text at once."""
        space = self._traits.mcp_namespace.format(server=step.server)
        name = step.tool if space else f"mcp__{step.server}__{step.tool}"
        self._called(step.id, name, step.arguments, space)
        started_ms, arguments = self._context.now_ms, json.loads(step.arguments)
        self._notifier.item_started(item_messages.mcp_call(step, arguments), started_ms)
        content = {"type": "text", "text": step.output}
        if self._traits.mcp_output == "sorted":
            content = dict(sorted(content.items()))
        took = self._context.now_ms - started_ms
        self._notifier.item_completed(item_messages.mcp_call(step, arguments, [content], took), started_ms)
        self._results.add(step.id, self._output(content, took / 1000))

    def _called(self, identity: str, name: str, arguments: str, namespace: str | None = None) -> None:
        self._notifier.answer.before_call()
        number = self._context.ids.number()
        self._notifier.sender.raw(raw_items.call(f"fc_{number}", name, arguments, identity, namespace))
        self._results.expect(identity)

    def _output(self, content: dict[str, Any], seconds: float) -> Output:
        """What the model gets of the result."""
        head, listed = (
            f"Wall time: {seconds:.4f} seconds\nOutput:",
            json.dumps([content], ensure_ascii=False, separators=(",", ":")),
        )
        match self._traits.mcp_output:
            case "sorted" | "json":
                return listed
            case "timed":
                return f"{head}\n{listed}"
        return [{"type": "input_text", "text": head}, {"type": "input_text", "text": content["text"]}]


def _state(at: int, done: int) -> str:
    return "completed" if at < done else "in_progress" if at == done else "pending"
