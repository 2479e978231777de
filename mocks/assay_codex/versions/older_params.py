"""The parameters of the v1 methods, and those of newer ones that older versions took in fewer forms."""

from __future__ import annotations

from assay_codex.protocol.params import COUNT, FLAG, LIST, MAP, TEXT, THREAD_ID, Field, Table, list_of, one_of, tagged

_NEEDED = Field(TEXT, required=True)

EFFORT = Field(one_of("none", "minimal", "low", "medium", "high", "xhigh"))
IMAGE = {"url": _NEEDED}

_APPROVAL = Field(one_of("untrusted", "on-failure", "on-request", "never"))
_ITEM = tagged(
    {"text": {"text": _NEEDED}, "image": {"image_url": _NEEDED}, "localImage": {"path": _NEEDED}},
    "InputItem",
    content="data",
)

_SENT = {"conversationId": THREAD_ID, "items": Field(list_of(_ITEM), required=True)}

V1_FIELDS: Table = {
    "newConversation": {
        "model": Field(TEXT),
        "modelProvider": Field(TEXT),
        "cwd": Field(TEXT),
        "approvalPolicy": _APPROVAL,
        "sandbox": Field(one_of("read-only", "workspace-write", "danger-full-access")),
        "config": Field(MAP),
        "baseInstructions": Field(TEXT),
        "developerInstructions": Field(TEXT),
    },
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
        "effort": EFFORT,
    },
    "interruptConversation": {"conversationId": THREAD_ID},
    "listConversations": {"pageSize": Field(COUNT), "cursor": Field(TEXT), "modelProviders": Field(list_of(TEXT))},
    "getConversationSummary": {"conversationId": Field(TEXT), "rolloutPath": Field(TEXT)},
    "resumeConversation": {"conversationId": Field(TEXT), "path": Field(TEXT), "history": Field(LIST)},
    "forkConversation": {"conversationId": Field(TEXT), "path": Field(TEXT), "overrides": Field(MAP)},
    "archiveConversation": {"conversationId": THREAD_ID, "rolloutPath": _NEEDED},
}
