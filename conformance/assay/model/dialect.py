"""The dialects of answers, and how each tells a tool call."""

from __future__ import annotations

from enum import StrEnum


class Dialect(StrEnum):
    """How a proxy tells tool calls to its client."""

    OPENAI_JSON = "openai-json"
    """`tool_calls`, asked for with `tools`."""
    OBSIDIAN_XML = "obsidian-xml"
    """A `<use_tool>` block in the content, `tool_calls` beside it."""
    FUNCTION_CALL = "function-call"
    """The legacy `function_call`, asked for with `functions`."""
    RESPONSES = "responses"
    """`function_call` items of the Responses API, a surface of its own."""


class Arguments(StrEnum):
    """How a stream tells the arguments of a call."""

    INCREMENTAL = "incremental"
    """Fragments that concatenate to the arguments."""
    CUMULATIVE = "cumulative"
    """Each delta repeats all so far; the last one is the whole."""


CHATS = (Dialect.OPENAI_JSON, Dialect.OBSIDIAN_XML, Dialect.FUNCTION_CALL)
"""The dialects of chat completions."""
MODE_HEADER = "x-proxy-output-mode"
"""The request header by which a client asks for an output mode, and the response header that echoes it."""
ARGUMENTS_HEADER = "x-proxy-tool-arguments"
STOP_HEADER = "x-proxy-stop-after-tools"


def output_mode(dialect: Dialect) -> str:
    """The output mode to ask for: other dialects are asked for by the request's `functions`, or by its address."""
    return (Dialect.OBSIDIAN_XML if dialect is Dialect.OBSIDIAN_XML else Dialect.OPENAI_JSON).value


def endpoint(dialect: Dialect) -> str:
    """The path below the base URL at which a dialect is spoken."""
    return "/responses" if dialect is Dialect.RESPONSES else "/chat/completions"


def usual_arguments(dialect: Dialect) -> Arguments:
    """What a proxy does that declares nothing."""
    return Arguments.CUMULATIVE if dialect is Dialect.OBSIDIAN_XML else Arguments.INCREMENTAL
