"""What a recording shows of one turn of its model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof_scripts.steps import Say, Step

if TYPE_CHECKING:
    from wireproof_fidelity.recording import Message

_CALLS = frozenset({"dynamicToolCall", "commandExecution", "fileChange"})
_UNREACHED = {"Missing environment variable": "missing-key", "error sending request": "connection"}


@dataclass(kw_only=True, slots=True)
class ObservedTurn:
    """What a recording shows of one turn: the pieces of each text, the ids of the calls, why no model was reached.

    `number` counts the turns. `retries`: how often the model was asked again, `waits`: for its service to be reached.
    `asked`: for approval, `escalated` with a reason; `tool`: the last that was called, with its arguments. `summary`,
    `thoughts`: the pieces of its reasoning, in short and itself; `output`: of the last command (its `pieces`, whether
    on `stderr`, and `status`), `whole`: the last text. `until`: how many pieces of the first text had come before the
    client went on; `completed`: the turn was. `summaries`: how often it was sent, while a conversation was summed up,
    what that cost.
    """

    number: int = 0
    texts: dict[str, list[str]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    trouble: str | None = None
    until: int | None = None
    completed: bool = False
    retries: int = 0
    waits: bool = False
    asked: bool = False
    escalated: bool = False
    summary: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    encrypted: str = ""
    summing: bool = False
    summaries: int = 0
    tool: tuple[str, object] = "", {}
    output: str = ""
    pieces: list[str] = field(default_factory=list)
    stderr: bool = False
    status: int = 0
    whole: str = ""

    def observe(self, message: Message) -> None:
        """Take a message of the recorded server's about the turn."""
        params = message.get("params") or {}
        self._observe_model(str(message.get("method")), params)
        self._observe_command(str(message.get("method")), params)
        match message:
            case {"method": "item/started", "params": {"item": {"type": kind, "id": call}}} if kind in _CALLS:
                self._call(call)
            case {"method": "item/commandExecution/requestApproval" | "execCommandApproval"}:
                self.asked, self.escalated = True, bool(params.get("reason"))
                self._call(params.get("itemId") or params["callId"])
            case {"method": "item/tool/call", "params": {"callId": call}}:
                self._call(call)
                self.tool = params.get("tool", ""), params.get("arguments")
            case {"method": "error", "params": {"willRetry": True, "error": {"message": problem}}}:
                self.retries += 1
                self.waits = "waiting for network" in problem
            case {"method": "error", "params": {"error": {"message": problem}}} if self.trouble is None:
                self.trouble = next((cause for words, cause in _UNREACHED.items() if words in problem), None)
            case {"method": "turn/completed", "params": {"turn": {"status": "completed"}}}:
                self.completed = True

    def _observe_command(self, method: str, params: Message) -> None:
        """Take what a command printed, and how it ended unless it was refused."""
        match method, params:
            case "item/completed", {"item": {"aggregatedOutput": str(output), "exitCode": status}} if status >= 0:
                self.output, self.status = output, status
            case "item/commandExecution/outputDelta", {"delta": delta}:
                self.pieces.append(delta)
            case "codex/event/exec_command_output_delta", {"msg": {"stream": "stderr"}}:
                self.stderr = True

    def _observe_model(self, method: str, params: Message) -> None:
        """Take what the model said."""
        match method, params:
            case "item/agentMessage/delta", {"itemId": item, "delta": delta}:
                self.texts.setdefault(item, []).append(delta)
            case "item/completed", {"item": {"type": "agentMessage", "text": text}}:
                self.whole = text
            case "item/started", {"item": {"type": "contextCompaction"}}:
                self.summing = True
            case "item/completed", {"item": {"type": "contextCompaction"}}:
                self.summing = False
            case "thread/tokenUsage/updated", _ if self.summing:
                self.summaries += 1
            case "item/reasoning/summaryTextDelta", {"delta": delta}:
                self.summary.append(delta)
            case "item/reasoning/textDelta", {"delta": delta}:
                self.thoughts.append(delta)
            case "rawResponseItem/completed", {"item": {"encrypted_content": encrypted}}:
                self.encrypted = encrypted

    def interrupted(self) -> None:
        """The client goes on."""
        if self.until is None and self.texts:
            self.until = len(next(iter(self.texts.values())))

    def _call(self, identity: str) -> None:
        if identity not in self.calls:
            self.calls.append(identity)

    def said(self, index: int) -> tuple[Step, ...]:
        """The text of this number, the last for -1; nothing where there is none."""
        texts = list(self.texts.values())
        return (Say(tuple(texts[index])),) if -len(texts) <= index < len(texts) else ()

    def call(self, index: int) -> str:
        """The id of the call of this number; calls that were never sent had one too."""
        return self.calls[index] if index < len(self.calls) else f"call_{self.number}_{index}"
