"""The parameters of the methods about stored threads, and of what clients ask for when they begin."""

from __future__ import annotations

from assay_codex.protocol.params import (
    APPROVAL,
    BEGINNING,
    COUNT,
    FLAG,
    MAP,
    TEXT,
    THREAD_ID,
    Field,
    Table,
    list_of,
    one_of,
    struct,
)

_ONE: dict[str, Field] = {"threadId": THREAD_ID}

_SLICE: dict[str, Field] = {"limit": Field(COUNT), "cursor": Field(TEXT)}
_PAGE: dict[str, Field] = {
    **_ONE,
    **_SLICE,
    "sortDirection": Field(one_of("asc", "desc")),
}
_GOALS = ("active", "paused", "blocked", "usageLimited", "budgetLimited", "complete")
TOOL_OUTPUT = Field(struct(name=Field(TEXT, required=True), output=Field(TEXT, required=True), retain=Field(FLAG)))

FILTERS: dict[str, Field] = {
    "sourceKinds": Field(list_of(TEXT)),
    "cwd": Field(TEXT),
    "searchTerm": Field(TEXT),
    "sortDirection": Field(one_of("asc", "desc")),
}

STORED_FIELDS: Table = {
    "thread/turns/list": {**_PAGE, "itemsView": Field(one_of("notLoaded", "summary", "full"))},
    "thread/items/list": {**_PAGE, "turnId": Field(TEXT)},
    "thread/revert": {**_ONE, "beforeTurnId": Field(TEXT, required=True)},
    "thread/goal/get": _ONE,
    "thread/goal/set": {
        **_ONE,
        "objective": Field(TEXT),
        "status": Field(one_of(*_GOALS)),
        "tokenBudget": Field(COUNT),
    },
    "thread/goal/clear": _ONE,
    "thread/metadata/update": {
        **_ONE,
        "gitInfo": Field(struct(sha=Field(TEXT), branch=Field(TEXT), originUrl=Field(TEXT))),
    },
    "thread/sample": {
        **_ONE,
        "expectedTurnId": Field(TEXT, required=True),
        "prompt": Field(TEXT, required=True),
    },
    "thread/read": {**_ONE, "includeTurns": Field(FLAG)},
    "thread/name/set": {**_ONE, "name": Field(TEXT, required=True)},
    "thread/archive": _ONE,
    "thread/delete": _ONE,
    "thread/unarchive": _ONE,
    "thread/rollback": {**_ONE, "numTurns": Field(COUNT, required=True)},
    "thread/fork": {
        **_ONE,
        **BEGINNING,
        "excludeTurns": Field(FLAG),
    },
    "thread/list": {
        "limit": Field(COUNT),
        "cursor": Field(TEXT),
        "sortKey": Field(one_of("created_at", "updated_at", "recency_at")),
        "archived": Field(FLAG),
        "modelProviders": Field(list_of(TEXT)),
    },
    "thread/loaded/list": {"limit": Field(COUNT), "cursor": Field(TEXT)},
    "thread/settings/update": {
        **_ONE,
        "model": Field(TEXT),
        "effort": Field(TEXT),
        "approvalPolicy": Field(APPROVAL),
        "sandboxPolicy": Field(MAP),
    },
    "permissionProfile/list": _SLICE,
    "mcpServerStatus/list": _SLICE,
    "experimentalFeature/list": _SLICE,
    "app/list": _SLICE,
    "config/read": {"includeLayers": Field(FLAG)},
    "modelProvider/list": {},
    "modelProvider/capabilities/read": {},
    "collaborationMode/list": {},
    "skills/list": {"cwds": Field(list_of(TEXT))},
    "hooks/list": {"cwds": Field(list_of(TEXT))},
    "account/read": {"refreshToken": Field(FLAG)},
    "getAuthStatus": {"includeToken": Field(FLAG), "refreshToken": Field(FLAG)},
}
