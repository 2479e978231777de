"""The raw events of threads that asked for them: the model's own items, as the Responses API has them.

No schema of the real server lists these events. They are the only place where a call's arguments stand as the model
spelled them, and the only sign that an answer of the model is complete while its calls wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_codex.notifications.item_messages import usage
from wireproof_codex.versions.forms import trimmed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.versions.forms import Forms
    from wireproof_scripts.steps import Think, Usage, WebSearch


def response(place: Json, identity: str, counts: Usage, *, metadata: bool) -> Json:
    """rawResponse/completed: the model's answer is complete, no more calls follow."""
    told = {
        "input_tokens": counts.input,
        "input_tokens_details": {"cached_tokens": counts.cached},
        "output_tokens": counts.output,
        "output_tokens_details": {"reasoning_tokens": counts.reasoning},
        "total_tokens": counts.input + counts.output,
    }
    return {
        **place,
        "responseId": identity,
        "usage": usage(counts),
        "usageMetadata": {"amount": None, "metadata": told} if metadata else None,
    }


def passed_through(item: Mapping[str, Any], turn_id: str, forms: Forms, extra: Mapping[str, Any] | None = None) -> Json:
    """A Responses item as rawResponseItem/completed carries it: `extra` beside the turn's id, the fields by `forms`."""
    passed = {**item, "internal_chat_message_metadata_passthrough": {"turn_id": turn_id, **(extra or {})}}
    return trimmed(forms, f"raw {item['role']}" if "role" in item else "raw", passed)


def message(identity: str, text: str) -> Json:
    """The model's text as a Responses item."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "status": "completed", "id": identity, "role": "assistant", "content": content}


def reasoning(identity: str, thought: Think) -> Json:
    """The model's thoughts as a Responses item."""
    item: Json = {"type": "reasoning", "id": identity, "summary": [{"type": "summary_text", "text": thought.text}]}
    if thought.raw:
        item["content"] = [{"type": "reasoning_text", "text": "".join(thought.raw)}]
    if thought.encrypted:
        item["encrypted_content"] = thought.encrypted
    return item


def web_search(search: WebSearch) -> Json:
    """A search of the model's service as a Responses item."""
    action = {"type": "search", "query": search.query}
    return {"type": "web_search_call", "id": search.id, "status": "completed", "action": action}


def call(identity: str, name: str, arguments: str, call_id: str, namespace: str | None = None) -> Json:
    """A call as a Responses item; the only place that has the model's own spelling of the arguments."""
    return {
        "type": "function_call",
        "status": "completed",
        "id": identity,
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "arguments": arguments,
        "call_id": call_id,
    }


def output_of(identity: str, call_id: str, output: str | list[Json]) -> Json:
    """The result of a call as a Responses item."""
    return {"type": "function_call_output", "id": identity, "call_id": call_id, "output": output}


def program(identity: str, source: str, call_id: str) -> Json:
    """A program of the model as a Responses item."""
    return {
        "type": "custom_tool_call",
        "id": identity,
        "status": "completed",
        "call_id": call_id,
        "name": "exec",
        "namespace": "functions",
        "input": source,
    }


def printed(identity: str, call_id: str, output: str | list[Json]) -> Json:
    """The output of a program as a Responses item."""
    return {"type": "custom_tool_call_output", "id": identity, "call_id": call_id, "output": output}


def aborted(identity: str) -> Json:
    """The item by which the model learns of an interrupt."""
    text = (
        "<turn_aborted>\nThe user interrupted the previous turn on purpose. Any running unified exec processes may "
        "still be running in the background. If any tools/commands were aborted, they may have partially executed.\n"
        "</turn_aborted>"
    )
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "id": f"msg_{identity}", "role": "user", "content": content}


# Sent from 0.150.0 on (`versions.names`).
UNKNOWN_KINDS: Json = {"content_item_kinds": ["unknown"]}
USER_KINDS: Json = {
    "content_item_kinds": ["user.text"],
    "content_item_metadata": [{"provenance": {"type": "user"}}],
}
ABORTED_KINDS: Json = {
    "content_item_kinds": ["generic.turn_aborted"],
    "content_item_metadata": [{"provenance": {"type": "harness", "hook": False}}],
}
