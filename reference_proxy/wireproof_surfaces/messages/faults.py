"""What is wrong with a Messages request, in the service's own words. Pure.

The service says `PATH: TEXT`. The path is dotted, with the name of the variant where a value may be one of several
(`messages.0.content.1.tool_use.id`), and most texts are those of Pydantic. As they were quoted from real answers until
November 2026; Anthropic reserves the right to change the wording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from wireproof_surfaces.errors import INVALID_PARAM, MISSING_PARAM, ApiError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

REQUIRED = "Field required"
EXTRA = "Extra inputs are not permitted"
EMPTY = "String should have at least 1 character"


class RequestFault(NamedTuple):
    """Something that is not acceptable."""

    path: str
    text: str
    problem: Problem = INVALID_PARAM
    whole: bool = False
    """Whether the text is the whole message, as of rules about several fields."""

    def error(self) -> ApiError:
        """The refusal of a request with it."""
        message = self.text if self.whole else f"{self.path}: {self.text}"
        return ApiError(self.problem, message=message, param=None if self.whole else self.path)


Rule = Callable[[Any, str], Iterator[RequestFault]]
"""A value, and its path → what is wrong with it."""


def missing(path: str) -> RequestFault:
    """A field that must be there."""
    return RequestFault(path, REQUIRED, MISSING_PARAM)


def first(faults: Iterable[RequestFault]) -> None:
    """Raise the first of these faults.

    Raises:
        ApiError: 400, naming the path.
    """
    for fault in faults:
        raise fault.error()


def string(value: object, path: str) -> Iterator[RequestFault]:
    """A string."""
    if not isinstance(value, str):
        yield RequestFault(path, "Input should be a valid string")


def some_string(value: object, path: str) -> Iterator[RequestFault]:
    """A string that is not empty."""
    yield from string(value, path)
    if value == "":
        yield RequestFault(path, EMPTY)


def boolean(value: object, path: str) -> Iterator[RequestFault]:
    """True or false."""
    if not isinstance(value, bool):
        yield RequestFault(path, "Input should be a valid boolean")


def mapping(value: object, path: str) -> Iterator[RequestFault]:
    """An object."""
    if not isinstance(value, dict):
        yield RequestFault(path, "Input should be a valid dictionary")


def array(value: object, path: str) -> Iterator[RequestFault]:
    """A list."""
    if not isinstance(value, list):
        yield RequestFault(path, "Input should be a valid list")


def integer(low: int) -> Rule:
    """A whole number, `low` or more."""

    def rule(value: object, path: str) -> Iterator[RequestFault]:
        if not isinstance(value, int) or isinstance(value, bool):
            yield RequestFault(path, "Input should be a valid integer")
        elif value < low:
            yield RequestFault(path, f"Input should be greater than or equal to {low}")

    return rule


def number(low: float, high: float) -> Rule:
    """A number in a range."""

    def rule(value: object, path: str) -> Iterator[RequestFault]:
        if not isinstance(value, int | float) or isinstance(value, bool):
            yield RequestFault(path, "Input should be a valid number")
        elif value < low:
            yield RequestFault(path, f"Input should be greater than or equal to {low:g}")
        elif value > high:
            yield RequestFault(path, f"Input should be less than or equal to {high:g}")

    return rule


def word(*words: str) -> Rule:
    """One of some words."""

    def rule(value: object, path: str) -> Iterator[RequestFault]:
        # A tuple: what a client sends need not be hashable.
        if value not in words:
            yield RequestFault(path, f"Input should be {listed(words)}")

    return rule


def listed(words: Sequence[str]) -> str:
    """`'a', 'b' or 'c'`."""
    quoted = [repr(word) for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def members(
    value: Mapping[str, Any], path: str, required: Mapping[str, Rule], optional: Mapping[str, Rule]
) -> Iterator[RequestFault]:
    """The members of an object, by their rules; null is right for an optional one."""
    for name, rule in required.items():
        if name not in value:
            yield missing(f"{path}.{name}")
        else:
            yield from rule(value[name], f"{path}.{name}")
    for name, rule in optional.items():
        if value.get(name) is not None:
            yield from rule(value[name], f"{path}.{name}")
