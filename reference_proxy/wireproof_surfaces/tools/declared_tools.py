"""The tools of one request, in the order in which they were declared. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wireproof_surfaces.conversation import Tool

# OpenAI's rule for names of functions.
LONGEST_NAME = 64
NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}")


@dataclass(frozen=True, slots=True)
class DeclaredTools:
    """Tools with different names.

    Raises:
        ValueError: when a name is not acceptable, or declared twice.
    """

    tools: tuple[Tool, ...]

    def __post_init__(self) -> None:
        for name in self.names:
            if not NAME.fullmatch(name):
                raise ValueError(f"{name!r} is not 1 to 64 letters, digits, `_` or `-`")
        if len(set(self.names)) < len(self.names):
            raise ValueError("a name is declared twice")

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names."""
        return tuple(tool.name for tool in self.tools)

    @property
    def schema(self) -> str:
        """One line of JSON for each tool: its name, its description if it has one, its parameters."""
        # In the order given (turn.tool-registry-order).
        return "\n".join(map(_line, self.tools))

    def __contains__(self, name: object) -> bool:
        return name in self.names


def _line(tool: Tool) -> str:
    described = {"description": tool.description} if tool.description else {}
    fields = {"name": tool.name, **described, "parameters": tool.parameters}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
