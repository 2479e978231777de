"""Requests without what a target refuses of them: the limit of tokens under its other name, say.

A live endpoint may not take every member that a prompt is sent with, and its refusal says so. What the prompt is about
is no such member: its refusal is an absence. Pure.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from wireproof.reading.asked import LIMITS
from wireproof.wire.fields import json_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.model.target import Adjustment

OTHER_NAME: Mapping[str, str] = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""The names of the same limit: models that reason take the second alone, older servers the first."""
DISPENSABLE: Mapping[str, type] = {
    **dict.fromkeys(LIMITS, int),
    **dict.fromkeys(("frequency_penalty", "presence_penalty", "top_p"), float),
    "parallel_tool_calls": bool,
    "seed": int,
    "stream_options": dict,
}
"""The members that a request can do without → what their values are; another value is wrong on purpose."""


def adjusted(body: bytes, adjustments: Mapping[str, Adjustment]) -> bytes:
    """The body with each refused member under its other name, or without it; itself where it has none of them."""
    members = json_object(body) if adjustments else None
    if members is None or not any(_is_refused(*one, adjustments) for one in members.items()):
        return body
    kept = {
        adjustments[name].instead if _is_refused(name, value, adjustments) else name: value
        for name, value in members.items()
        if not _is_refused(name, value, adjustments) or adjustments[name].instead
    }
    return json.dumps(kept, ensure_ascii=False).encode(errors="backslashreplace")


def _is_refused(name: str, value: object, adjustments: Mapping[str, Adjustment]) -> bool:
    return name in adjustments and isinstance(value, DISPENSABLE[name])
