"""The parameters of the versions that still had the v1 methods, where they differ from today's."""

from __future__ import annotations

from assay_mocks.codex.params import FIELDS, FLAG, LIST, MAP, TEXT, THREAD_ID, Field, Table, list_of, one_of, tagged

_APPROVAL = Field(one_of("untrusted", "on-failure", "on-request", "never"))
_SANDBOX = Field(one_of("read-only", "workspace-write", "danger-full-access"))
_EFFORT = Field(one_of("none", "minimal", "low", "medium", "high", "xhigh"))
_NEEDED = Field(TEXT, required=True)

_INPUT = tagged(
    {
        "text": {"text": _NEEDED},
        "image": {"url": _NEEDED},
        "localImage": {"path": _NEEDED},
        "skill": {"name": _NEEDED, "path": _NEEDED},
    },
    "UserInput",
)
_ITEM = tagged(
    {"text": {"text": _NEEDED}, "image": {"image_url": _NEEDED}, "localImage": {"path": _NEEDED}},
    "InputItem",
    content="data",
)

_STARTED = {
    "model": Field(TEXT),
    "modelProvider": Field(TEXT),
    "cwd": Field(TEXT),
    "approvalPolicy": _APPROVAL,
    "sandbox": _SANDBOX,
    "config": Field(MAP),
    "baseInstructions": Field(TEXT),
    "developerInstructions": Field(TEXT),
}
_SENT = {"conversationId": THREAD_ID, "items": Field(list_of(_ITEM), required=True)}

OLDER_FIELDS: Table = {
    **FIELDS,
    "thread/start": {**_STARTED, "experimentalRawEvents": Field(FLAG)},
    "thread/resume": {"threadId": THREAD_ID, "history": Field(LIST), **_STARTED},
    "turn/start": {
        **FIELDS["turn/start"],
        "input": Field(list_of(_INPUT), required=True),
        "effort": _EFFORT,
        "approvalPolicy": _APPROVAL,
    },
    "newConversation": _STARTED,
    "addConversationListener": {"conversationId": THREAD_ID, "experimentalRawEvents": Field(FLAG)},
    "removeConversationListener": {"subscriptionId": _NEEDED},
    "sendUserMessage": _SENT,
    "sendUserTurn": {
        **_SENT,
        "cwd": _NEEDED,
        "approvalPolicy": Field(_APPROVAL.check, required=True),
        "sandboxPolicy": Field(MAP, required=True),
        "model": _NEEDED,
        "summary": _NEEDED,
        "effort": _EFFORT,
    },
    "interruptConversation": {"conversationId": THREAD_ID},
}
