"""A request for a response: what it asks for, and what a `reflect` step reports of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_scripts.conversation import is_result, message_text
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping

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
"""Tools that Codex itself declares. The default answer calls only tools of the client, so they are left out."""

_INSTRUCTION_ROLES = ("developer", "system")


class UnreadableRequestError(ValueError):
    """The body is no request for a streamed response; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRequest:
    """A request."""

    model: str
    thread: str
    """The thread of the app-server that sends it (`prompt_cache_key`); empty if it names none."""
    items: tuple[Json, ...]
    """Its input."""
    tools: tuple[Json, ...]
    """The tools of the client, in the form of the app-server's dynamic tools."""
    namespaces: Mapping[str, str]
    """The namespace of each function that has one, by its name."""
    schema: Json | None = None
    """The JSON schema that the answer must match; None for any text."""

    @property
    def continues(self) -> bool:
        """Whether it ends with the result of a call: if the thread has a turn, that turn goes on."""
        return bool(self.items) and is_result(self.items[-1])

    def spelled(self, name: str) -> tuple[str, str | None]:
        """A function as this version of Codex is to be called with it: its name and its namespace, None without one.

        A tool of an MCP server is `mcp__SERVER__TOOL`, and in later versions TOOL of a namespace.
        """
        for function, space in self.namespaces.items():
            if name in {function, f"{space.removesuffix('__')}__{function}"}:
                return function, space
        return name, None

    @property
    def received(self) -> Json:
        """What `reflect` reports.

        All input but developer text is history: a request does not say what is new in it, nor what Codex has added.
        """
        developer = [message_text(item) for item in self.items if item.get("role") in _INSTRUCTION_ROLES]
        return {
            "developer": "\n".join(developer),
            # 0.169.0 sends base instructions as its first developer message, which looks like the client's own.
            "base": None,
            "model": self.model,
            "history": [item for item in self.items if item.get("role") not in _INSTRUCTION_ROLES],
            "input": [],
            "tools": list(self.tools),
            "schema": self.schema,
        }


def read(body: bytes) -> ModelRequest:
    """Parse the body of a request.

    Raises:
        UnreadableError: the body is no request for a streamed response.
    """
    try:
        data = parse_json(body)
    except ValueError as error:
        raise UnreadableRequestError(f"the body is no JSON: {error}") from error
    match data:
        # Codex always streams.
        case {"model": str(model), "input": list(given), "stream": True}:
            items = tuple(item for item in given if isinstance(item, dict))
            thread = str(data.get("prompt_cache_key") or "")
            tools = tuple(_declared(data.get("tools")))
            spaces, schema = _namespaces(data.get("tools")), _schema(data.get("text"))
            return ModelRequest(model=model, thread=thread, items=items, tools=tools, namespaces=spaces, schema=schema)
    raise UnreadableRequestError("expected an object with model, a list as input, and stream: true")


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
        # Codex also declares tools of other types (namespace, web_search), none of which is a client's.
        if isinstance(tool, dict) and tool.get("type") == "function" and tool.get("name") not in OWN_TOOLS
    ]


def _namespaces(tools: object) -> Mapping[str, str]:
    given = tools if isinstance(tools, list) else []
    spaces = [tool for tool in given if isinstance(tool, dict) and tool.get("type") == "namespace"]
    return {function["name"]: space["name"] for space in spaces for function in space.get("tools") or ()}


def _schema(text: object) -> Json | None:
    """The schema in a request's `text`."""
    match text:
        case {"format": {"type": "json_schema", "schema": dict(schema)}}:
            return schema
    return None
