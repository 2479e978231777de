"""Names of tools for a backend that takes shorter ones than the Messages API does. Pure.

A name that is too long is cut, and what tells it from others that begin alike is put behind it. The client never sees
that: its own names come back.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from wireproof_surfaces.conversation import AssistantCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.conversation import Item, Tool

_DIGEST = 8


@dataclass(frozen=True, slots=True)
class ShortNames:
    """The names of some tools for a backend that takes at most `longest` characters."""

    longest: int
    own: Mapping[str, str] = field(default_factory=dict)
    """Short name → the client's, of those that differ."""

    @classmethod
    def of(cls, tools: tuple[Tool, ...], longest: int) -> ShortNames:
        """Those of the tools that a client declares."""
        long = [tool.name for tool in tools if len(tool.name) > longest]
        return cls(longest, {cls(longest).short(name): name for name in long})

    def short(self, name: str) -> str:
        """The name for the backend."""
        if len(name) <= self.longest:
            return name
        return f"{name[: self.longest - _DIGEST - 1]}_{sha256(name.encode()).hexdigest()[:_DIGEST]}"

    def tool(self, tool: Tool) -> Tool:
        """A tool as the backend knows it."""
        return replace(tool, name=self.short(tool.name))

    def item(self, item: Item) -> Item:
        """An item as the backend knows it."""
        return replace(item, name=self.short(item.name)) if isinstance(item, AssistantCall) else item
