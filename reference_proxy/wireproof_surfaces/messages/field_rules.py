"""The fields of a Messages request, each by itself: which there are, and what is acceptable. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_surfaces.messages.content_blocks import cache_control
from wireproof_surfaces.messages.faults import (
    EXTRA,
    RequestFault,
    Rule,
    array,
    boolean,
    integer,
    mapping,
    members,
    number,
    some_string,
    string,
    word,
)
from wireproof_surfaces.messages.messages_input import system

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EFFORTS = ("low", "medium", "high", "xhigh", "max")


def _stops(sent: object, path: str) -> Iterator[RequestFault]:
    yield from array(sent, path)
    for index, text in enumerate(sent if isinstance(sent, list) else ()):
        yield from string(text, f"{path}.{index}")
        if not text.strip():
            yield RequestFault(path, "each stop sequence must contain non-whitespace")


def _format(sent: object, path: str) -> Iterator[RequestFault]:
    yield from mapping(sent, path)
    if isinstance(sent, dict):
        yield from members(sent, path, {"type": word("json_schema"), "schema": mapping}, {})


def _output_config(sent: object, path: str) -> Iterator[RequestFault]:
    yield from mapping(sent, path)
    if isinstance(sent, dict):
        yield from members(sent, path, {}, {"effort": word(*EFFORTS), "format": _format})


def _metadata(sent: object, path: str) -> Iterator[RequestFault]:
    yield from mapping(sent, path)
    if isinstance(sent, dict):
        yield from members(sent, path, {}, {"user_id": string})
        yield from (RequestFault(f"{path}.{name}", EXTRA) for name in sent if name != "user_id")


def _thread(sent: object, path: str) -> Iterator[RequestFault]:
    yield from mapping(sent, path)
    if isinstance(sent, dict):
        yield from members(sent, path, {"type": word("create", "continue")}, {})
        if sent["type"] == "continue":
            yield from members(sent, f"{path}.continue", {"previous_message_id": some_string}, {})


def _servers(sent: object, path: str) -> Iterator[RequestFault]:
    yield from array(sent, path)
    if sent:
        # To answer as if they were there would be worse.
        yield RequestFault(path, "servers of tools are not reached from here")


FIELDS: Mapping[str, Rule] = {
    # 0 is legal: it fills the cache, and there is no answer.
    "max_tokens": integer(0),
    "system": system,
    "stream": boolean,
    "stop_sequences": _stops,
    "temperature": number(0, 1),
    "top_p": number(0, 1),
    "top_k": integer(0),
    "output_config": _output_config,
    "output_format": _format,
    "metadata": _metadata,
    "service_tier": word("auto", "standard_only"),
    "cache_control": cache_control,
    "thread": _thread,
    "mcp_servers": _servers,
}
"""Field → the rule of its value by itself, in order."""
KNOWN = frozenset(
    {
        *FIELDS,
        "model",
        "messages",
        "tools",
        "tool_choice",
        "thinking",
        # Taken and not looked at: what they ask for is the service's own matter.
        "container",
        "inference_geo",
        "speed",
        "diagnostics",
        "context_management",
        "compaction",
        "fallbacks",
    }
)
"""All fields of the API, those of its betas too."""
