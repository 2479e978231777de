"""What a run of `codex app-server` can do, by its version, what of it is switched off, and what it is given. Pure.

    dynamic tools of a client                   from 0.92.0 (never in v1)
    a history that can be injected              from 0.125.0 (never in v1); before, a thread can be resumed with a
                                                history, but then it takes no tools
    a turn without input asks the model         from 0.133.0; before, it fails, hangs or ends at once
    threads that leave nothing on the disk      from 0.90.0; older and resumed ones are archived when they are over
    the end of a response with pending calls    up to 0.130 the token count shows it, from 0.145.0
                                                `rawResponse/completed`, between nothing

What a version cannot take becomes text: tools in the developer text; the history, or its end, in the turn's input.

It is to be a model and nothing else: a client of the proxy has tools of its own, and no user there approves commands.
So the shell, patches, search, plans, agents and questions to the user are taken away as far as the version allows: what
stays of them (`update_plan`, `view_image` and MCP resources in old versions, `apply_patch` with some models) runs in a
read-only sandbox and may ask for nothing. Nor does the model see the folder, the skills or the project documents of the
machine that it runs on. A version ignores keys that it does not know; MCP servers stay on, as the user has set them up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

from wireproof_surfaces.conversation import AssistantCall, Conversation, Item, Message, Part, TextPart, ToolResult
from wireproof_surfaces.tools.sentinel import in_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof_proxy.settings import Protocol


QUIET = (
    "features.plugins=false",  # 0.169.0 else runs `git ls-remote` at its start
    "features.apps=false",
    "features.remote_models=false",
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
)
"""Nothing on the network but the model: 0.89.0 else waits three seconds for a list of models in each thread."""

TOOLLESS = (
    "features.shell_tool=false",
    "features.view_image=false",  # `tools.view_image` has no effect in 0.169.0
    "features.image_generation=false",
    "features.goals=false",  # else get_goal, create_goal and update_goal
    "features.multi_agent=false",  # before 0.150; from then on see AGENTS
    "features.shell_snapshot=false",
    'web_search="disabled"',
    "tools.experimental_request_user_input.enabled=false",
)

NO_MACHINE_CONTEXT = (
    "skills.include_instructions=false",
    "include_permissions_instructions=false",
    "include_environment_context=false",
    "project_doc_max_bytes=0",  # AGENTS.md
)

FAST = ("features.unbounded_connection_retries=false",)
"""A model that cannot be reached is reported at once; else Codex retries without end and reports nothing."""

ARGUMENTS: tuple[str, ...] = tuple(
    argument for override in (*QUIET, *TOOLLESS, *NO_MACHINE_CONTEXT, *FAST) for argument in ("-c", override)
)
"""What follows `app-server` on the command line."""

AGENTS = (0, 150)
"""From this version on each thread switches them off: those before take the key for the name of an agent, and fail."""
EPHEMERAL = (0, 90)
NATIVE_TOOLS = (0, 92)
INJECTED_HISTORY = (0, 125)
NO_INPUT = (0, 133)
SILENT_ENDS = ((0, 131), (0, 145))
History = Literal["injected", "resumed", "text"]
"""How a conversation gets its history: as items of its thread, as messages with which it is resumed, or as text."""
# `wireproof-proxy/0.169.0 (…)` in the answer to `initialize`: nothing else there names the version.
_VERSION = re.compile(r"/(\d+)\.(\d+)\.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Abilities:
    """What one version can do; the defaults are those of a current one."""

    tools: bool = True
    """Whether threads take tools of the client's."""
    history: History = "injected"
    ephemeral: bool = True
    """Whether threads can leave nothing on the disk."""
    silent_ends: bool = False
    """Whether calls must be answered before anything more is sent about the response that holds them."""
    no_input: bool = True
    """Whether a turn without input asks the model."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """What a thread is configured with."""

    def fit(self, conversation: Conversation) -> Conversation:
        """The conversation, with what this version cannot take turned into text."""
        fitted = conversation if self.tools else in_text(conversation)
        if self.history == "injected":
            return fitted if self.no_input else with_input(fitted)
        # A thread that is resumed takes no tools, so beside native ones the whole history is text.
        native_tools = bool(fitted.tools) and not fitted.tools_in_text
        return flat(fitted) if self.history == "text" or native_tools else in_messages(fitted)


def abilities(user_agent: str, protocol: Protocol) -> Abilities:
    """What a run can do that calls itself `user_agent`, `CLIENT/VERSION (…)`; one without a version can do all."""
    found = _VERSION.search(user_agent)
    # Without a version: the first one that can do all of the above, and gets no `config` that it might not know.
    version = (int(found[1]), int(found[2])) if found else SILENT_ENDS[1]
    is_v2 = protocol == "v2"
    return Abilities(
        tools=is_v2 and version >= NATIVE_TOOLS,
        history="text" if not is_v2 else "injected" if version >= INJECTED_HISTORY else "resumed",
        ephemeral=is_v2 and version >= EPHEMERAL,
        no_input=version >= NO_INPUT,
        silent_ends=SILENT_ENDS[0] <= version < SILENT_ENDS[1],
        config={"agents.enabled": False} if version >= AGENTS else {},
    )


def flat(conversation: Conversation) -> Conversation:
    """The conversation with its history as text at the head of its input.

    Each message follows its role in brackets. A call becomes `[assistant called NAME:ID] ARGUMENTS`, a result
    `[tool:ID] OUTPUT`.
    """
    history = tuple(part for item in conversation.history for part in _item(item))
    return replace(conversation, history=(), input=(*history, *conversation.input))


def in_messages(conversation: Conversation) -> Conversation:
    """The conversation with a history of messages alone, and some input: calls and results become the user's."""
    return with_input(replace(conversation, history=tuple(map(_message, conversation.history))))


def with_input(conversation: Conversation) -> Conversation:
    """The conversation with some input: if it has none, the end of its history, as messages of the user."""
    if conversation.input:
        return conversation
    tail = list(takewhile(lambda item: _message(item).role == "user", reversed(conversation.history)))[::-1]
    # It ends with what another role said, which cannot be passed off as the user's: all of it becomes text.
    if not tail:
        return flat(conversation)
    parts = tuple(part for item in tail for part in _message(item).parts)
    return replace(conversation, history=conversation.history[: -len(tail)], input=parts)


def _message(item: Item) -> Message:
    match item:
        case Message():
            return item
        case AssistantCall() | ToolResult():
            return Message(role="user", parts=tuple(_item(item)))


def _item(item: Item) -> Iterator[Part]:
    match item:
        case Message():
            yield TextPart(f"[{item.role}]")
            yield from item.parts
        case AssistantCall():
            yield TextPart(f"[assistant called {item.name}:{item.id}] {item.arguments}")
        case ToolResult():
            # turn.tool-result.
            yield TextPart(f"[tool:{item.id}] {item.labelled_output}")
            yield from item.images
