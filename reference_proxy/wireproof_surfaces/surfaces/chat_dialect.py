"""How an answer writes its calls: the dialects, what varies within them, and the headers that say it. Pure.

openai-json    `tool_calls`; in a whole answer the content is null beside them
obsidian-xml   `tool_calls`, and after each call its `<use_tool>` block as content
function-call  one legacy `function_call`, for requests that declare `functions` and no `tools`

A request says in `x-proxy-*` headers how calls are to be written, a response how they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from wireproof_surfaces.errors import INVALID_PARAM, ApiError
from wireproof_surfaces.tools import use_tool
from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_surfaces.assembly.aggregator import AggregatedCall
    from wireproof_surfaces.events import FinishReason


StopPolicy = Literal["first", "burst"]
OutputMode = Literal["obsidian-xml", "openai-json"]
ArgumentsMode = Literal["incremental", "cumulative"]
XmlEscape = Literal["xml", "none"]

OUTPUT_MODE_HEADER = "x-proxy-output-mode"
ARGUMENTS_HEADER = "x-proxy-tool-arguments"
STOP_HEADER = "x-proxy-stop-after-tools"
HEADERS: Mapping[str, tuple[str, ...]] = {
    OUTPUT_MODE_HEADER: get_args(OutputMode),
    ARGUMENTS_HEADER: get_args(ArgumentsMode),
    STOP_HEADER: get_args(StopPolicy),
}


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

    def opening(self, call: AggregatedCall, text: str = "") -> dict[str, Any]:
        """The delta that opens a call; `text` is what it has of the arguments."""
        # OpenAI's own opening has none (chat.stream.call-opening): the only form that is right for every client tried.
        if self.dialect is ChatFormat.FUNCTION_CALL:
            return {"function_call": {"name": call.name, "arguments": text}}
        return {"tool_calls": [{"index": call.index, **self._call(call.id, call.name, text)}]}

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


@dataclass(frozen=True, kw_only=True, slots=True)
class FormatOptions:
    """How a request wants calls written; None where it does not say."""

    output_mode: OutputMode | None = None
    arguments: ArgumentsMode | None = None
    stop_policy: StopPolicy | None = None


_NO_OPTIONS = FormatOptions()


def format_options(headers: Mapping[str, str], *, parallel: bool | None) -> FormatOptions:
    """What headers and `parallel_tool_calls` say; header names are lower-case, and a header wins over the parameter.

    Raises:
        ApiError: 400, `param` naming the first header whose value is unknown.
    """
    if parallel is None and headers.keys().isdisjoint(HEADERS):
        return _NO_OPTIONS
    for name, values in HEADERS.items():
        # mode.invalid: an unknown value is never replaced by a default.
        if name in headers and headers[name] not in values:
            right = " or ".join(values)
            raise ApiError(INVALID_PARAM, message=f"The header `{name}` must be {right}.", param=name)
    # The order is header, `parallel_tool_calls`, setting (contract §1).
    by_parallel: StopPolicy | None = None if parallel is None else "burst" if parallel else "first"
    return FormatOptions(
        output_mode=cast("OutputMode | None", headers.get(OUTPUT_MODE_HEADER)),
        arguments=cast("ArgumentsMode | None", headers.get(ARGUMENTS_HEADER)),
        stop_policy=cast("StopPolicy | None", headers.get(STOP_HEADER)) or by_parallel,
    )


def echoed(call_format: CallFormat) -> dict[str, str]:
    """The headers of an answer that is written in this format."""
    return {
        OUTPUT_MODE_HEADER: call_format.output_mode,
        ARGUMENTS_HEADER: call_format.arguments,
        STOP_HEADER: call_format.policy,
    }
