"""The published events, blocks, deltas and words of a Messages stream, and the signs that they are to the grammar.

https://platform.claude.com/docs/en/build-with-claude/streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.wire.messages_grammar import BlockSign, MessageStreamSign

if TYPE_CHECKING:
    from collections.abc import Mapping

START, DELTA, STOP = "message_start", "message_delta", "message_stop"
BLOCK_START, BLOCK_DELTA, BLOCK_STOP = "content_block_start", "content_block_delta", "content_block_stop"
PING, ERROR = "ping", "error"

OF_THE_STREAM: Mapping[str, MessageStreamSign] = {
    START: MessageStreamSign.START,
    BLOCK_START: MessageStreamSign.BLOCK,
    BLOCK_DELTA: MessageStreamSign.BLOCK,
    BLOCK_STOP: MessageStreamSign.BLOCK,
    DELTA: MessageStreamSign.DELTA,
    STOP: MessageStreamSign.STOP,
    ERROR: MessageStreamSign.ERROR,
}
"""Type → sign. `ping` is none: it may come anywhere and says nothing."""

BLOCKS: Mapping[str, BlockSign] = {
    "text": BlockSign.TEXT,
    "tool_use": BlockSign.CALL,
    "thinking": BlockSign.THINKING,
    "redacted_thinking": BlockSign.COMPLETE,
}
"""Type of a block → sign; the other types are `OTHER`."""

OTHER_BLOCKS = frozenset({
    "server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
    "bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result",
    "container_upload", "advisor_tool_result", "mcp_tool_use", "mcp_tool_result", "mcp_tool_listing", "compaction",
    "fallback",
})  # fmt: skip
"""The other published types of blocks, which a proxy for a text model never makes; some of them need a beta header."""

DELTAS: Mapping[str, BlockSign] = {
    "text_delta": BlockSign.TEXT_DELTA,
    "citations_delta": BlockSign.CITATION,
    "input_json_delta": BlockSign.ARGUMENTS,
    "thinking_delta": BlockSign.THOUGHT,
    "signature_delta": BlockSign.SIGNATURE,
}
"""Type of a delta → sign; the other types are `OTHER_DELTA`."""

TOOL_USE = "tool_use"
"""The stop reason of an answer with calls."""
STOP_SEQUENCE = "stop_sequence"
"""The stop reason of an answer that one of the request's own sequences ended, which it then names."""
STOP_REASONS: Mapping[str, str] = {
    "end_turn": "stop",
    STOP_SEQUENCE: "stop",
    "pause_turn": "stop",
    TOOL_USE: "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
"""Stop reason → the finish reason of chat completions for it, so that all surfaces are compared as data."""
WITHOUT_CALLS = frozenset({"end_turn", STOP_SEQUENCE})
"""The stop reasons of an answer that is complete and calls nothing."""
CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
"""The stop reasons of an answer that was cut, perhaps inside its last call."""

ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""HTTP status → the type of error that it has; what else is wrong with a request is an invalid_request_error."""
