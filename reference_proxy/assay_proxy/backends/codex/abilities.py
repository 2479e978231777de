"""What a run of `codex app-server` can do, by its version, and a conversation as it can be told to it. Pure.

Tools of a client's own came with 0.92.0, a history that can be injected with 0.125.0; before, a thread could be resumed
with a history, but not be given tools then. A turn without input asks the model from 0.133.0 on; before, it failed,
hung or ended at once. What cannot be given is told in text: tools in the developer text, the history, or the end of it,
in the turn's input. v1 conversations never had either. Threads that leave nothing on the disk came with 0.90.0; those
before are archived when they are over, and so are those that were resumed. That a response of the model is over while
its calls wait is told by its count of tokens up to 0.130, by its raw end from 0.145.0 on, and not at all between.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from assay_proxy.backends.codex.config import thread_config
from assay_proxy.backends.flatten import flat, in_messages, with_input
from assay_proxy.tools.injection import in_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay_proxy.conversation import Conversation
    from assay_proxy.settings import Protocol

EPHEMERAL = (0, 90)
NATIVE_TOOLS = (0, 92)
INJECTED_HISTORY = (0, 125)
NO_INPUT = (0, 133)
SILENT_ENDS = ((0, 131), (0, 145))
History = Literal["injected", "resumed", "told"]
"""How a conversation gets its history: as items of its thread, as messages with which it is resumed, or as text."""
_VERSION = re.compile(r"/(\d+)\.(\d+)\.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Abilities:
    """Whether tools can be given as such and how a history can, whether threads are ephemeral, the `config` they get.

    `silent_ends`: calls must be answered before more is told of the response that holds them. `no_input`: a turn needs
    none.
    """

    tools: bool = True
    history: History = "injected"
    ephemeral: bool = True
    silent_ends: bool = False
    no_input: bool = True
    config: Mapping[str, Any] = field(default_factory=dict)

    def fit(self, conversation: Conversation) -> Conversation:
        """The conversation, with what cannot be given told in text."""
        told = conversation if self.tools else in_text(conversation)
        if self.history == "injected":
            return told if self.no_input else with_input(told)
        native = bool(told.tools) and not told.tools_in_text
        return flat(told) if self.history == "told" or native else in_messages(told)


def abilities(user_agent: str, protocol: Protocol) -> Abilities:
    """What a run can do that calls itself `user_agent`, `CLIENT/VERSION (…)`; one without a version can do all."""
    found = _VERSION.search(user_agent)
    version = (int(found[1]), int(found[2])) if found else SILENT_ENDS[1]
    is_v2 = protocol == "v2"
    return Abilities(
        tools=is_v2 and version >= NATIVE_TOOLS,
        history=_history(version) if is_v2 else "told",
        ephemeral=is_v2 and version >= EPHEMERAL,
        no_input=version >= NO_INPUT,
        silent_ends=SILENT_ENDS[0] <= version < SILENT_ENDS[1],
        config=thread_config(version),
    )


def _history(version: tuple[int, int]) -> History:
    return "injected" if version >= INJECTED_HISTORY else "resumed"
