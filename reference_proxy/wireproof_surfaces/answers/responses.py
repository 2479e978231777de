"""The responses endpoint: a validated request as a plan for a turn, and the responses that were stored. No I/O."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.answers.event_writers import EventStream, EventsWhole
from wireproof_surfaces.answers.kept import AskedModels, StoredResponse
from wireproof_surfaces.answers.plan import AnswerPlan, Demand, backend_model, choice_rules, instructed
from wireproof_surfaces.conversation import AssistantCall, Message, TextPart, converse, custom_names
from wireproof_surfaces.errors import RESPONSES_FIELDS, UNKNOWN_PREVIOUS, UNKNOWN_RESPONSE, ApiError
from wireproof_surfaces.random_ids import random_hex
from wireproof_surfaces.surfaces import input_items, responses_input
from wireproof_surfaces.surfaces.chat_dialect import CallFormat, ChatFormat, echoed
from wireproof_surfaces.surfaces.input_items import compacted
from wireproof_surfaces.surfaces.responses_answer import TOKEN_BYTES, ResponseEvents, ResponseHead, response_of
from wireproof_surfaces.surfaces.responses_tools import called

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.answers.kept import Store
    from wireproof_surfaces.answers.plan import AnswerSettings
    from wireproof_surfaces.conversation import Conversation, Item
    from wireproof_surfaces.surfaces.json_text import Json
    from wireproof_surfaces.surfaces.responses_input import Given
    from wireproof_surfaces.surfaces.responses_output import Logprobs
    from wireproof_surfaces.surfaces.responses_request import ResponsesRequest


@dataclass(frozen=True, kw_only=True, slots=True)
class Responses:
    """Plans the answers to responses requests, and keeps the responses in `store`."""

    settings: AnswerSettings
    store: Store
    asked: AskedModels = field(default_factory=AskedModels)

    def retrieve(self, id_: str) -> Mapping[str, Any]:
        """The stored response with this id.

        Raises:
            ApiError: 404, when no such response is stored.
        """
        return self._stored(id_).response

    def delete(self, id_: str) -> Json:
        """Forget the response with this id; returns the confirmation to send.

        Raises:
            ApiError: 404, when no such response is stored.
        """
        if not self.store.delete(id_):
            raise _unknown(id_)
        return {"id": id_, "object": "response", "deleted": True}

    def input_items(self, id_: str, query: Mapping[str, str]) -> Json:
        """A page of the input of the response with this id.

        Raises:
            ApiError: 404, when no such response is stored; 400, when the query is not acceptable.
        """
        return input_items.page(self._stored(id_).given, query)

    def _stored(self, id_: str) -> StoredResponse:
        stored = self.store.get(id_)
        if stored is None:
            raise _unknown(id_)
        return stored

    def compact(self, request: ResponsesRequest) -> Json:
        """The conversation that a request names, made shorter; no backend is asked.

        Raises:
            ApiError: as by `plan`.
        """
        backend_model(request.model, self.settings)
        self.asked.note(request.model)
        return compacted(self.conversation_of(request))

    def conversation_of(self, request: ResponsesRequest) -> tuple[Item, ...]:
        """All of the conversation that a request goes on with, its input included.

        Raises:
            ApiError: as by `plan`.
        """
        return self._conversation(request)[1]

    def _conversation(self, request: ResponsesRequest) -> tuple[Given, tuple[Item, ...]]:
        """The input with what its references refer to, and all of the conversation up to its end."""
        before = self._before(request)
        given = responses_input.resolved(request.given, self._item)
        calls = {item.id for item in before if isinstance(item, AssistantCall)}
        # Only now: an output may answer a call of the previous response, or of an item that was referred to.
        responses_input.check_answered(given, calls)
        return given, (*before, *responses_input.items(given))

    def plan(self, request: ResponsesRequest, logprobs: Logprobs | None = None) -> AnswerPlan:
        """The plan; the response is stored as its writer ends. `logprobs` gives what is reported of tokens.

        Raises:
            ApiError: 404, when the model is not served or the previous response is not stored; 400, when the input
                refers to something that is not there.
        """
        # First: an unknown model is answered before an unknown response.
        model = backend_model(request.model, self.settings)
        self.asked.note(request.model)
        given, items = self._conversation(request)
        demand = Demand(names=request.forced) if request.forced else None
        conversation = converse(
            (*_instructions(request), *items), tools=request.tools, model=model, schema=request.schema
        )
        conversation = instructed(conversation, demand)
        head = replace(self._head(request, conversation), logprobs=logprobs)

        def keep(response: Json) -> None:
            # Codex, for one, sends `store: false` with every request.
            if request.store:
                _store(self.store, response, items, given)

        answer = ResponseEvents(head)
        # Usage is always awaited: the terminal event holds it (responses.stream.terminal).
        return AnswerPlan(
            id=head.id,
            conversation=conversation,
            rules=choice_rules(
                self.settings, stream=request.stream, policy=head.call_format.policy, calls=request.calls
            ),
            stream=request.stream,
            writer=EventStream(answer, keep) if request.stream else EventsWhole(answer, keep),
            dialect=f"responses {head.call_format.dialect}",
            demand=demand,
            fields=RESPONSES_FIELDS,
            headers=echoed(head.call_format),
        )

    def _before(self, request: ResponsesRequest) -> tuple[Item, ...]:
        """The conversation that the request continues; empty when it continues none."""
        if request.previous is None:
            return ()
        stored = self.store.get(request.previous)
        if stored is None:
            message = f"The previous response `{request.previous}` is not stored here."
            raise ApiError(UNKNOWN_PREVIOUS, message=message, param="previous_response_id")
        return stored.conversation

    def _item(self, id_: str) -> Mapping[str, Any] | None:
        """The item with this id of a stored response; an item's id holds the token of its response."""
        stored = self.store.get(response_of(id_))
        items = (*stored.response["output"], *stored.given) if stored else ()
        return next((item for item in items if item["id"] == id_), None)

    def _head(self, request: ResponsesRequest, conversation: Conversation) -> ResponseHead:
        settings, options = self.settings, request.options
        return ResponseHead(
            token=random_hex(TOKEN_BYTES),
            created=int(time.time()),
            now=time.time,
            model=request.model,
            echo=request.echo,
            prompt_bytes=conversation.size,
            call_format=CallFormat(
                # Not PROXY_OUTPUT_MODE: responses default to openai-json (contract §6).
                dialect=ChatFormat(options.output_mode or "openai-json"),
                policy=options.stop_policy or settings.responses_stop_policy,
                delimiter=settings.tool_block_delimiter,
                escape=settings.xml_escape == "xml",
                custom=custom_names(request.tools),
            ),
            # Namespaced functions are known by their joined names here, as the backend calls them.
            strict=frozenset(tool.name for tool in request.tools) if settings.tools_strict else None,
            spaces=request.spaces,
            output_at_end=request.output_at_end,
        )


