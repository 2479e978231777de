"""Calls run with the user's approval, one after the other; what went wrong is a result, too."""

from __future__ import annotations

import json
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jsonschema_rs import Draft202012Validator

from wireproof_mocks.personas.answer import CallResult, Json
from wireproof_mocks.personas.approval.asking import ApprovalQuestion
from wireproof_mocks.personas.line import Line, LineKind, visible
from wireproof_mocks.personas.vault.tools import PREFIX
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wireproof_mocks.personas.answer import ClientCall
    from wireproof_mocks.personas.approval.asking import Ask, Decision
    from wireproof_mocks.personas.line import Print

CANCELLED = "User cancelled tool execution"


@dataclass(frozen=True, kw_only=True)
class PersonaTool:
    """A tool: what the model reads of it, what its user reads of it, and what it does."""

    name: str
    description: str
    """For the model."""
    parameters: Json
    """The JSON Schema of its arguments."""
    title: str
    """For the user."""
    purpose: str
    """For the user."""
    execute: Callable[[Json], Any]
    """Runs it; the value becomes JSON."""
    files: str = ""
    """The argument that lists files which the user selects from."""

    def declared(self) -> Json:
        """As a request declares it."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}


@dataclass(frozen=True, kw_only=True)
class Executor:
    """The toolbox of ChatGPT MD."""

    tools: Sequence[PersonaTool]
    enabled: bool = False
    """Whether requests declare the tools: off, until the user wants it."""
    ask: Ask
    print: Print

    def __post_init__(self) -> None:
        for tool in self.tools:
            self._log(f"Registered tool: {tool.name}")

    def declared(self) -> Sequence[Json]:
        """All tools, none while they are switched off."""
        return [tool.declared() for tool in self.tools] if self.enabled else []

    def run(self, calls: Sequence[ClientCall]) -> Sequence[CallResult]:
        """What comes of the calls of one answer."""
        self._log(f"AI requested {len(calls)} tool call(s)")
        self._log(f"Handling {len(calls)} tool call(s)")
        return [CallResult(call=call, text=as_text(self._with_approval(call))) for call in calls]

    def _with_approval(self, call: ClientCall) -> object:
        tool = next((tool for tool in self.tools if tool.name == call.name), None)
        if tool is None:
            return self._error(f"Unknown tool: {call.name}")
        if wrong := misfit(tool, call.arguments):
            return self._error(f"Tool execution error: {wrong}", f"the arguments of {tool.name}: {wrong}")
        decision = self._approval(tool, call)
        if not decision.approved:
            return {"error": CANCELLED}
        return self._execute(tool, decision.arguments)

    def _approval(self, tool: PersonaTool, call: ClientCall) -> Decision:
        self._log(f"Requesting approval for tool: {tool.name}")
        decision = self.ask(
            ApprovalQuestion(title=tool.title, purpose=tool.purpose, arguments=call.arguments, files=tool.files)
        )
        self._log(f"Tool {'approved' if decision.approved else 'cancelled'} by user: {tool.name}")
        if not decision.approved:
            self.print(Line(LineKind.NOTICE, f"Tool execution cancelled: {tool.name}"))
        return decision

    def _execute(self, tool: PersonaTool, arguments: Json) -> object:
        self._log(f"Executing tool: {tool.name} {as_text(arguments)}")
        try:
            value = tool.execute(arguments)
        # Whatever a tool raises: the model is to read of it, and the conversation goes on.
        except Exception as error:  # noqa: BLE001
            for line in traceback.format_exception(error):
                self._log(line.rstrip())
            return self._error(f"Tool execution error: {error}", str(error))
        self._log(f"Tool execution completed: {tool.name}")
        return value

    def _error(self, notice: str, error: str = "") -> Json:
        """What the model reads of an error; the user reads the notice."""
        self._log(notice)
        self.print(Line(LineKind.NOTICE, visible(notice)))
        return {"error": error or notice}

    def _log(self, text: str) -> None:
        self.print(Line(LineKind.LOG, visible(f"{PREFIX} {text}")))


def misfit(tool: PersonaTool, arguments: Json) -> str:
    """What of arguments does not fit the parameters of their tool; "" if they do."""
    # The validator takes no half characters; in their place, any other will do.
    text = json.dumps(arguments, ensure_ascii=False).encode(errors="replace")
    try:
        wrong = next(Draft202012Validator(tool.parameters, offline=True).iter_errors(parse_json(text)), None)
    except ValueError as error:  # nested by the hundred
        return str(error)
    return wrong.message if wrong else ""


def as_text(value: object) -> str:
    """A value as JSON that can be sent: as it reads best, or in ASCII where a model's text has half a character."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text
