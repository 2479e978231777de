"""The parameters of requests: what each must be, in which versions it is read, and which need `experimentalApi`.

One table by method. A name carries a mark (`marks`) where not every version has it; a name whose check changed stands
twice, until and from that version; `_OfVersion` makes a check whose variants came and went one by one. Parameters that
are not listed are ignored, as the real server ignores unknown ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from wireproof_codex.protocol.params import (
    COUNT,
    FLAG,
    LIST,
    MAP,
    TEXT,
    ParameterCheck,
    list_of,
    one_of,
    struct,
    tagged,
)
from wireproof_codex.versions.marks import known, unknown

if TYPE_CHECKING:
    from wireproof_codex.protocol.params import Table

_OfVersion = Callable[[str], ParameterCheck]
_Rows = Mapping[str, Mapping[str, ParameterCheck | _OfVersion]]

_TEXT, _FLAG, _LIST, _MAP, _COUNT = (
    ParameterCheck(TEXT),
    ParameterCheck(FLAG),
    ParameterCheck(LIST),
    ParameterCheck(MAP),
    ParameterCheck(COUNT),
)
_TEXTS = ParameterCheck(list_of(TEXT))
_NEEDED = ParameterCheck(TEXT, required=True)
_THREAD = {"threadId": _NEEDED}
_CONVERSATION = {"conversationId": _NEEDED}

# `reject` became `granular`: both are objects, so a map passes where a version has one of them.
_APPROVALS = "untrusted on-failure-0.150 on-request reject+0.105-0.115 granular+0.115 never"
_WITH_FIELDS = frozenset({"reject", "granular"})
# Until 0.142 a closed list; then any word passes and goes to the model's service as it is.
_EFFORTS = ParameterCheck(one_of("none", "minimal", "low", "medium", "high", "xhigh"))
_SANDBOX = ParameterCheck(one_of("read-only", "workspace-write", "danger-full-access"))
_SORTS = "created_at updated_at recency_at+0.142 section_position+0.150"
_DIRECTION = ParameterCheck(one_of("asc", "desc"))


def _approval(number: str) -> ParameterCheck:
    names = known(_APPROVALS, number)
    return ParameterCheck(one_of(*names, maps=bool(_WITH_FIELDS & {*names})))


def _sort_key(number: str) -> ParameterCheck:
    return ParameterCheck(one_of(*known(_SORTS, number)))


_INPUTS = "text image localImage audio+0.150 localAudio+0.150 skill mention+0.93"
_SAID = {"text": _NEEDED, "text_elements": _LIST}
_PATH, _NAMED = {"path": _NEEDED}, {"name": _NEEDED, "path": _NEEDED}
_INPUT: _Rows = {
    "text": _SAID,
    "image": {"url-0.160": _NEEDED, "url+0.160": _TEXT, "fileId+0.160": _TEXT},  # a file's id may take its place
    "localImage": _PATH,
    "audio": {},
    "localAudio": _PATH,
    "skill": _NAMED,
    "mention": _NAMED,
}


def _input(number: str) -> ParameterCheck:
    kinds = {kind: _read(_INPUT[kind], number) for kind in known(_INPUTS, number)}
    return ParameterCheck(list_of(tagged(kinds, "UserInput")), required=True)


# v1 puts the fields of an item into `data`; v2 has them beside `type`.
_V1_INPUT: Table = {"text": _SAID, "image": {"image_url": _NEEDED}, "localImage": _PATH}
_V1_APPROVALS = one_of("untrusted", "on-failure", "on-request", "never")
_V1_SENT: Mapping[str, ParameterCheck] = {
    **_CONVERSATION,
    "items": ParameterCheck(list_of(tagged(_V1_INPUT, "InputItem", content="data")), required=True),
}

_CLIENT = struct(name=_NEEDED, version=_NEEDED, title=_TEXT)
_CAPABILITIES = struct(experimentalApi=_FLAG, optOutNotificationMethods=_TEXTS)

# What a thread starts with, whether it is new or a fork.
_BEGINNING: Mapping[str, ParameterCheck] = {
    "model": _TEXT,
    "modelProvider": _TEXT,
    "cwd": _TEXT,
    "approvalPolicy": ParameterCheck(one_of("untrusted", "on-request", "granular", "never", maps=True)),
    "sandbox": _SANDBOX,
    "config": _MAP,
    "baseInstructions": _TEXT,
    "developerInstructions": _TEXT,
}
_SLICE: Mapping[str, ParameterCheck] = {"limit": _COUNT, "cursor": _TEXT}
_VIEW = ParameterCheck(one_of("notLoaded", "summary", "full"))
_PAGE: Mapping[str, ParameterCheck] = {**_SLICE, "sortDirection": _DIRECTION}
_MODE = ParameterCheck(struct(mode=_NEEDED, settings=_MAP))
_GOALS = ParameterCheck(one_of("active", "paused", "blocked", "usageLimited", "budgetLimited", "complete"))
_GIT = ParameterCheck(struct(sha=_TEXT, branch=_TEXT, originUrl=_TEXT))
_TOOL_OUTPUT = ParameterCheck(struct(name=_NEEDED, output=_NEEDED, retain=_FLAG))

PARAMS: _Rows = {
    "initialize": {"clientInfo": ParameterCheck(_CLIENT, required=True), "capabilities": ParameterCheck(_CAPABILITIES)},
    # Threads
    "thread/start": {
        **_BEGINNING,
        "approvalPolicy": _approval,
        # Versions without the next three ignore them without a word, tools included.
        "ephemeral+0.90": _FLAG,
        "dynamicTools+0.92": _LIST,
        "environments+0.125": ParameterCheck(list_of(MAP)),
        "experimentalRawEvents": _FLAG,
    },
    "thread/resume": {
        **_THREAD,
        "history": _LIST,
        "excludeTurns": _FLAG,
        "approvalPolicy": _approval,
        "initialTurnsPage+0.142": ParameterCheck(struct(**_PAGE, itemsView=_VIEW)),
    },
    "thread/fork": {**_THREAD, **_BEGINNING, "ephemeral": _FLAG, "excludeTurns": _FLAG},
    "thread/inject_items": {**_THREAD, "items": ParameterCheck(LIST, required=True)},
    "thread/unsubscribe": _THREAD,
    "thread/compact/start": _THREAD,
    "thread/read": {**_THREAD, "includeTurns": _FLAG},
    "thread/name/set": {**_THREAD, "name": _NEEDED},
    "thread/archive": _THREAD,
    "thread/unarchive": _THREAD,
    "thread/delete": _THREAD,
    "thread/rollback": {**_THREAD, "numTurns": ParameterCheck(COUNT, required=True)},
    "thread/revert": {**_THREAD, "beforeTurnId": _NEEDED},
    "thread/turns/list": {**_THREAD, **_PAGE, "itemsView": _VIEW},
    "thread/items/list": {**_THREAD, **_PAGE, "turnId": _TEXT},
    "thread/goal/get": _THREAD,
    "thread/goal/set": {**_THREAD, "objective": _TEXT, "status": _GOALS, "tokenBudget": _COUNT},
    "thread/goal/clear": _THREAD,
    "thread/metadata/update": {**_THREAD, "gitInfo": _GIT},
    "thread/sample": {**_THREAD, "expectedTurnId": _NEEDED, "prompt": _NEEDED},
    "thread/list": {
        **_SLICE,
        "sortKey": _sort_key,
        "archived": _FLAG,
        "modelProviders": _TEXTS,
        "sourceKinds+0.92": _TEXTS,
        "cwd+0.105": _TEXT,
        "searchTerm+0.105": _TEXT,
        "sortDirection+0.125": _DIRECTION,
    },
    "thread/loaded/list": _SLICE,
    "thread/settings/update": {
        **_THREAD,
        "model": _TEXT,
        "effort": _TEXT,
        "approvalPolicy": ParameterCheck(one_of("untrusted", "on-request", "granular", "never", maps=True)),
        "sandboxPolicy": _MAP,
        "collaborationMode": _MODE,
    },
    # Turns
    "turn/start": {
        **_THREAD,
        "input": _input,
        "model": _TEXT,
        "effort-0.142": _EFFORTS,
        "effort+0.142": _TEXT,
        "approvalPolicy": _approval,
        "sandboxPolicy": _MAP,
        "collaborationMode": _MODE,
        "clientUserMessageId": _TEXT,
        "toolOutput+0.160": _TOOL_OUTPUT,  # it has no call id, so no result of an OpenAI client can be sent with it
    },
    "turn/steer": {**_THREAD, "input": _input, "expectedTurnId": _NEEDED},
    "turn/interrupt": {**_THREAD, "turnId": _NEEDED},
    # What a client asks at its start
    "model/list": _SLICE,
    "permissionProfile/list": _SLICE,
    "mcpServerStatus/list": _SLICE,
    "experimentalFeature/list": _SLICE,
    "app/list": _SLICE,
    "config/read": {"includeLayers": _FLAG},
    "modelProvider/list": {},
    "modelProvider/capabilities/read": {},
    "collaborationMode/list": {},
    "skills/list": {"cwds": _TEXTS},
    "hooks/list": {"cwds": _TEXTS},
    "account/read": {"refreshToken": _FLAG},
    "getAuthStatus": {"includeToken": _FLAG, "refreshToken": _FLAG},
    # v1
    "newConversation": {
        "model": _TEXT,
        "modelProvider": _TEXT,
        "cwd": _TEXT,
        "approvalPolicy": ParameterCheck(_V1_APPROVALS),
        "sandbox": _SANDBOX,
        "config": _MAP,
        "baseInstructions": _TEXT,
        "developerInstructions": _TEXT,
    },
    "addConversationListener": {**_CONVERSATION, "experimentalRawEvents": _FLAG},
    "removeConversationListener": {"subscriptionId": _NEEDED},
    "sendUserMessage": _V1_SENT,
    # Unlike turn/start, whose overrides may be left out and then stay as they were.
    "sendUserTurn": {
        **_V1_SENT,
        "cwd": _NEEDED,
        "approvalPolicy": ParameterCheck(_V1_APPROVALS, required=True),
        # Its `type` is in kebab case here (`read-only`), in camel case in v2 (`readOnly`).
        "sandboxPolicy": ParameterCheck(MAP, required=True),
        "model": _NEEDED,
        "summary": _NEEDED,
        "effort": _EFFORTS,
    },
    "interruptConversation": _CONVERSATION,
    "listConversations": {"pageSize": _COUNT, "cursor": _TEXT, "modelProviders": _TEXTS},
    "getConversationSummary": {"conversationId": _TEXT, "rolloutPath": _TEXT},
    "resumeConversation": {"conversationId": _TEXT, "path": _TEXT, "history": _LIST},
    "forkConversation": {"conversationId": _TEXT, "path": _TEXT, "overrides": _MAP},
    "archiveConversation": {**_CONVERSATION, "rolloutPath": _NEEDED},
}

GATED_METHODS = (
    "mock/experimentalMethod+0.95 collaborationMode/list+0.95 thread/sample+0.169 thread/sample/cancel+0.169"
)
# Some are older than their gates: 0.92 to 0.94 take dynamicTools, 0.89.0 a history, without the capability.
GATED_PARAMS: Mapping[str, str] = {
    "thread/start": """
        dynamicTools+0.95 environments+0.125 experimentalRawEvents+0.99 historyMode+0.150 mockExperimentalField+0.95
        permissions+0.134 projectId+0.150 runtimeWorkspaceRoots+0.134
    """,
    "thread/resume": "history+0.99 initialTurnsPage+0.169 path+0.99",
    "turn/start": """
        additionalContext+0.142 collaborationMode+0.99 environments+0.125 permissions+0.134
        responsesapiClientMetadata+0.125
    """,
}


def params_of(number: str) -> Table:
    """By method, the parameters that the version reads."""
    return {method: _read(rows, number) for method, rows in PARAMS.items()}


def marked_params() -> tuple[str, ...]:
    """All lists of marked names of this module."""
    names = " ".join(name for rows in (*PARAMS.values(), *_INPUT.values()) for name in rows)
    return (names, _APPROVALS, _SORTS, _INPUTS, GATED_METHODS, *GATED_PARAMS.values())


def _read(rows: Mapping[str, ParameterCheck | _OfVersion], number: str) -> Mapping[str, ParameterCheck]:
    fields = {name: row for marked, row in rows.items() for name in known(marked, number)}
    return {name: row if isinstance(row, ParameterCheck) else row(number) for name, row in fields.items()}


def gated_methods(number: str) -> frozenset[str]:
    """Methods that need the capability experimentalApi."""
    return frozenset(known(GATED_METHODS, number))


def gated_params(number: str) -> Mapping[str, tuple[str, ...]]:
    """By method, the parameters that need it."""
    fields = {method: known(marked, number) for method, marked in GATED_PARAMS.items()}
    return {method: names for method, names in fields.items() if names}


def ignored_params(number: str) -> frozenset[str]:
    """Parameters of thread/start that came later."""
    return frozenset().union(*(unknown(marked, number) for marked in PARAMS["thread/start"]))
