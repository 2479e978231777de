"""The border where JSON becomes typed: members of OpenAI's objects, read as what they should be.

None of these but `parse_object` raises: what is not as it should be counts as absent (None, empty). Whether that breaks
a requirement is for the callers, and for the JSON Schemas, to say.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from wireproof.wire.events import Failed, TokenUsage
from wireproof.wire.quoting import visible

JsonObject = dict[str, Any]
CHAT_COUNTS = ("prompt", "completion")
"""The counts of tokens in a `usage` object of chat completions: `prompt_tokens` and `completion_tokens`."""
RESPONSES_COUNTS = ("input", "output")
"""Those of a response: `input_tokens` and `output_tokens`."""


def parse_object(text: str) -> JsonObject:
    """A JSON object as RFC 8259 defines it.

    Raises:
        ValueError: With a clause on what stands there instead.
    """
    try:
        # Python reads NaN and Infinity, which are no JSON (RFC 8259, section 6) and stop clients in other languages.
        value = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg} at character {error.pos})") from error
    except RecursionError as error:
        raise ValueError("not JSON that can be read (lists or objects nested by the thousand)") from error
    except ValueError as error:
        raise ValueError(f"not JSON ({error})") from error
    if not isinstance(value, dict):
        raise ValueError(f"JSON, but no object: {visible(text[:60])}")  # noqa: TRY004 - data, not misuse of the function
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def text_of(value: object) -> str | None:
    """The value if it is a string."""
    return value if isinstance(value, str) else None


def integer_of(value: object) -> int | None:
    """The value if it is an integer (a boolean is none)."""
    # 1.0 is none either: clients in typed languages refuse it where the published type is an integer.
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def object_of(value: object) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def usage_of(value: object, frame: int, names: tuple[str, str] = CHAT_COUNTS) -> TokenUsage | None:
    """A `usage` object whose counts have these names; None unless these and the total are integers."""
    usage = object_of(value)
    prompt, completion, total = (integer_of(usage.get(f"{name}_tokens")) for name in (*names, "total"))
    # All three or nothing: codex and @ai-sdk/openai fail at a usage that lacks its total.
    if prompt is None or completion is None or total is None:
        return None
    # Details are optional: every tested client copes without them.
    details = [object_of(usage.get(f"{name}_tokens_details")) for name in names]
    return TokenUsage(
        frame=frame,
        prompt=prompt,
        completion=completion,
        total=total,
        cached=integer_of(details[0].get("cached_tokens")),
        reasoning=integer_of(details[1].get("reasoning_tokens")),
    )


def failure_of(value: object, frame: int) -> Failed:
    """An `error` object; a bare string counts as its message."""
    error = object_of(value)
    return Failed(
        frame=frame,
        # Every tested client takes `{"error": "text"}`, too. That it is no envelope is for the checks to say.
        message=text_of(error.get("message")) or text_of(value) or "",
        type=text_of(error.get("type")) or "",
        code=text_of(error.get("code")),
        param=text_of(error.get("param")),
    )
