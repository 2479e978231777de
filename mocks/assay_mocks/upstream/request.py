"""What a request for a response asks, and what a script can say of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from assay_scripts.conversation import is_result, message_text

Json = dict[str, Any]

OWN_TOOLS = frozenset(
    {
        "apply_patch",
        "create_goal",
        "exec_command",
        "get_goal",
        "list_mcp_resource_templates",
        "list_mcp_resources",
        "read_mcp_resource",
        "request_user_input",
        "shell",
        "shell_command",
        "update_goal",
        "update_plan",
        "view_image",
        "write_stdin",
    }
)
"""Tools that Codex itself declares: the default answer calls none of them."""

_INSTRUCTING = ("developer", "system")


class UnreadableError(ValueError):
    """A request that is none; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request: its model, the items of its input, and the tools that its client declared, as the mock knows them.

    `thread`: the key under which Codex has its thread cached; "" if there is none.
    """

    model: str
    thread: str
    items: tuple[Json, ...]
    tools: tuple[Json, ...]

    @property
    def continues(self) -> bool:
        """Whether it brings the results of calls: if the thread asked before, its turn goes on."""
        return bool(self.items) and is_result(self.items[-1])

    @property
    def received(self) -> Json:
        """What `Reflect` tells: here all input but developer text is history, and nobody knows what text is Codex's."""
        developer = [message_text(item) for item in self.items if item.get("role") in _INSTRUCTING]
        return {
            "developer": "\n".join(developer),
            "base": None,
            "model": self.model,
            "history": [item for item in self.items if item.get("role") not in _INSTRUCTING],
            "input": [],
            "tools": list(self.tools),
        }


def read(body: bytes) -> Asked:
    """What the body of a request asks.

    Raises:
        UnreadableError: it is no request for a streamed response.
    """
    try:
        data = json.loads(body)
    except ValueError as error:
        raise UnreadableError(f"the body is no JSON: {error}") from error
    match data:
        case {"model": str(model), "input": list(given), "stream": True}:
            items = tuple(item for item in given if isinstance(item, dict))
            thread = str(data.get("prompt_cache_key") or "")
            return Asked(model=model, thread=thread, items=items, tools=tuple(_declared(data.get("tools"))))
    raise UnreadableError("expected an object with model, a list as input, and stream: true")


def _declared(tools: object) -> list[Json]:
    """The functions that are not Codex's own."""
    given = tools if isinstance(tools, list) else []
    return [
        {
            "name": tool["name"],
            "description": tool.get("description"),
            "inputSchema": tool.get("parameters") or {"type": "object"},
        }
        for tool in given
        if isinstance(tool, dict) and tool.get("type") == "function" and tool.get("name") not in OWN_TOOLS
    ]
