"""A persona: a client of a proxy as data, and the tools that it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from wireproof_mocks.personas.answer import CallResult, ClientCall, Json, UnderstoodAnswer
    from wireproof_mocks.personas.approval.asking import Ask
    from wireproof_mocks.personas.line import Print
    from wireproof_mocks.personas.ways import Way


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What the user of a persona wants of its tools."""

    vault: Path
    """The folder of notes."""
    ask: Ask
    """Asks the user whether a call may run."""
    tools: bool = True
    """Whether tools are switched on."""


class Toolbox(Protocol):
    """The tools of a client."""

    def declared(self) -> Sequence[Json]:
        """Name, description and parameters of each tool; empty: tools are switched off."""

    def run(self, calls: Sequence[ClientCall]) -> Sequence[CallResult]:
        """What comes of the calls of one answer, run one after the other."""


@dataclass(frozen=True, kw_only=True)
class Persona:
    """An emulated client: everything in which one differs from another."""

    name: str
    """As the command line has it."""
    title: str
    """Which client it is, and in which version."""
    does: str
    """What it shows, as a sentence."""
    way: Way
    """How it carries calls."""
    script: str
    """The script that answers it, if a scripted backend is behind the proxy."""
    prompt: str
    """What its user asks."""
    toolbox: Callable[[Wishes, Print], Toolbox]
    mode: str = "openai-json"
    """The output mode that it needs of a proxy which has several."""
    system: str = ""
    """Its system prompt; none is sent when it is empty."""
    goes_on: Callable[[UnderstoodAnswer, Sequence[CallResult]], list[Json]] | None = None
    """What the history gets of calls and their results; None: what its way says."""
    tools_later: bool = True
    """Whether the requests after the first declare the tools, too."""
    without_tools: str = ""
    """The script that answers it when its tools are switched off; empty: it cannot switch them off."""
    logs_failure: str = ""
    """How it logs an answer that fails, the reason left out; empty: it does not."""
    vault: bool = False
    """Whether it works on a folder of notes, and asks before it reads them."""
