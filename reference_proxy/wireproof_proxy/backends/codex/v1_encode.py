"""A conversation as the requests that start a turn of `codex app-server`, v1. Pure.

The developer text belongs to the conversation. There is no history: the message holds the earlier messages as text
(`flatten`), and then the user's input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_proxy.backends.flatten import flat
from wireproof_surfaces.conversation import FilePart, ImagePart, Part, TextPart

if TYPE_CHECKING:
    from wireproof_surfaces.conversation import Conversation
    from wireproof_surfaces.surfaces.json_text import Json


CONVERSATION: Json = {"approvalPolicy": "never", "sandbox": "read-only"}


def new_conversation(conversation: Conversation) -> Json:
    """Params of newConversation."""
    params = dict(CONVERSATION)
    if conversation.developer is not None:
        params["developerInstructions"] = conversation.developer
    if conversation.model is not None:
        params["model"] = conversation.model
    return params


def send_user_message(conversation_id: str, conversation: Conversation) -> Json:
    """Params of sendUserMessage."""
    return {"conversationId": conversation_id, "items": [_part(part) for part in flat(conversation).input]}


def _part(part: Part) -> Json:
    match part:
        case TextPart():
            return {"type": "text", "data": {"text": part.text}}
        case ImagePart():
            return {"type": "image", "data": {"image_url": part.url}}
        case FilePart():
            raise AssertionError("files are refused where requests are read")
