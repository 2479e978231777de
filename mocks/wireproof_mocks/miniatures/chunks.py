"""Chunks of chat, read and changed: what faults of its streams are made of.

What reads a chunk takes any frame: an error, [DONE] and a comment have no choice, and so no text, call or finish.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, TypeGuard

from wireproof_mocks.miniatures.rewriting import Change, at, each_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wireproof_mocks.miniatures.fault import Frame, Frames, Json

DELTA = "choices[].delta"
TEXT = f"{DELTA}.content"
CALLS = f"{DELTA}.tool_calls[]"
FUNCTION = f"{CALLS}.function"
"""Places in chunks."""
WHOLE_CALLS = "choices[].message.tool_calls"
"""The place of the calls in whole answers."""
COUNTS = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
"""Counts of a proxy that does not count."""


def is_error(frame: Frame) -> bool:
    """Whether a frame says that the stream failed."""
    return isinstance(frame, dict) and "error" in frame


def is_chunk(frame: Frame) -> TypeGuard[Json]:
    """Whether a frame is a chunk."""
    return isinstance(frame, dict) and "error" not in frame


def each(change: Callable[[Json], Frame | Iterable[Frame]]) -> Frames:
    """A fault that takes the chunks one by one; errors, [DONE] and comments pass."""
    return each_event(lambda frame: frame if is_error(frame) else change(frame))


def choice_of(frame: Frame) -> Json:
    """The first choice of a chunk, {} where there is none."""
    choices = frame.get("choices") if is_chunk(frame) else None
    return choices[0] if choices else {}


def delta_of(frame: Frame) -> Json:
    """The first choice's delta, {} where there is none."""
    delta: Json = choice_of(frame).get("delta", {})
    return delta


def text_of(frame: Frame) -> str:
    """The text of a chunk; "" when it has none, or the block of a call."""
    text: str = delta_of(frame).get("content") or ""
    # So that a fault of text leaves blocks alone, which have rows of their own.
    return "" if "<use_tool>" in text else text


def outside_blocks(change: Callable[[str], str | None]) -> Change:
    """A change of texts that hold no block."""
    return lambda text: text if "<use_tool>" in text else change(text)


def finish_of(frame: Frame) -> str | None:
    """The first choice's finish_reason."""
    return choice_of(frame).get("finish_reason")


def finishing_as(**reasons: str) -> Change:
    """Other reasons to finish, in a chunk or in a whole answer."""
    return at("choices[].finish_reason", lambda reason: reasons.get(reason, reason))


def with_delta(chunk: Json, delta: Json, finish: str | None = None) -> Json:
    """A copy of a chunk that says something else."""
    # Deep, since some faults keep a chunk and send it later.
    copy = deepcopy(chunk)
    copy["choices"] = [{**(copy["choices"] or [{"index": 0, "logprobs": None}])[0], "delta": delta,
                        "finish_reason": finish}]  # fmt: skip
    return copy


def call_of(frame: Frame) -> Json:
    """The entry of tool_calls in a chunk, {} when it has none."""
    calls = delta_of(frame).get("tool_calls")
    return calls[0] if calls else {}


def arguments_of(frame: Frame) -> str:
    """The fragment of arguments in a chunk, "" when it has none."""
    arguments: str = call_of(frame).get("function", {}).get("arguments", "")
    return arguments


def opens(frame: Frame) -> bool:
    """Whether a chunk opens a call."""
    # The reference proxy sends the id in the first delta of a call and in no other.
    return "id" in call_of(frame)


def halves(text: str) -> list[str]:
    """A text in two, those that are empty left out."""
    middle = len(text) // 2
    return [half for half in (text[:middle], text[middle:]) if half]
