"""What clients note about a thread, its goal and its git state; and thread/sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_codex.methods.lookup import find_stored, find_thread
from wireproof_codex.methods.turns import cast_for
from wireproof_codex.notifications import messages
from wireproof_codex.protocol.params import Refused
from wireproof_scripts.steps import Call, Spoken
from wireproof_scripts.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_codex.context import AdmittedRequest
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import Thread

# Goals


def _goal_get(request: AdmittedRequest) -> None:
    request.reply({"goal": find_thread(request).goal})


def _goal_set(request: AdmittedRequest) -> None:
    """Set the goal; unlike a real server, begin no turns that work towards it."""
    thread, server = find_thread(request), request.server
    objective = request.params.get("objective")
    if objective is not None and not objective.strip():
        raise Refused("goal objective must not be empty")
    if objective is None and thread.goal is None:
        raise Refused(f"cannot update goal for thread {thread.id}: no goal exists")
    given = {name: request.params[name] for name in _GIVEN if request.params.get(name) is not None}
    thread.annotate("goal", {**(thread.goal or _new_goal(thread, server.now)), **given, "updatedAt": int(server.now)})
    # Lists leave out threads without a preview; a goal is enough to be listed.
    thread.preview = thread.preview or objective or ""
    request.reply({"goal": thread.goal})
    server.notify(thread, *goal_notification(thread))


_GIVEN = ("objective", "status", "tokenBudget")


def _new_goal(thread: Thread, now: float) -> Json:
    return {
        "threadId": thread.id,
        "objective": "",
        "status": "active",
        "tokenBudget": None,
        "tokensUsed": 0,
        "timeUsedSeconds": 0,
        "createdAt": int(now),
        "updatedAt": int(now),
    }


def goal_notification(thread: Thread) -> tuple[str, Json]:
    """The notification of the thread's goal, or that it has none: method and params."""
    if thread.goal is None:
        return "thread/goal/cleared", {"threadId": thread.id}
    return "thread/goal/updated", {"threadId": thread.id, "turnId": None, "goal": thread.goal}


def _goal_clear(request: AdmittedRequest) -> None:
    thread = find_thread(request)
    cleared = thread.goal is not None
    thread.annotate("goal", None)
    request.reply({"cleared": cleared})
    if cleared:
        request.server.notify(thread, *goal_notification(thread))


# Metadata


def _metadata_update(request: AdmittedRequest) -> None:
    server, given = request.server, request.params.get("gitInfo")
    stored = server.version.stored
    thread = find_stored(request, stored.unnamed_error)
    if thread.ephemeral:
        raise Refused(f"ephemeral thread does not support metadata updates: {thread.id}")
    # By name: null clears a field, one that is not named stays.
    fields = {name: given[name] for name in _GIT if name in given} if given is not None else {}
    if not fields:
        raise Refused(stored.empty_metadata_error if given is None else "gitInfo must include at least one field")
    thread.annotate("git", {**(thread.git or dict.fromkeys(_GIT)), **fields})
    loaded = messages.thread(thread, server.version, loaded=thread in server.threads)
    updated = {**loaded, "canAcceptDirectInput": None}
    request.reply({"thread": updated})


_GIT = ("sha", "branch", "originUrl")


# Samples


def _sample(request: AdmittedRequest) -> None:
    """Answer with what the model would say, without a turn."""
    thread, server = find_thread(request), request.server
    source, prompt = request.params["expectedTurnId"], request.params["prompt"]
    if thread.turn is not None or not thread.turn_history.turns or thread.turn_history.turns[-1]["id"] != source:
        raise Refused("sample source turn must be the latest finished turn")
    casting = cast_for(request, thread, [{"type": "text", "text": prompt}])
    part = next(iter(casting.parts[casting.first :]), ())
    used = next((step for step in part if isinstance(step, Usage)), Usage(input=0, output=0))
    text = "".join(step.text for step in part if isinstance(step, Spoken))
    request.reply(
        {
            "sourceTurnId": source,
            "responseId": f"resp_{server.ids.number():04}",
            # 0.169.0 has no text if the model tried a tool.
            "text": None if any(isinstance(step, Call) for step in part) else text,
            "inputTokens": used.input,
            "cachedInputTokens": used.cached,
            "outputTokens": used.output,
        }
    )


METHODS: Mapping[str, Callable[[AdmittedRequest], None]] = {
    "thread/goal/get": _goal_get,
    "thread/goal/set": _goal_set,
    "thread/goal/clear": _goal_clear,
    "thread/metadata/update": _metadata_update,
    "thread/sample": _sample,
}
