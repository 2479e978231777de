"""What a recorded request asks, as the endpoint will see it again: a digest of its conversation. Pure.

Texts alone tell no two conversations apart in which the same was said; instructions, tools and what came before do.
The digest is what a script's condition `digest` is compared with.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from wireproof_endpoint.received import Received
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.steps import Call, Say
from wireproof_surfaces.answers.chat import Chat
from wireproof_surfaces.answers.kept import Store, StoredResponse, Threads
from wireproof_surfaces.answers.messages import Messages
from wireproof_surfaces.answers.responses import Responses
from wireproof_surfaces.api_forms import VERSION
from wireproof_surfaces.conversation import AssistantCall, Message, TextPart
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.messages import messages_request
from wireproof_surfaces.messages.messages_request import MessagesService
from wireproof_surfaces.surfaces import chat_request, responses_request

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wireproof_endpoint.recording.so_far import Json
    from wireproof_scripts.steps import Step
    from wireproof_surfaces.conversation import Conversation, Item

RESPONSES = 4096
"""Responses that a later one may continue."""


class RecordedConversations:
    """The conversations of one recording."""

    def __init__(self) -> None:
        settings = EndpointSettings(as_proxies_do=True)
        self._chat = Chat(settings=settings)
        self._messages = Messages(settings=settings, threads=Threads(RESPONSES))
        self._responses = Responses(settings=settings, store=Store(RESPONSES))

    def digest(self, body: Json, *, messages: bool = False) -> str | None:
        """The digest of the conversation that a request goes on with; None: the endpoint would refuse it.

        `messages`: whether it is of the Messages API.
        """
        try:
            conversation = self._message(body) if messages else self._conversation(body)
        except ApiError:
            return None
        return Received(conversation).asked.digest

    def answered(self, body: Json, id_: str, steps: Sequence[Step]) -> None:
        """Keep an answer of the Responses API: a later request may go on from it by its id."""
        if "input" not in body or not id_:
            return
        try:
            items = self._responses.conversation_of(responses_request.parse(body, {}, full=True))
        except ApiError:
            return
        conversation = (*items, *_items(steps))
        stored = {"id": id_, "output": [], "created_at": int(time.time())}
        self._responses.store.put(id_, StoredResponse(response=stored, conversation=conversation, given=()), 1)

    def _message(self, body: Json) -> Conversation:
        asked = messages_request.parse(body, {VERSION: "2023-06-01"}, MessagesService(strict=False))
        return self._messages.plan(asked).conversation

    def _conversation(self, body: Json) -> Conversation:
        if "input" in body:
            return self._responses.plan(responses_request.parse(body, {}, full=True)).conversation
        return self._chat.plan(chat_request.parse(body, {}, max_choices=128, full=True)).conversation


def _items(steps: Sequence[Step]) -> Iterator[Item]:
    for step in steps:
        if isinstance(step, Say):
            yield Message(role="assistant", parts=(TextPart("".join(step.pieces)),))
        elif isinstance(step, Call):
            yield AssistantCall(id=step.id, name=step.name, arguments=str(step.arguments))
