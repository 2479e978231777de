"""What a prompt asks a model to do, so that driving and judging can see whether it did.

A model may ignore a prompt, which is no fault of the target. So what depends on the prompt is judged only in answers
that do what it asks; what holds of any answer is judged in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 (archives read the annotations)
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class AskSay:
    """Say exactly this text; blanks around it do not count."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AskCall:
    """Call a tool."""

    name: str | None = None
    """The tool; None: any that is declared."""
    arguments: Mapping[str, Any] | None = None
    """The arguments as JSON; None: any that the tool takes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AskCalls:
    """Make these calls in one answer, in any order."""

    calls: tuple[AskCall, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fits:
    """Answer with JSON that fits a schema. The request carries it as its output format."""

    schema: Mapping[str, Any]
    """The schema, in the subset that strict output formats take."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AskCount:
    """Count upwards from 1, longer than the answer may be: it is cut at its limit of tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Anything:
    """Answer in any way."""


Asks = AskSay | AskCalls | Fits | AskCount | Anything
