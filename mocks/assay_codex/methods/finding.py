"""Finds the thread that a request names among those that are loaded and those that are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay_codex.methods.asking import check_uuid
from assay_codex.protocol.params import Refused

if TYPE_CHECKING:
    from assay_codex.methods.asked import Asked
    from assay_codex.threads.thread import Thread

NONE_FOUND = "no rollout found for thread id {id}"


def find_stored(asked: Asked, missing: str = NONE_FOUND) -> Thread:
    """The thread that `threadId` names, loaded or not.

    Raises:
        Refused: it is no UUID, or there is none: `missing` says so.
    """
    identity, server = asked.params["threadId"], asked.server
    check_uuid(identity, "invalid thread id")
    thread = server.threads.get(identity) or server.shelf.find(identity)
    if thread is None:
        raise Refused(missing.format(id=identity))
    return thread
