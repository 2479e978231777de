"""The dialects of answers: one value per dialect holds all that is known of it.

A dialect is how a proxy carries tool calls, and what follows from that: where it is asked for, how the request is
written, what an answer has room for. Code elsewhere asks the value (`dialect.spec.one_call`) and never which dialect it
is, so a new dialect of chat completions is one member here and its data: scenarios, rows, snapshots. A new *surface*
also needs a reader (`wireproof.reading.exchange`) and a writer of requests (`wireproof.requests.conversation`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

MODE_HEADER = "x-proxy-output-mode"
"""The request header by which a client asks for an output mode, and the response header that echoes it."""
ARGUMENTS_HEADER = "x-proxy-tool-arguments"
"""The request header by which a client asks how streams write arguments: `incremental` or `cumulative`."""
STOP_HEADER = "x-proxy-stop-after-tools"
"""The request header by which a client asks for the stop policy: `first` (one call per stream) or `burst`."""
VERSION_HEADER = "anthropic-version"
"""The request header by which a client of Messages says which version of the API it speaks."""
VERSION = "2023-06-01"
"""The version that requests speak: Claude Code and @ai-sdk/anthropic send it, and every server knows it."""
BLOCK = "<use_tool>"
"""The tag that opens a tool call written in the content."""


class Surface(StrEnum):
    """A published interface: its endpoint, its objects and its stream grammar. Each has its own reader."""

    CHAT = "chat"
    """Chat completions."""
    RESPONSES = "responses"
    """The Responses API."""
    MESSAGES = "messages"
    """The Messages API."""

    @property
    def endpoint(self) -> str:
        """The path below the base URL."""
        return _ENDPOINTS[self]

    @property
    def label(self) -> str:
        """How sentences name it."""
        return _LABELS[self]

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers that each request to it has."""
        return {VERSION_HEADER: VERSION} if self is Surface.MESSAGES else {}


_ENDPOINTS = {Surface.CHAT: "/chat/completions", Surface.RESPONSES: "/responses", Surface.MESSAGES: "/messages"}
_LABELS = {Surface.CHAT: "chat completions", Surface.RESPONSES: "Responses", Surface.MESSAGES: "Messages"}


class Carrier(StrEnum):
    """Where an answer carries its tool calls."""

    TOOL_CALLS = "tool_calls"
    """The member `tool_calls` of a message or delta."""
    FUNCTION_CALL = "function_call"
    """The legacy member `function_call`."""
    BLOCKS = "blocks"
    """`<use_tool>` blocks in the content, with `tool_calls` beside them."""
    ITEMS = "items"
    """`function_call` items of a response's output."""
    TOOL_USE = "tool_use"
    """`tool_use` blocks of a message's content."""


class ArgumentsMode(StrEnum):
    """How a stream writes the arguments of a call."""

    INCREMENTAL = "incremental"
    """Fragments that concatenate to the arguments."""
    CUMULATIVE = "cumulative"
    """Each delta repeats all so far; the last one is the whole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DialectSpec:
    """What is known of a dialect. The defaults are OpenAI's chat completions with `tools`."""

    surface: Surface = Surface.CHAT
    """Where it is spoken, and which grammar reads its answers."""
    carrier: Carrier = Carrier.TOOL_CALLS
    """Where its answers carry tool calls."""
    output_mode: str = "openai-json"
    """What `x-proxy-output-mode` asks for. Dialects that the endpoint or the body asks for leave the default. "": its
    surface has no modes, and the header is not sent."""
    arguments: ArgumentsMode = ArgumentsMode.INCREMENTAL
    """How its streams write arguments at a target that declares nothing."""
    arguments_are_data: bool = False
    """An answer carries arguments as a JSON object, not as the model's own text: what they mean arrives, and not how
    they are spelled. What is no JSON object cannot be carried."""
    functions: bool = False
    """Requests offer `functions` instead of `tools`, and their history has `function_call` and `function` messages."""
    call_ids: bool = True
    """Calls have ids. Without, a result belongs to the call by the function's name."""
    one_call: bool = False
    """An answer has room for one call, whatever the stop policy is."""
    call_finish: str = "tool_calls"
    """The finish reason of an answer with calls. (The readers of the other surfaces give chat's reason.)"""
    text_before_calls: bool = False
    """A whole answer with calls keeps the text that came before them."""
    parallel_by_default: bool = False
    """A request without `parallel_tool_calls` lets a stream carry several calls."""
    wholes_obey: bool = False
    """What a request says of parallel calls holds for a whole answer, too. Without, that has all calls in any case."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The request headers that ask for this dialect."""
        # Also for OpenAI's own dialect: a proxy's default may be obsidian-xml (codex-story, criterion 5).
        mode = {MODE_HEADER: self.output_mode} if self.output_mode else {}
        return {**self.surface.headers, **mode}

    @property
    def blocks(self) -> bool:
        """Calls stand as blocks in the content."""
        return self.carrier is Carrier.BLOCKS


