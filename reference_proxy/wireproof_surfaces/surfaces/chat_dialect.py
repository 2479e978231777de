"""How an answer writes its calls: the dialects and what varies within them. Pure.

openai-json    `tool_calls`; in a whole answer the content is null beside them
obsidian-xml   `tool_calls`, and after each call its `<use_tool>` block as content
function-call  one legacy `function_call`, for requests that declare `functions` and no `tools`
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from wireproof_surfaces.tools import use_tool
from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof_surfaces.assembly.aggregator import AggregatedCall
    from wireproof_surfaces.events import FinishReason

StopPolicy = Literal["first", "burst"]
OutputMode = Literal["obsidian-xml", "openai-json"]
ArgumentsMode = Literal["incremental", "cumulative"]
XmlEscape = Literal["xml", "none"]


class ChatFormat(StrEnum):
    """The formats of calls."""

    OPENAI_JSON = "openai-json"
    OBSIDIAN_XML = "obsidian-xml"
    FUNCTION_CALL = "function-call"


@value(frozen=True, kw_only=True, slots=True)
class CallFormat:
    """All that decides how calls are written."""

    dialect: ChatFormat = ChatFormat.OPENAI_JSON
    arguments: ArgumentsMode = "incremental"
    policy: StopPolicy = "first"
    """How many calls a stream has, and how many blocks a whole answer shows."""
    delimiter: str = "\n"
    """The text between two blocks."""
    escape: bool = True
    """Whether &, < and > are escaped in blocks."""
    custom: frozenset[str] = frozenset()
    """The names of the custom tools: their calls hold a text."""

    @property
    def output_mode(self) -> OutputMode:
        """The output mode; the function-call dialect is a form of openai-json."""
        return "obsidian-xml" if self.dialect is ChatFormat.OBSIDIAN_XML else "openai-json"

    @property
    def shows_blocks(self) -> bool:
        """Whether calls are shown in the content."""
        return self.dialect is ChatFormat.OBSIDIAN_XML

    def block(self, call: AggregatedCall) -> str:
        """The call's block: the backend's own where it wrote one, else a new one."""
        # textual.verbatim.
        return call.block or use_tool.write(call.name, call.arguments, escape=self.escape)

    def finish(self, reason: FinishReason) -> str:
        """The finish_reason."""
        legacy = reason == "tool_calls" and self.dialect is ChatFormat.FUNCTION_CALL
        return "function_call" if legacy else reason

    def opening(self, call: AggregatedCall) -> dict[str, Any]:
        """The delta that opens a call."""
        # OpenAI's own opening (chat.stream.call-opening): the only form that is right for every client tried.
        if self.dialect is ChatFormat.FUNCTION_CALL:
            return {"function_call": {"name": call.name, "arguments": ""}}
        return {"tool_calls": [{"index": call.index, **self._call(call.id, call.name, "")}]}

    def fragment(self, call: AggregatedCall, text: str) -> dict[str, Any]:
        """The delta with more of the arguments of a call."""
        # Neither id nor name again: pydantic-ai fails; langchain-py, openai-python's `.stream`, Copilot misread them.
        if self.dialect is ChatFormat.FUNCTION_CALL:
            return {"function_call": {"arguments": text}}
        more = {"custom": {"input": text}} if call.name in self.custom else {"function": {"arguments": text}}
        return {"tool_calls": [{"index": call.index, **more}]}

    def members(self, calls: Sequence[AggregatedCall]) -> dict[str, Any]:
        """The members of a whole message that hold its calls."""
        if self.dialect is ChatFormat.FUNCTION_CALL:
            # The only one: `choice_rules` lets a single call pass.
            return {"function_call": {"name": calls[0].name, "arguments": calls[0].arguments}}
        return {"tool_calls": [self._call(call.id, call.name, call.arguments) for call in calls]}

    def _call(self, id_: str, name: str, arguments: str) -> dict[str, Any]:
        if name in self.custom:
            return {"id": id_, "type": "custom", "custom": {"name": name, "input": arguments}}
        return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
