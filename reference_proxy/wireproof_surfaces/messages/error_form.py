"""Errors as the Messages API writes them, before an answer and within a stream, and what is wrong with a request. Pure.

    {"type": "error", "error": {"type": TYPE, "message": "PATH: …"}, "request_id": "req_…"}

The type follows from the status (docs.claude.com, "API errors"). There is no member for the field at fault, so the
message names it. Of a request the service says `PATH: TEXT`. The path is dotted, with the name of the variant where a
value may be one of several (`messages.0.content.1.tool_use.id`), and most texts are those of Pydantic. As they were
quoted from real answers until November 2026; Anthropic reserves the right to change the wording.

A rule raises the refusal of the first thing that is wrong with a value, and gives the value back as what it then is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.errors import FAILURES, INVALID_PARAM, MISSING_PARAM, ApiError, failure_message
from wireproof_surfaces.events import FailureReason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_surfaces.errors import Problem
    from wireproof_surfaces.events import ChoiceFailed
    from wireproof_surfaces.surfaces.json_text import Json


OVERLOADED = 529
"""The status of this API for what others say with 503."""
_SERVER = 500
_TYPES: Mapping[int, str] = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    408: "timeout_error",
    503: "overloaded_error",
    504: "timeout_error",
    OVERLOADED: "overloaded_error",
}
"""Status → type; any other is an invalid_request_error, or from 500 on an api_error."""
EXTRA = "Extra inputs are not permitted"

Rule = Callable[[object, str], object]
"""Takes a value, and its path.

Raises:
    ApiError: 400, naming the path of what is not acceptable.
"""


def type_of(status: int) -> str:
    """The type of an error with this status."""
    return _TYPES.get(status, "api_error" if status >= _SERVER else "invalid_request_error")


def status_of(problem: Problem) -> int:
    """The status of a problem; only an overload of the model has one of its own here."""
    return OVERLOADED if problem is FAILURES[FailureReason.OVERLOADED] else problem.status


def error_body(error: ApiError, request_id: str) -> Json:
    """The body of a response that is an error."""
    message = error.message or error.problem.message
    if error.param and not message.startswith(error.param):
        message = f"{error.param}: {message}"
    shown: Json = {"type": type_of(error.problem.status), "message": message}
    if error.details:
        shown["details"] = error.details
    return {"type": "error", "error": shown, "request_id": request_id}


def error_event(failed: ChoiceFailed) -> Json:
    """The event of a stream that has failed."""
    kind = type_of(FAILURES[failed.cause].status)
    return {"type": "error", "error": {"type": kind, "message": failure_message(failed)}}


def fault(path: str, text: str, problem: Problem = INVALID_PARAM) -> ApiError:
    """The refusal of what is at a path."""
    return ApiError(problem, message=f"{path}: {text}", param=path)


def fault_of_several(text: str) -> ApiError:
    """The refusal of several fields together, which names no path."""
    return ApiError(INVALID_PARAM, message=text)


def missing(path: str) -> ApiError:
    """The refusal of a request without a field that must be there."""
    return fault(path, "Field required", MISSING_PARAM)


def string(value: object, path: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise _of_another_type("string", path)
    return value


def boolean(value: object, path: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise _of_another_type("boolean", path)
    return value


def mapping(value: object, path: str) -> dict[str, Any]:
    """An object."""
    if not isinstance(value, dict):
        raise _of_another_type("dictionary", path)
    return value


def array(value: object, path: str) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        raise _of_another_type("list", path)
    return value


def string_or_array(value: object, path: str) -> str | list[Any]:
    """A string or a list."""
    if not isinstance(value, str | list):
        raise _of_another_type("string or list", path)
    return value


def _of_another_type(name: str, path: str) -> ApiError:
    return fault(path, f"Input should be a valid {name}")


def some_string(value: object, path: str) -> None:
    """A string that is not empty."""
    if not string(value, path):
        raise fault(path, "String should have at least 1 character")


def integer(low: int) -> Rule:
    """A whole number, `low` or more."""

    def rule(value: object, path: str) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            raise fault(path, "Input should be a valid integer")
        if value < low:
            raise fault(path, f"Input should be greater than or equal to {low}")

    return rule


def number(low: float, high: float) -> Rule:
    """A number in a range."""

    def rule(value: object, path: str) -> None:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise fault(path, "Input should be a valid number")
        if value < low:
            raise fault(path, f"Input should be greater than or equal to {low:g}")
        if value > high:
            raise fault(path, f"Input should be less than or equal to {high:g}")

    return rule


def word(*words: str) -> Callable[[object, str], str]:
    """One of some words."""

    def rule(value: object, path: str) -> str:
        if not isinstance(value, str) or value not in words:
            raise fault(path, f"Input should be {listed(words)}")
        return value

    return rule


def listed(words: Sequence[str]) -> str:
    """`'a', 'b' or 'c'`."""
    quoted = [repr(word) for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def each(rule: Rule) -> Rule:
    """A list, each entry of which is right by this rule."""

    def rule_of_all(values: object, path: str) -> None:
        for index, value in enumerate(array(values, path)):
            rule(value, f"{path}.{index}")

    return rule_of_all


def members(required: Mapping[str, Rule], optional: Mapping[str, Rule]) -> Callable[[object, str], Mapping[str, Any]]:
    """An object, by the rules of its members; null is right for an optional one."""

    def rule_of_all(value: object, path: str) -> Mapping[str, Any]:
        found = mapping(value, path)
        for name, rule in required.items():
            if name not in found:
                raise missing(f"{path}.{name}")
            rule(found[name], f"{path}.{name}")
        for name, rule in optional.items():
            if found.get(name) is not None:
                rule(found[name], f"{path}.{name}")
        return found

    return rule_of_all


def one_of(kinds: Mapping[str, Rule]) -> Rule:
    """An object of one of these types, by the rule of its type."""
    known = word(*kinds)

    def rule(value: object, path: str) -> None:
        kind = mapping(value, path).get("type")
        if kind is None:
            raise missing(f"{path}.type")
        kinds[known(kind, f"{path}.type")](value, f"{path}.{kind}")

    return rule