_OPENAI = DialectSpec()


class Dialect(StrEnum):
    """How a proxy carries tool calls to its client. The value is the name; `spec` is all else that is known."""

    spec: DialectSpec

    # A default, since a lookup by value (`Dialect("responses")`) is to type checkers a call of this method.
    def __new__(cls, name: str, spec: DialectSpec = _OPENAI) -> Self:
        """A member with this name and spec."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.spec = spec
        return member

    OPENAI_JSON = "openai-json", _OPENAI
    """`tool_calls`, asked for with `tools`."""
    OBSIDIAN_XML = (
        "obsidian-xml",
        # Cumulative (codex-story, criterion 8): its clients read the content, not the deltas that break OpenAI's
        # clients.
        DialectSpec(carrier=Carrier.BLOCKS, output_mode="obsidian-xml", arguments=ArgumentsMode.CUMULATIVE),
    )
    """A `<use_tool>` block in the content, `tool_calls` beside it."""
    FUNCTION_CALL = (
        "function-call",
        # `function_call` is one object and has no id.
        DialectSpec(
            carrier=Carrier.FUNCTION_CALL, functions=True, call_ids=False, one_call=True, call_finish="function_call"
        ),
    )
    """The legacy `function_call`, asked for with `functions`."""
    RESPONSES = (
        "responses",
        # Text and calls are items side by side, so neither replaces the other.
        DialectSpec(surface=Surface.RESPONSES, carrier=Carrier.ITEMS, text_before_calls=True, parallel_by_default=True),
    )
    """`function_call` items of the Responses API, a surface of its own."""
    MESSAGES = (
        "messages",
        # As in Responses, text and calls stand side by side.
        DialectSpec(
            surface=Surface.MESSAGES,
            carrier=Carrier.TOOL_USE,
            output_mode="",
            arguments_are_data=True,
            text_before_calls=True,
            parallel_by_default=True,
            wholes_obey=True,
        ),
    )
    """`tool_use` blocks of the Messages API, a surface of its own."""


DEFAULT = Dialect.OPENAI_JSON
"""The dialect of OpenAI's own clients: reports do not name it; a target of which nothing is known is asked in it."""
CHATS = tuple(dialect for dialect in Dialect if dialect.spec.surface is Surface.CHAT)
"""The dialects of chat completions."""
OPENAIS = tuple(dialect for dialect in Dialect if dialect.spec.surface is not Surface.MESSAGES)
"""The dialects of OpenAI's interfaces: what is about their parameters, or about text in which calls are written, is
not about Messages."""
ONE_OF_EACH = (Dialect.OPENAI_JSON, Dialect.RESPONSES, Dialect.MESSAGES)
"""One dialect of each surface: the one that is spoken wherever the surface is."""
WITH_TOOLS = tuple(dialect for dialect in Dialect if not dialect.spec.functions)
"""The dialects whose requests offer `tools`: calls have ids there, and an answer has room for several."""
CHATS_WITH_TOOLS = tuple(dialect for dialect in CHATS if dialect in WITH_TOOLS)
"""Those of chat completions among them."""
BLOCK_MODES = frozenset(dialect.spec.output_mode for dialect in Dialect if dialect.spec.blocks)
"""The output modes in which calls are blocks in the content."""


def carriers_of(message: Mapping[str, Any]) -> frozenset[Carrier]:
    """Where the message of a whole chat answer carries calls; empty when it has none.

    `tool_calls` beside another carrier do not count: blocks have them beside the content.
    """
    content, function_call = message.get("content"), message.get("function_call")
    found = {Carrier.BLOCKS: BLOCK in (content or ""), Carrier.FUNCTION_CALL: bool(function_call)}
    if not any(found.values()):
        found[Carrier.TOOL_CALLS] = bool(message.get("tool_calls"))
    return frozenset(carrier for carrier, carries in found.items() if carries)


def mode_of(content: str) -> Dialect:
    """The dialect whose output mode a content with a call shows."""
    return next((dialect for dialect in Dialect if dialect.spec.blocks and BLOCK in content), DEFAULT)
