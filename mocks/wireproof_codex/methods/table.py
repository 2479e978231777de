"""Every request that the mock plays, by its method: one function each.

A function takes the admitted request, answers it once, and sends the notifications that come before and after the
answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wireproof_codex.context import AdmittedRequest
from wireproof_codex.methods import (
    configuration,
    conversations,
    goals,
    paging,
    stored_conversations,
    stored_threads,
    thread_lists,
    threads,
    turns,
)
from wireproof_codex.methods.handshake import initialize

Method = Callable[[AdmittedRequest], None]

METHODS: Mapping[str, Method] = {
    "initialize": initialize,
    **threads.METHODS,
    **turns.METHODS,
    **conversations.METHODS,
    **stored_threads.METHODS,
    **thread_lists.METHODS,
    **paging.METHODS,
    **goals.METHODS,
    **configuration.METHODS,
    **stored_conversations.METHODS,
}
