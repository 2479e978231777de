"""What several methods share: the thread that a request names or begins, and what is sent of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wireproof_codex.legacy import codex_events
from wireproof_codex.notifications import messages
from wireproof_codex.protocol.params import Refused
from wireproof_codex.threads.thread import Thread, new_thread
from wireproof_codex.turns.tools import check_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_codex.context import AdmittedRequest, ServerContext
    from wireproof_codex.protocol.json_object import Json

# The errors are those of the Rust library that reads UUIDs, which counts characters from 1.
_NOT_HEX = re.compile(r"[^0-9a-fA-F-]")
_HEX_DIGITS = 32
NOT_LOADED: Json = {"type": "notLoaded"}
NONE_FOUND = "no rollout found for thread id {id}"


def check_uuid(text: str, wrong: str) -> None:
    """Check the form of an id.

    Raises:
        Refused: it is no UUID; the text begins with `wrong`.
    """
    odd = _NOT_HEX.search(text)
    if odd is not None:
        expected = "expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-]"
        raise Refused(f"{wrong}: invalid character: {expected}, found `{odd[0]}` at {odd.start() + 1}")
    digits = len(text.replace("-", ""))
    if digits != _HEX_DIGITS:
        raise Refused(f"{wrong}: invalid length: expected length 32 for simple format, found {digits}")


def find_thread(
    request: AdmittedRequest, name: str = "threadId", *, wrong: str = "invalid thread id", kind: str = "thread"
) -> Thread:
    """The loaded thread that the parameter `name` names; of other ids the text begins with `wrong`.

    Raises:
        Refused: it is no UUID, or no such thread is loaded.
    """
    identity = request.params[name]
    check_uuid(identity, wrong)
    thread = request.server.threads.get(identity)
    if thread is None:
        raise Refused(f"{kind} not found: {identity}")
    return thread


def find_stored(request: AdmittedRequest, missing: str = NONE_FOUND) -> Thread:
    """The thread that `threadId` names, loaded or not.

    Raises:
        Refused: it is no UUID, or there is no such thread: the message is `missing`.
    """
    identity, server = request.params["threadId"], request.server
    check_uuid(identity, "invalid thread id")
    thread = server.threads.get(identity) or server.thread_store.find(identity)
    if thread is None:
        raise Refused(missing.format(id=identity))
    return thread


def begin_thread(
    request: AdmittedRequest, given: Mapping[str, Any], fill: Callable[[Thread], None] | None = None
) -> Thread:
    """A thread that begins with these parameters and, if there is more, with what `fill` puts into it.

    Parameters that the version does not know are ignored.

    Raises:
        Refused: there is no such provider, or the tools are not what they must be.
    """
    server = request.server
    # For instance `ephemeral` before 0.90.0 and `dynamicTools` before 0.92.0: no error says that they do nothing.
    taken = server.version.requests.params.fields("thread/start")
    params = {name: value for name, value in given.items() if name in taken}
    if params.get("modelProvider") not in {None, messages.PROVIDER}:
        raise Refused(f"{server.version.requests.config_error}: Model provider `{params['modelProvider']}` not found")
    check_tools(params.get("dynamicTools") or (), names_only=not server.version.requests.checks_tools)
    thread = new_thread(
        params,
        identity=server.uuid(),
        now=server.now,
        cwd=server.cwd,
        home=server.home,
        originator=server.client,
    )
    thread.cli_version = server.version.number
    # Before it is stored, so that its file begins with what it was given.
    if fill is not None:
        fill(thread)
    if not thread.ephemeral:
        server.thread_store.begin(thread)
    server.threads.add(thread)
    thread.subscribed = True
    return thread


def notify_status(server: ServerContext, thread: Thread, status: Json | None = None) -> None:
    """Send the status of a thread; None: the one that it has."""
    changed = {"threadId": thread.id, "status": status or messages.status(thread)}
    server.notify_client("thread/status/changed", changed)


def notify_loaded(request: AdmittedRequest, thread: Thread) -> None:
    """Send, in the older family alone, that the MCP servers of the thread have started: it has none."""
    if request.server.version.messages.legacy_events:
        request.server.notify(thread, *codex_events.notification("", thread.id, codex_events.MCP_STARTUP_COMPLETE))


def constant(**answer: object) -> Callable[[AdmittedRequest], None]:
    """A method that always answers with this."""
    return lambda request: request.reply(answer)
