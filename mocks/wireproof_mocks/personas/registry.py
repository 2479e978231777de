"""The tools that a client knows, behind the switch by which its user turns them on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wireproof_mocks.personas.line import Line, LineKind, Print
from wireproof_mocks.personas.vault.tools import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_mocks.personas.answer import Json


@dataclass(frozen=True, kw_only=True)
class PersonaTool:
    """A tool: what the model reads of it, what its user reads of it, and what it does."""

    name: str
    description: str
    """For the model."""
    parameters: Json
    """The JSON Schema of its arguments."""
    title: str
    """For the user."""
    purpose: str
    """For the user."""
    execute: Callable[[Json], Any]
    """Runs it; the value becomes JSON."""
    files: str = ""
    """The argument that lists files which the user selects from."""

    def declared(self) -> Json:
        """As a request declares it."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}


@dataclass(kw_only=True)
class PersonaTools:
    """The tools by name."""

    print: Print
    enabled: bool = False
    """Whether tools are called at all: off, until the user wants it."""
    _tools: dict[str, PersonaTool] = field(default_factory=dict)

    def register(self, tool: PersonaTool) -> None:
        """Add a tool."""
        self._tools[tool.name] = tool
        self.print(Line(LineKind.LOG, f"{PREFIX} Registered tool: {tool.name}"))

    def get(self, name: str) -> PersonaTool | None:
        """The tool of this name."""
        return self._tools.get(name)

    def for_request(self) -> tuple[PersonaTool, ...]:
        """The tools that requests declare: all, or none while they are switched off."""
        return tuple(self._tools.values()) if self.enabled else ()