def _unknown(id_: str) -> ApiError:
    return ApiError(UNKNOWN_RESPONSE, message=f"There is no stored response `{id_}`.", param="response_id")


def _instructions(request: ResponsesRequest) -> tuple[Item, ...]:
    """The instructions as the first message. They are not stored: a response that continues this one has its own."""
    if not request.instructions:
        return ()
    return (Message(role="developer", parts=(TextPart(request.instructions),)),)


def _store(store: Store, response: Json, before: tuple[Item, ...], given: Given) -> None:
    """Keep a response with the conversation `before` it, and its input as `input_items` lists it."""
    listed = tuple(input_items.listed(given, response["id"]))
    # As of the input: a backend takes no other's reasoning.
    said = (item for item in response["output"] if item["type"] != "reasoning")
    conversation = (*before, *map(_conversation_item, said))
    # An upper bound: the responses of one conversation share its items.
    size = converse(conversation).size() + len(json.dumps([response, listed]))
    store.put(response["id"], StoredResponse(response=response, conversation=conversation, given=listed), size)


def _conversation_item(item: Mapping[str, Any]) -> Item:
    """An output item as an item of the next turn's history."""
    if said := responses_input.CALLS.get(item["type"]):
        return AssistantCall(id=item["call_id"], name=called(item), arguments=item[said])
    texts = (part["refusal"] if part["type"] == "refusal" else part["text"] for part in item["content"])
    return Message(role="assistant", parts=tuple(map(TextPart, texts)))
