"""The results and notifications of the app-server, with the fields of the recordings, in their order.

Every builder gives the `params` or the `result`; the envelope is `rpc`'s. Times are taken as epoch seconds and sent as
whole seconds (`…At`) or milliseconds (`…AtMs`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import Thread
    from wireproof_codex.versions.failures import FailureCause
    from wireproof_codex.versions.version import Version
    from wireproof_scripts.steps import Retry

PROVIDER = "mock"


# Handshake


def initialized(user_agent: str, *, home: str) -> Json:
    """Result of `initialize`."""
    return {
        "userAgent": user_agent,
        "codexHome": home,
        "platformFamily": "unix",
        "platformOs": "linux",
    }


def user_agent(client: Mapping[str, Any], *, version: str) -> str:
    """The `userAgent`, with which the server introduces itself to the model's service."""
    # The system and the terminal are those of the machine that was recorded.
    return f"{client['name']}/{version} (Debian 12.0.0; x86_64) unknown ({client['name']}; {client['version']})"


def remote_control(installation: str) -> Json:
    """remoteControl/status/changed, sent right after the handshake."""
    return {"status": "disabled", "serverName": "wireproof", "installationId": installation, "environmentId": None}


# Threads


def thread(
    it: Thread, version: Version, turns: Sequence[Json] = (), *, loaded: bool = True, listed: bool = False
) -> Json:
    """The `thread` of thread/start, thread/started, thread/read and thread/resume; `listed`: that of thread/list."""
    return {
        "id": it.id,
        "environments": it.environments if loaded else None,
        "extra": None,
        "sessionId": it.id,
        "forkedFromId": None if listed else it.forked_from,
        "attachedToThreadId": None,
        "parentThreadId": None,
        "preview": it.preview,
        "ephemeral": it.ephemeral,
        "isPinned": False,
        "section": None,
        "sectionEnteredAt": None,
        "projectId": None,
        "historyMode": _history_mode(it, version),
        "modelProvider": PROVIDER,
        "model": it.settings.model if loaded or it.turn_history.turns else None,
        "reasoningEffort": it.settings.effort,
        "createdAt": int(it.created),
        "updatedAt": int(it.updated),
        "recencyAt": int(it.updated),
        # From 0.105.0 on; a thread that is only stored has no other status.
        "status": status(it) if loaded else {"type": "notLoaded"},
        "path": it.path,
        "cwd": it.folder if version.messages.moves_threads else it.cwd,
        "cliVersion": it.cli_version or version.number,
        "originator": it.originator,
        "source": "vscode",  # in every recording, whatever the client
        "canAcceptDirectInput": True if loaded and not listed else None,
        "threadSource": None,
        "agentNickname": None,
        "agentRole": None,
        "gitInfo": it.git,
        "name": it.name,
        "daybreakEnabled": None,
        "turns": list(turns),
    }


def _history_mode(it: Thread, version: Version) -> str:
    # From 0.151.0 to before 0.158.0 what has no file of its own is not read in pages.
    unpaged = version.messages.pages_files_alone and (it.ephemeral or it.given_history)
    return "paginated" if version.stored.paged and not unpaged else "legacy"


def status(it: Thread) -> Json:
    """The status of a thread."""
    if it.turn is not None:
        # Each flag once, though several requests may wait.
        return {"type": "active", "activeFlags": list(dict.fromkeys(it.active_flags))}
    return {"type": "systemError" if it.failed else "idle"}


def thread_opened(it: Thread, version: Version, turns: Sequence[Json] = ()) -> Json:
    """Result of thread/start and thread/fork."""
    roots = [root for place in it.environments for root in place.get("runtimeWorkspaceRoots", [])]
    return {
        "thread": thread(it, version, turns),
        "model": it.settings.model,
        "modelProvider": PROVIDER,
        "serviceTier": None,
        "disabledPluginIds": [],
        "cwd": it.folder,
        "runtimeWorkspaceRoots": roots or ([it.folder] if version.messages.folder_is_root else []),
        "instructionSources": [],
        "approvalPolicy": it.settings.approval_policy,
        "approvalsReviewer": "user",
        "sandbox": it.settings.sandbox,
        "permissionProfile": _READ_ONLY_PROFILE,
        "activePermissionProfile": None,
        "reasoningEffort": it.settings.effort,
        "multiAgentMode": "explicitRequestOnly",
    }


def thread_resumed(it: Thread, version: Version, turns: Sequence[Json], page: Json | None = None) -> Json:
    """Result of thread/resume; `page`: `initialTurnsPage`, None if the client wants none."""
    opened = thread_opened(it, version, turns)
    # The real server writes the collaboration mode before it; the order of fields is compared, too.
    mode = opened.pop("multiAgentMode")
    return {
        **opened,
        "collaborationMode": collaboration_mode(it, version),
        "multiAgentMode": mode,
        "initialTurnsPage": page,
        **places(it, version),
    }


