"""Token counts: they stand in scripts, and a thread adds them up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Token counts that the backend reports for the turn; total is input + output. `unknown`: it reports none."""

    input: int = 11
    output: int = 7
    cached: int = 0
    reasoning: int = 0
    unknown: bool = False
