"""The parameters of the methods about stored threads."""

from __future__ import annotations

from assay_mocks.codex.params import APPROVAL, COUNT, FLAG, MAP, SANDBOX, TEXT, THREAD_ID, Field, Table, one_of

_ONE: dict[str, Field] = {"threadId": THREAD_ID}

STORED_FIELDS: Table = {
    "thread/read": {**_ONE, "includeTurns": Field(FLAG)},
    "thread/name/set": {**_ONE, "name": Field(TEXT, required=True)},
    "thread/archive": _ONE,
    "thread/delete": _ONE,
    "thread/unarchive": _ONE,
    "thread/rollback": {**_ONE, "numTurns": Field(COUNT, required=True)},
    "thread/fork": {
        **_ONE,
        "model": Field(TEXT),
        "modelProvider": Field(TEXT),
        "cwd": Field(TEXT),
        "approvalPolicy": Field(APPROVAL),
        "sandbox": Field(SANDBOX),
        "config": Field(MAP),
        "baseInstructions": Field(TEXT),
        "developerInstructions": Field(TEXT),
        "ephemeral": Field(FLAG),
        "excludeTurns": Field(FLAG),
    },
    "thread/list": {
        "limit": Field(COUNT),
        "cursor": Field(TEXT),
        "sortKey": Field(one_of("created_at", "updated_at", "recency_at")),
        "archived": Field(FLAG),
    },
    "thread/loaded/list": {"limit": Field(COUNT), "cursor": Field(TEXT)},
}
