"""The `usage` step: token counts.

It has a module of its own because threads add counts up: a backend that only answers `initialize` needs this step and
none of the others, and its start should not wait for their import.
"""

from dataclasses import dataclass

from wireproof_scripts.kinds import Count


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Token counts that the backend reports for the turn. Their total is `input` + `output`."""

    input: Count = 11
    """Tokens of the request, cached ones included."""
    output: Count = 7
    """Tokens of the answer, reasoning included."""
    cached: Count = 0
    """How many of the input tokens came from the cache."""
    reasoning: Count = 0
    """How many of the output tokens were reasoning."""
    unknown: bool = False
    """The backend reports no counts at all."""
