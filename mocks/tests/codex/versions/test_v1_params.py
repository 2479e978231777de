from __future__ import annotations

from typing import Any

import pytest

from wireproof_codex.protocol.params import Refused
from wireproof_codex.versions.version import VERSIONS

ID = "00000000-0000-7000-8000-000000000001"
TURN = {
    "conversationId": ID,
    "items": [],
    "cwd": "/",
    "approvalPolicy": "never",
    "sandboxPolicy": {"type": "read-only"},
    "model": "m",
    "summary": "auto",
}


def _fault(method: str, params: Any) -> str | None:
    try:
        VERSIONS["0.89.0"].requests.params.check(method, params)
    except Refused as refused:
        return refused.message.removeprefix("Invalid request: ")
    return None


def test_what_is_right_passes() -> None:
    items = [{"type": "text", "data": {"text": "x"}}, {"type": "image", "data": {"image_url": "data:"}}]
    assert _fault("sendUserMessage", {"conversationId": ID, "items": items}) is None
    assert _fault("sendUserTurn", TURN) is None
    assert _fault("thread/start", {"dynamicTools": "what came later is overlooked"}) is None


@pytest.mark.parametrize("missing", ["conversationId", "cwd", "approvalPolicy", "sandboxPolicy", "model", "summary"])
def test_a_user_turn_needs_all_it_changes(missing: str) -> None:
    given = {name: value for name, value in TURN.items() if name != missing}
    assert _fault("sendUserTurn", given) == f"missing field `{missing}`"


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        ("x", 'invalid type: string "x", expected adjacently tagged enum InputItem'),
        ({"data": {}}, "missing field `type`"),
        ({"type": "video", "data": {}}, "unknown variant `video`, expected one of `text`, `image`, `localImage`"),
        ({"type": "text"}, "missing field `data`"),
        ({"type": "text", "data": "x"}, 'invalid type: string "x", expected struct variant InputItem::Text'),
        ({"type": "text", "data": {}}, "missing field `text`"),
    ],
)
def test_a_wrong_item_is_refused(item: object, fault: str) -> None:
    assert _fault("sendUserMessage", {"conversationId": ID, "items": [item]}) == fault


def test_the_words_are_those_of_the_version() -> None:
    assert _fault("thread/start", {"approvalPolicy": "granular"}) == (
        "unknown variant `granular`, expected one of `untrusted`, `on-failure`, `on-request`, `never`"
    )
    assert _fault("turn/start", {"threadId": ID, "input": [], "effort": "bogus"}) == (
        "unknown variant `bogus`, expected one of `none`, `minimal`, `low`, `medium`, `high`, `xhigh`"
    )
