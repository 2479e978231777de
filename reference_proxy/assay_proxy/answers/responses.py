"""The responses endpoint: a validated request as an order for a turn, and the responses that were stored."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay_proxy.answers.answering import Answering, Order, backend_model, choice_rules
from assay_proxy.answers.stored_responses import Stored
from assay_proxy.conversation import Call, Message, TextPart, converse
from assay_proxy.errors import UNKNOWN_PREVIOUS, UNKNOWN_RESPONSE, ApiError
from assay_proxy.surfaces import input_items, responses_answer, responses_input
from assay_proxy.surfaces.chat_dialect import Dialect, Telling
from assay_proxy.surfaces.namespaces import called
from assay_proxy.surfaces.proxy_headers import ARGUMENTS_HEADER, OUTPUT_MODE_HEADER, STOP_HEADER
from assay_proxy.surfaces.responses_object import TOKEN_BYTES, Head, response_of
from assay_proxy.surfaces.rules import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flask import Response

    from assay_proxy.answers.stored_responses import Store
    from assay_proxy.backends.backend import Backend
    from assay_proxy.conversation import Conversation, Item
    from assay_proxy.http.capacity import Gate
    from assay_proxy.settings import Settings
    from assay_proxy.surfaces.responses_input import Given
    from assay_proxy.surfaces.responses_request import ResponsesRequest

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Responses:
    """Answers responses requests with turns of `backend`; `clock` gives seconds that never go back."""

    settings: Settings
    backend: Backend
    gate: Gate
    store: Store
    clock: Callable[[], float] = time.monotonic

    def answer(self, request: ResponsesRequest, *, gone: Callable[[], bool], keep_open: bool) -> Response:
        """The response; `keep_open` says that the connection's protocol knows `Connection: keep-alive`.

        Raises:
            ApiError: whatever goes wrong before the status line is sent.
            ClientGoneError: when there is nobody to answer any more.
        """
        answering = Answering(settings=self.settings, backend=self.backend, gate=self.gate, clock=self.clock)
        return answering.answer(self._order(request), gone=gone, keep_open=keep_open)

    def retrieve(self, id_: str) -> Mapping[str, Any]:
        """The stored response with this id.

        Raises:
            ApiError: 404, when there is none.
        """
        return self._stored(id_).response

    def delete(self, id_: str) -> Json:
        """Forget the response with this id; what is said of that.

        Raises:
            ApiError: 404, when there is none.
        """
        if not self.store.delete(id_):
            raise _unknown(id_)
        return {"id": id_, "object": "response", "deleted": True}

    def input_items(self, id_: str, query: Mapping[str, str]) -> Json:
        """A page of the input of the response with this id.

        Raises:
            ApiError: 404, when there is none; 400, when the query is not acceptable.
        """
        return input_items.page(self._stored(id_).given, query)

    def _stored(self, id_: str) -> Stored:
        stored = self.store.get(id_)
        if stored is None:
            raise _unknown(id_)
        return stored

    def _order(self, request: ResponsesRequest) -> Order:
        model = backend_model(request.model, self.settings)
        before = self._before(request)
        given = responses_input.resolved(request.given, self._item)
        calls = {item.id for item in before if isinstance(item, Call)}
        refuse(responses_input.answered(given, calls))
        items = (*before, *responses_input.items(given))
        conversation = converse(
            (*_instructions(request), *items), tools=request.tools, model=model, schema=request.schema
        )
        head = self._head(request, conversation)

        def keep(response: Json) -> None:
            if request.store:
                self.store.put(_store(response, items, given))

        return Order(
            id=head.id,
            conversation=conversation,
            rules=choice_rules(self.settings, stream=request.stream, policy=head.telling.policy, calls=request.calls),
            stream=request.stream,
            whole=lambda said: responses_answer.collect(said, head, keep),
            pieces=lambda said: responses_answer.write(said, head, keep),
            dialect=f"responses {head.telling.dialect}",
            param="input",
            headers={
                OUTPUT_MODE_HEADER: head.telling.output_mode,
                ARGUMENTS_HEADER: head.telling.arguments,
                STOP_HEADER: head.telling.policy,
            },
        )

    def _before(self, request: ResponsesRequest) -> tuple[Item, ...]:
        """The conversation that the request continues."""
        if request.previous is None:
            return ()
        stored = self.store.get(request.previous)
        if stored is None:
            message = f"The previous response `{request.previous}` is not stored here."
            raise ApiError(UNKNOWN_PREVIOUS, message=message, param="previous_response_id")
        return stored.conversation

    def _item(self, id_: str) -> Mapping[str, Any] | None:
        """The item with this id of a stored response; ids of items begin as that of their response."""
        stored = self.store.get(response_of(id_))
        items = (*stored.response["output"], *stored.given) if stored else ()
        return next((item for item in items if item["id"] == id_), None)

    def _head(self, request: ResponsesRequest, conversation: Conversation) -> Head:
        settings, wishes = self.settings, request.wishes
        return Head(
            token=secrets.token_hex(TOKEN_BYTES),
            created=int(time.time()),
            model=request.model,
            echo=request.echo,
            prompt_bytes=conversation.size,
            telling=Telling(
                dialect=Dialect(wishes.output_mode or "openai-json"),
                policy=wishes.stop_policy or settings.responses_stop_policy,
                delimiter=settings.tool_block_delimiter,
                escape=settings.xml_escape == "xml",
            ),
            strict=frozenset(tool.name for tool in request.tools) if settings.tools_strict else None,
            spaces=request.spaces,
        )


def _unknown(id_: str) -> ApiError:
    return ApiError(UNKNOWN_RESPONSE, message=f"There is no stored response `{id_}`.", param="response_id")


def _instructions(request: ResponsesRequest) -> tuple[Item, ...]:
    """The instructions as what is said first; they are of this request alone."""
    if not request.instructions:
        return ()
    return (Message(role="developer", parts=(TextPart(request.instructions),)),)


def _store(response: Json, before: tuple[Item, ...], given: Given) -> Stored:
    """The response as it is kept, with all that was said `before` it and the input that is listed of it."""
    listed = tuple(input_items.listed(given, response["id"]))
    conversation = (*before, *map(_said, response["output"]))
    size = converse(conversation).size + len(json.dumps([response, listed]))
    return Stored(response=response, conversation=conversation, given=listed, size=size)


def _said(item: Mapping[str, Any]) -> Item:
    """An output item as the next turn's history has it."""
    if item["type"] == "function_call":
        return Call(id=item["call_id"], name=called(item), arguments=item["arguments"])
    return Message(role="assistant", parts=tuple(TextPart(part["text"]) for part in item["content"]))
