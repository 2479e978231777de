"""A conversation as the request that begins a turn. Pure.

The service keeps no session for us: every request begins a new one that holds the whole history. The developer text and
the history are model messages in JSON, each a blob that the service asks for by its SHA-256; what the user said last is
the action. A history that ends otherwise is resumed.

    {"role": "system", "content": TEXT}
    {"role": "user", "content": TEXT}
    {"role": "assistant", "content": [{"type": "text", …}, {"type": "tool-call", toolCallId, toolName, args}, …]}
    {"role": "tool", "content": [{"type": "tool-result", toolCallId, toolName, result}]}

Tools are declared as those of an MCP server, in the request and in its context; the service may ask for the context
again in the turn.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_cursor_protos import agent_pb2
from wireproof_surfaces.assembly.characters import whole
from wireproof_surfaces.conversation import AssistantCall, Message, TextPart, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof_surfaces.conversation import Conversation, Part, Tool
    from wireproof_surfaces.surfaces.json_text import Json

PROVIDER = "wireproof-proxy"
"""The name of the MCP server that the client's tools seem to be of."""
DEFAULT_MODEL = "default"
"""What the service calls its own choice."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Opening:
    """All that a turn begins with."""

    run: agent_pb2.AgentRunRequest
    context: agent_pb2.RequestContext
    """The answer to a request for the context."""
    blobs: Mapping[bytes, bytes]
    """What the request refers to, by its SHA-256."""


def opening(conversation: Conversation, workspace: str = "") -> Opening:
    """The request for a conversation, in a new session; `workspace` is the folder of the built-in tools."""
    tools = [_tool(tool) for tool in conversation.tools]
    # Where the tools run; nothing of this machine but the folder, if there is one.
    where = agent_pb2.RequestContextEnv(workspace_paths=[workspace] if workspace else [], project_folder=workspace)
    context = agent_pb2.RequestContext(tools=tools, env=where)
    blobs = [json.dumps(message, ensure_ascii=False).encode(errors="replace") for message in _prompt(conversation)]
    ids = [hashlib.sha256(blob).digest() for blob in blobs]
    model = whole(conversation.model or DEFAULT_MODEL)
    run = agent_pb2.AgentRunRequest(
        # It must be there even if it is empty: the service refuses a request without it.
        conversation_state=agent_pb2.ConversationStateStructure(root_prompt_messages_json=ids),
        action=_action(conversation, context),
        model_details=agent_pb2.ModelDetails(
            model_id=model, display_model_id=model, display_name=model, display_name_short=model
        ),
        mcp_tools=agent_pb2.McpTools(mcp_tools=tools),
        conversation_id=str(uuid.uuid4()),
        # What is to replace model_details; both are sent, as clients do.
        requested_model=agent_pb2.RequestedModel(model_id=model),
    )
    return Opening(run=run, context=context, blobs=dict(zip(ids, blobs, strict=True)))


def _action(conversation: Conversation, context: agent_pb2.RequestContext) -> agent_pb2.ConversationAction:
    if not conversation.input:
        resume = agent_pb2.ResumeAction(request_context=context)
        return agent_pb2.ConversationAction(resume_action=resume)
    said = agent_pb2.UserMessage(
        text=whole(_text(conversation.input)),
        message_id=str(uuid.uuid4()),
        mode=agent_pb2.AGENT_MODE_AGENT,
    )
    action = agent_pb2.UserMessageAction(user_message=said, request_context=context)
    return agent_pb2.ConversationAction(user_message_action=action)


def _tool(tool: Tool) -> agent_pb2.McpToolDefinition:
    declared = agent_pb2.McpToolDefinition(
        name=tool.name,
        # The service has natively what the client calls read or bash; the client's own names are what it is to use.
        tool_name=tool.name,
        description=whole(tool.description),
        provider_identifier=PROVIDER,
    )
    declared.input_schema.struct_value.update(_clean(dict(tool.parameters)))
    return declared


def _clean(value: Any) -> Any:  # noqa: ANN401 - any JSON
    match value:
        case str():
            return whole(value)
        case dict():
            return {whole(str(key)): _clean(one) for key, one in value.items()}
        case list() | tuple():
            return [_clean(one) for one in value]
        case _:
            return value


def _prompt(conversation: Conversation) -> Iterator[Json]:
    """The messages before the action."""
    if conversation.developer is not None:
        yield {"role": "system", "content": whole(conversation.developer)}
    names: dict[str, str] = {}
    answer: list[Json] = []
    for item in conversation.history:
        if isinstance(item, AssistantCall):
            names[item.id] = item.name
            answer.append(_call(item))
            continue
        # What the assistant said and the calls that follow are one message of the model.
        if answer:
            yield {"role": "assistant", "content": answer}
            answer = []
        match item:
            case Message(role="assistant"):
                text = whole(_text(item.parts))
                answer = [{"type": "text", "text": text}] if text else []
            case Message():
                role = "user" if item.role == "user" else "system"
                yield {"role": role, "content": whole(_text(item.parts))}
            case ToolResult():
                yield {"role": "tool", "content": [_result(item, names.get(item.id, ""))]}
    if answer:
        yield {"role": "assistant", "content": answer}


def _call(call: AssistantCall) -> Json:
    return {
        "type": "tool-call",
        "toolCallId": whole(call.id),
        "toolName": whole(call.name),
        "args": _arguments(call.arguments),
    }


def _arguments(text: str) -> object:
    """The arguments as an object, or as the text that they are where that is no object."""
    try:
        found = _clean(json.loads(text))
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else whole(text)


def _result(result: ToolResult, name: str) -> Json:
    return {
        "type": "tool-result",
        "toolCallId": whole(result.id),
        "toolName": whole(name),
        "result": whole(result.labelled_output),
    }


def _text(parts: tuple[Part, ...]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))
