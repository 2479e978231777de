"""The messages endpoint: a validated request as a plan for a turn, and the threads that are held. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from wireproof_surfaces.answers.event_writers import EventStream, EventsWhole
from wireproof_surfaces.answers.kept import AskedModels, HeldThread, Threads
from wireproof_surfaces.answers.plan import AnswerPlan, Demand, backend_model, choice_rules, instructed
from wireproof_surfaces.conversation import AssistantCall, ToolChoice, ToolResult, converse
from wireproof_surfaces.errors import INVALID, MESSAGES_FIELDS, ApiError, Problem
from wireproof_surfaces.messages import content_blocks, messages_input, tool_rules
from wireproof_surfaces.messages.message_answer import PING, MessageEvents
from wireproof_surfaces.messages.message_object import MessageHead
from wireproof_surfaces.messages.tool_rules import LONGEST_NAME
from wireproof_surfaces.random_ids import random_hex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_surfaces.answers.plan import AnswerSettings
    from wireproof_surfaces.assembly.choice import Rules
    from wireproof_surfaces.conversation import Item, Tool
    from wireproof_surfaces.messages.messages_request import MessagesRequest
    from wireproof_surfaces.surfaces.json_text import Json


UNKNOWN_THREAD = Problem(404, INVALID, "thread_not_found", "The previous message is not held here.")
_DIGEST = 8


@dataclass(frozen=True, slots=True)
class ShortNames:
    """The names of some tools for a backend that takes at most `longest` characters.

    A name that is too long is cut, and what tells it from others that begin alike is put behind it. The client never
    sees that: its own names come back.
    """

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Messages:
    """Plans the answers to messages requests, and holds their threads."""

    settings: AnswerSettings
    threads: Threads
    asked: AskedModels = field(default_factory=AskedModels)
    longest_name: int = LONGEST_NAME
    """The longest name of a tool that the backend takes."""
    inputs_checked: bool = True
    """Whether a stream fails where the arguments of a call are no JSON object."""

    def plan(self, request: MessagesRequest) -> AnswerPlan:
        """The plan; a thread is held as its writer ends.

        Raises:
            ApiError: 404, when the model is not served or the thread is not held; 400, when the messages do not go on
                where the thread ends.
        """
        model = backend_model(request.model, self.settings)
        self.asked.note(request.model)
        thread = self._continued(request)
        choice, names = request.choice or ToolChoice(), ShortNames.of(thread.tools, self.longest_name)
        forced = tuple(map(names.short, choice.demanded(thread.tools)))
        demand = Demand(names=forced) if forced else None
        conversation = converse(
            tuple(map(names.item, thread.items)),
            tools=tuple(map(names.tool, choice.offered(thread.tools))),
            model=model,
            schema=request.schema,
        )
        conversation = instructed(conversation, demand)
        head = MessageHead(
            id=f"msg_{random_hex(12)}",
            model=request.model,
            prompt_bytes=conversation.size,
            names=names.own,
            thoughts_shown=request.thinking.shown,
            # A whole message has no place for anything else.
            inputs_checked=self.inputs_checked or not request.stream,
        )
        answer = MessageEvents(head)

        def keep(message: Json) -> None:
            if request.keeps:
                items = (*thread.items, *_said(message))
                # An upper bound of its size: the answers of one thread share its items.
                self.threads.put(head.id, replace(thread, items=items), converse(items).size())

        return AnswerPlan(
            id=head.id,
            conversation=conversation,
            rules=self._rules(request, choice),
            stream=request.stream,
            writer=EventStream(answer, keep) if request.stream else EventsWhole(answer, keep),
            dialect="messages",
            demand=demand,
            fields=MESSAGES_FIELDS,
            keep_alive=PING,
            expect=answer.expect,
        )

    def _rules(self, request: MessagesRequest, choice: ToolChoice) -> Rules:
        # Several calls are the API's default, as in responses.
        policy, stream = self.settings.responses_stop_policy, request.stream
        rules = choice_rules(self.settings, stream=stream, policy=policy, calls=choice.calls, single=choice.single)
        return replace(rules, stops=request.stops)

    def _continued(self, request: MessagesRequest) -> HeldThread:
        """The conversation that is answered: that of the request, behind that of the thread which it continues."""
        if request.previous is None:
            return HeldThread(items=request.items, tools=request.tools)
        held = self.threads.get(request.previous)
        if held is None:
            raise _not_held(request.previous)
        messages_input.paired(request.body["messages"], _open_calls(held.items))
        # A request that goes on names no tools; one that does replaces them.
        tools = request.tools or held.tools
        if request.choice is not None:
            tool_rules.check(request.choice, tools)
        return HeldThread(items=(*held.items, *request.items), tools=tools)


def _not_held(id_: str) -> ApiError:
    return ApiError(
        UNKNOWN_THREAD,
        message=f"thread.continue.previous_message_id: the message {id_} is not held here",
        details={"error_code": "thread_not_found"},
    )


def _open_calls(items: Sequence[Item]) -> list[str]:
    """The calls that have no result."""
    results = {item.id for item in items if isinstance(item, ToolResult)}
    return [item.id for item in items if isinstance(item, AssistantCall) and item.id not in results]


def _said(message: Json) -> tuple[Item, ...]:
    """A whole message as items of the next turn's history."""
    return tuple(content_blocks.items("assistant", message["content"]))
