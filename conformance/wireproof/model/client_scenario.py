"""Scenarios for a client: what it is asked to do, and which script answers it. The requests are the client's own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Form, Mode, PlainScenario, Request

if TYPE_CHECKING:
    from collections.abc import Iterable


class ClientNeed(StrEnum):
    """What a client must be able to do for a scenario to show anything."""

    TEXT = "text"
    """Send a request; any client can."""
    TOOLS = "tools"
    """Declare a tool, and run it when it is called."""


# By identity, as all scenarios.
@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ClientScenario(PlainScenario):
    """A client is started, or called, and asked something; each of its requests is an exchange of the scenario."""

    requests: tuple[Request, ...] = ()
    """None: they are the client's."""
    dialects: tuple[Dialect, ...] = (Dialect.OPENAI_JSON, Dialect.RESPONSES, Dialect.MESSAGES)
    prompts: tuple[str, ...]
    """What the person says, turn by turn. A client that takes one prompt as an argument gets the first alone."""
    script: str
    """The name of what answers; `wireproof.clients.scripts` has it."""
    need: ClientNeed = ClientNeed.TEXT
    leaves: bool = False
    """The person leaves at the first text: the program gets SIGINT."""

    def forms(self, dialects: Iterable[Dialect]) -> tuple[Form, ...]:
        """Every form: which of them it takes is the client's to choose."""
        known = set(dialects)
        return tuple(Form(dialect, mode) for dialect in self.dialects if dialect in known for mode in Mode)
