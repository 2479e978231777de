"""What a run request says: the conversation as items of the Responses API, the tools, and what is asked now.

The history is in blobs, each a message as JSON: `role` and `content`, a text or parts (`text`, `tool-call`,
`tool-result`). Some clients write calls and results into texts instead, or the whole conversation into the user's;
those are found, too (`flattened`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from google.protobuf.json_format import MessageToDict

from wireproof_cursor.runs.pairing import call_item, item_of, message_item, result_item, unfolded
from wireproof_cursor.runs.written import in_message
from wireproof_scripts.conversation import message_text
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wireproof_cursor_protos import agent_pb2 as pb

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredTool:
    """A tool that the client declares."""

    name: str
    """How the model calls it: `tool_name`, or `name` if that is empty."""
    definition: pb.McpToolDefinition

    def declared(self) -> Json:
        """In the form of the app-server's dynamic tools, as the language's backends share it."""
        schema = MessageToDict(self.definition.input_schema) if self.definition.HasField("input_schema") else None
        return {"name": self.name, "description": self.definition.description, "inputSchema": _whole(schema)}


def _whole(schema: object) -> object:
    """The schema with whole numbers as such: a google.protobuf.Value knows doubles alone."""
    match schema:
        case dict():
            return {key: _whole(value) for key, value in schema.items()}
        case list():
            return [_whole(value) for value in schema]
        case float() if schema.is_integer():
            return int(schema)
        case None:
            return {"type": "object"}
    return schema


def tools_of(definitions: Iterable[pb.McpToolDefinition]) -> list[DeclaredTool]:
    """The tools of a declaration, each once; a client may declare them in two places."""
    found: dict[str, DeclaredTool] = {}
    for definition in definitions:
        name = definition.tool_name or definition.name
        found.setdefault(name, DeclaredTool(name=name, definition=definition))
    return list(found.values())


@dataclass(kw_only=True, slots=True)
class RunConversation:
    """What a run request asks, and on what history."""

    model: str
    developer: list[str] = field(default_factory=list)
    """The texts of the system: messages, `custom_system_prompt`, `cloud_rule`."""
    history: list[Json] = field(default_factory=list)
    """All before the user's text, but that of the system."""
    given: list[Json] = field(default_factory=list)
    """The user's text as input; empty if the request continues from results."""
    since: list[Json] = field(default_factory=list)
    """The calls of this run, and their results."""
    tools: list[DeclaredTool] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The user's text."""
        return "\n".join(item["text"] for item in self.given)

    @property
    def instructions(self) -> str:
        """The texts of the system as one."""
        return "\n\n".join(self.developer)

    def items(self) -> list[Json]:
        """All in order, the text of this request included, and the calls and results that are written into it."""
        own = [message_item("user", self.text)] if self.given else []
        return [*unfolded([*self.history, *own]), *self.since]

    def declared(self) -> list[Json]:
        """The tools in the form of the app-server's dynamic tools."""
        return [tool.declared() for tool in self.tools]

    def called(self, call_id: str, name: str, arguments: str, output: str) -> None:
        """Add a call of this run and its result."""
        self.since += [call_item(call_id, name, arguments), result_item(call_id, output)]

    def last_call(self) -> list[Json]:
        """The last call of this run as a part of a message; none if there was none."""
        calls = [item for item in self.since if item["type"] == "function_call"][-1:]
        return [
            {
                "type": "tool-call",
                "toolCallId": call["call_id"],
                "toolName": call["name"],
                "args": parse_json(call["arguments"]),
            }
            for call in calls
        ]

    def received(self) -> Json:
        """What `reflect` reports; what the client wrote as instructions and what it declared is all that it knows."""
        return {
            "developer": self.instructions,
            "base": None,
            "model": self.model,
            "history": [*self.history, *self.since],
            "input": self.given,
            "tools": self.declared(),
            "schema": None,
        }


def read(request: pb.AgentRunRequest, blobs: Mapping[bytes, bytes | None]) -> RunConversation:
    """The conversation of a run request whose blobs are these."""
    found = RunConversation(model=request.model_details.model_id or request.requested_model.model_id)
    for name in request.conversation_state.root_prompt_messages_json:
        _add(found, _parsed(blobs.get(name)))
    action = request.action
    if action.HasField("user_message_action"):
        found.given.append({"type": "text", "text": action.user_message_action.user_message.text})
    context = context_of(request)
    found.developer += [text for text in (request.custom_system_prompt, context.cloud_rule if context else "") if text]
    found.tools = tools_of([*request.mcp_tools.mcp_tools, *(context.tools if context else ())])
    return found


def context_of(request: pb.AgentRunRequest) -> pb.RequestContext | None:
    """The context in a run request; None if it has none, so that it must be asked for."""
    action = request.action
    match action.WhichOneof("action"):
        case "user_message_action" if action.user_message_action.HasField("request_context"):
            return action.user_message_action.request_context
        case "resume_action" if action.resume_action.HasField("request_context"):
            return action.resume_action.request_context
    return None


def _parsed(blob: bytes | None) -> Json:
    try:
        message = parse_json(blob or b"{}")
    except ValueError:  # UnicodeDecodeError is a ValueError
        return {}
    return message if isinstance(message, dict) else {}


_SYSTEM = ("system", "developer")


def _add(conversation: RunConversation, message: Json) -> None:
    role = message.get("role")
    for item in map(item_of, in_message(message)):
        if role in _SYSTEM:
            conversation.developer.append(message_text(item))
        else:
            conversation.history.append(item)
