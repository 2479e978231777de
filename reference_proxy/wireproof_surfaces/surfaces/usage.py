"""Token counts of an answer: what the backend reported, summed over the choices, else an estimate."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.events import ArgumentsAdded, TextAdded, Thought, UsageReported, total
from wireproof_surfaces.surfaces.json_text import written

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_surfaces.events import TurnEvent

# A rule of thumb, for backends that report nothing (chat.whole.usage).
BYTES_PER_TOKEN = 4


@dataclass(slots=True)
class Meter:
    """Counts the tokens of an answer from its events; `prompt_bytes` gives the size of the conversation."""

    prompt_bytes: Callable[[], int]
    _written: int = 0
    _reasoned: int = 0
    _reported: dict[int, UsageReported] = field(default_factory=dict)

    def take(self, event: TurnEvent) -> None:
        """Count an event."""
        if isinstance(event, (TextAdded, ArgumentsAdded)):
            self.write(event.text)
        elif isinstance(event, Thought):
            before = self._written
            self.write("".join(event.raw or event.summary))
            self._reasoned += self._written - before
        elif isinstance(event, UsageReported):
            # Replaced, not added: each report of a choice holds all of its tokens so far.
            self._reported[event.choice] = event

    def write(self, text: str) -> None:
        """Count a piece of text."""
        self._written += len(text) if text.isascii() else len(text.encode(errors="replace"))

    def usage(self) -> UsageReported:
        """All that was reported, or an estimate when nothing was."""
        reports = self._reported.values()
        if not reports:
            return estimate(self.prompt_bytes(), self._written, self._reasoned)
        if len(reports) == 1:
            return next(iter(reports))
        return total(reports)


def usage_object(usage: UsageReported) -> dict[str, Any]:
    """OpenAI's `usage`; the total is the sum."""
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning,
            # No backend here speaks or is given a prediction; OpenAI says so in zeros.
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


@lru_cache
def usage_text(usage: UsageReported) -> str:
    """The same as JSON."""
    return written(usage_object(usage))


def estimate(prompt_bytes: int, answer_bytes: int, reasoned_bytes: int = 0) -> UsageReported:
    """For turns whose backend reported nothing: about four bytes to a token, never zero.

    `answer_bytes` counts those of the reasoning, `reasoned_bytes`, too.
    """
    return UsageReported(
        prompt=max(1, -(-prompt_bytes // BYTES_PER_TOKEN)),
        completion=max(1, -(-answer_bytes // BYTES_PER_TOKEN)),
        reasoning=-(-reasoned_bytes // BYTES_PER_TOKEN),
    )