def places(it: Thread, version: Version) -> Json:
    """The cursors from which the turns and the items of a thread can be paged backwards."""
    last = len(it.turn_history.turns)
    ends = {"turns": last, "itemsByCreatedAtOrdinal": sum(len(turn["items"]) for turn in it.turn_history.turns)}
    cursors = [cursor(it, kind, at) if last and version.stored.paged else None for kind, at in ends.items()]
    return dict(zip(("turnsBackwardsCursor", "itemsBackwardsCursor"), cursors, strict=True))


def cursor(it: Thread, kind: str, at: int, *, anchor: bool = True) -> str:
    """A place in the turns or the items of a thread; `anchor`: the page begins with what is there, not after it."""
    place = {"requestedThreadId": it.id, "rolloutOrdinal": at, "includeAnchor": anchor, "scope": {"kind": kind}}
    return json.dumps(place, separators=(",", ":"))


def collaboration_mode(it: Thread, version: Version) -> Json:
    """The mode in which the thread's turns are played."""
    settings = it.settings
    inner = {
        "model": settings.model,
        "reasoning_effort": settings.effort,
        "developer_instructions": f"# {settings.mode} mode" if settings.mode else None,  # real modes have long ones
    }
    return {"mode": settings.mode or version.messages.default_mode, "settings": inner}


# Versions from 0.125.0 to before 0.134.0 alone send it.
_READ_ONLY_PROFILE: Json = {
    "type": "managed",
    "network": {"enabled": False},
    "fileSystem": {
        "type": "restricted",
        "entries": [{"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"}],
    },
}


def conversation_opened(it: Thread) -> Json:
    """Result of newConversation."""
    settings = it.settings
    return {
        "conversationId": it.id,
        "model": settings.model,
        "reasoningEffort": settings.effort,
        "rolloutPath": it.path,
    }


def settings_updated(it: Thread, version: Version) -> Json:
    """thread/settings/updated."""
    settings = it.settings
    return {
        "threadId": it.id,
        "threadSettings": {
            "disabledPluginIds": [],
            "cwd": it.folder,
            "environments": it.environments,
            "approvalPolicy": settings.approval_policy,
            "approvalsReviewer": "user",
            "sandboxPolicy": settings.sandbox,
            "activePermissionProfile": None,
            "model": settings.model,
            "modelProvider": PROVIDER,
            "serviceTier": None,
            "effort": settings.effort,
            "summary": settings.summary,
            "collaborationMode": collaboration_mode(it, version),
            "multiAgentMode": "explicitRequestOnly",
            "personality": settings.personality or version.messages.personality,
        },
    }


def read_state(it: Thread, revision: str) -> Json:
    """thread/readState/changed."""
    unread = {"type": "turn", "turnId": it.first_unread}
    return {"threadId": it.id, "readState": {"firstUnread": unread, "revision": revision}}


# Errors


def turn_error(cause: FailureCause) -> Json:
    """Why a turn failed: the `error` of `error` and of turn/completed."""
    return {
        "message": cause.message,
        "codexErrorInfo": cause.info,
        "additionalDetails": None,
        "misalignment": None,
    }


def retry(step: Retry) -> Json:
    """Why the model is asked again: the `error` of an `error` with willRetry."""
    # "waiting for network" is what 0.150.0 and newer say of a service that they cannot reach.
    progress = f"{step.attempt}/{step.attempts}" if step.attempts else "waiting for network"
    return {
        "message": f"Reconnecting... {progress}",
        "codexErrorInfo": {"responseStreamDisconnected": {"httpStatusCode": None}},
        "additionalDetails": step.details,
        "misalignment": None,
    }


# Models

MODEL: Json = {
    "id": "mock-model",
    "model": "mock-model",
    "upgrade": None,
    "upgradeInfo": None,
    "availabilityNux": None,
    "displayName": "Mock model",
    "description": "Says what its script says.",
    "modelSpecialty": None,
    "hidden": False,
    "supportedReasoningEfforts": [{"reasoningEffort": "low", "description": "There is no other"}],
    "defaultReasoningEffort": "low",
    "inputModalities": ["text", "image"],
    "supportsPersonality": False,
    "multiAgentVersion": "v2",
    "additionalSpeedTiers": [],
    "serviceTiers": [],
    "defaultServiceTier": None,
    "availableAccessPrograms": None,
    "isDefault": True,
}
