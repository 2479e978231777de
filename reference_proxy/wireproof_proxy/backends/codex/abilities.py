"""What a run of `codex app-server` can do, by its version, and a conversation as that version takes it. Pure.

    dynamic tools of a client                   from 0.92.0 (never in v1)
    a history that can be injected              from 0.125.0 (never in v1); before, a thread can be resumed with a
                                                history, but then it takes no tools
    a turn without input asks the model         from 0.133.0; before, it fails, hangs or ends at once
    threads that leave nothing on the disk      from 0.90.0; older and resumed ones are archived when they are over
    the end of a response with pending calls    up to 0.130 the token count shows it, from 0.145.0
                                                `rawResponse/completed`, between nothing

What a version cannot take becomes text: tools in the developer text; the history, or its end, in the turn's input.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from wireproof_proxy.backends.codex.config import thread_config
from wireproof_proxy.backends.flatten import flat, in_messages, with_input
from wireproof_surfaces.tools.sentinel import in_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_proxy.settings import Protocol
    from wireproof_surfaces.conversation import Conversation

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
        history=_history(version) if is_v2 else "text",
        ephemeral=is_v2 and version >= EPHEMERAL,
        no_input=version >= NO_INPUT,
        silent_ends=SILENT_ENDS[0] <= version < SILENT_ENDS[1],
        config=thread_config(version),
    )


def _history(version: tuple[int, int]) -> History:
    return "injected" if version >= INJECTED_HISTORY else "resumed"
