"""The border where JSON becomes typed: texts read as JSON, members of OpenAI's objects as what they should be.

Whatever a target sent is read here and nowhere else, so that nothing that it sends can raise anything but a ValueError.
None of these but `parse_json` and `parse_object` raises: what is not as it should be counts as absent (None, empty).
Whether that breaks a requirement is for the callers, and for the JSON Schemas, to say.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from wireproof.wire.events import Failed, TokenUsage
from wireproof.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Callable

JsonObject = dict[str, Any]
DEEPEST = 127
"""How deep lists and objects may be nested: serde_json, by which Codex reads, refuses more, as parsers of other
languages do; no answer of a model's service comes near."""
_TOO_DEEP = f"lists or objects are nested more than {DEEPEST} deep"
CHAT_COUNTS = ("prompt", "completion")
"""The counts of tokens in a `usage` object of chat completions: `prompt_tokens` and `completion_tokens`."""
RESPONSES_COUNTS = ("input", "output")
"""Those of a response: `input_tokens` and `output_tokens`."""


def parse_json(text: str | bytes, **read_by: Callable[[str], object]) -> Any:  # noqa: ANN401 (JSON)
    """The value of a JSON text; `read_by`: what reads its numbers, as in `json.loads`.

    Raises:
        ValueError: It is no JSON, or nested deeper than `DEEPEST`.
    """
    try:
        value = json.loads(text, **read_by)  # type: ignore[arg-type]  # which of its parameters these are, it says itself
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    opened = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    # Counted first, since most texts cannot be that deep.
    if opened > DEEPEST and _is_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def marked(value: object) -> object:
    """A JSON value with its booleans marked, so that no two values are equal that differ: Python's True equals 1."""
    match value:
        case bool():
            return ("boolean", value)
        case dict():
            return {name: marked(inner) for name, inner in value.items()}
        case list():
            return [marked(inner) for inner in value]
        case _:
            return value


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(DEEPEST + 1):
        inner = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        if not inner:
            return False
        level = [one for those in inner for one in those]
    return True


def json_of(text: str | bytes) -> Any:  # noqa: ANN401 (JSON)
    """The value of a JSON text; None for any other text."""
    try:
        return parse_json(text)
    except ValueError:
        return None


def json_object(text: str | bytes) -> JsonObject | None:
    """The JSON object that a text is; None for any other text."""
    value = json_of(text)
    return value if isinstance(value, dict) else None


def parse_object(text: str) -> JsonObject:
    """A JSON object as RFC 8259 defines it.

    Raises:
        ValueError: With a clause on what stands there instead.
    """
    try:
        # Python reads NaN and Infinity, which are no JSON (RFC 8259, section 6) and stop clients in other languages.
        value = parse_json(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg} at character {error.pos})") from error
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
