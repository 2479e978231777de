"""The border where JSON becomes typed: members of OpenAI's objects, read as what they should be.

None of these raises on a value of the wrong type: what is not as it should be is absent (None, empty). Whether
that breaks a requirement is for the callers, and for the JSON Schemas, to say.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from assay.wire.events import Failed, Usage

JsonObject = dict[str, Any]


def parse_object(text: str) -> JsonObject:
    """A JSON object, strictly as RFC 8259 has it (no `NaN`, no `Infinity`).

    Raises:
        ValueError: With a clause on what stands there instead.
    """
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from error
    if not isinstance(value, dict):
        raise ValueError(f"JSON, but no object: {text[:60]!r}")  # noqa: TRY004 - data, not misuse of the function
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def text_of(value: object) -> str | None:
    """The value if it is a string."""
    return value if isinstance(value, str) else None


def integer_of(value: object) -> int | None:
    """The value if it is an integer (a boolean is none)."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def object_of(value: object) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def usage_of(value: object, frame: int) -> Usage | None:
    """A `usage` object; None unless its three counts are integers."""
    usage = object_of(value)
    prompt, completion, total = (
        integer_of(usage.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    )
    if prompt is None or completion is None or total is None:
        return None
    return Usage(
        frame=frame,
        prompt=prompt,
        completion=completion,
        total=total,
        cached=integer_of(object_of(usage.get("prompt_tokens_details")).get("cached_tokens")),
        reasoning=integer_of(object_of(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )


def failure_of(value: object, frame: int) -> Failed:
    """An `error` object; a bare string counts as its message."""
    error = object_of(value)
    return Failed(
        frame=frame,
        message=text_of(error.get("message")) or text_of(value) or "",
        type=text_of(error.get("type")) or "",
        code=text_of(error.get("code")),
        param=text_of(error.get("param")),
    )
