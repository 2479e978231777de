from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.surfaces.input_items import TYPES as COMPACTED
from wireproof_surfaces.surfaces.input_items import listed, page
from wireproof_surfaces.surfaces.responses_input import TYPES

ITEMS: list[dict[str, Any]] = [{"id": f"msg_{n}"} for n in range(25)]


def ids(query: dict[str, str]) -> list[str]:
    return [item["id"] for item in page(ITEMS, query)["data"]]


def test_a_text_is_a_message_of_the_user() -> None:
    assert list(listed("hi", "resp_t")) == [
        {
            "type": "message",
            "id": "msg_ti0000",
            "status": "completed",
            "role": "user",
            "content": [{"type": "input_text", "text": "hi"}],
        }
    ]


def test_items_get_what_they_lack_and_keep_what_they_have() -> None:
    given: list[dict[str, Any]] = [
        {"role": "assistant", "content": "yes", "id": None},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}", "status": "incomplete"},
        {"type": "function_call_output", "call_id": "c", "output": "done"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
    ]
    first, second, third, fourth = listed(given, "resp_t")
    assert first["content"] == [{"type": "output_text", "text": "yes", "annotations": []}]
    assert first["id"] == "msg_ti0000"
    assert second == given[1]
    assert third == {"type": "function_call_output", "id": "fco_ti0002", "status": "completed", **given[2]}
    assert fourth["content"] == given[3]["content"]


@pytest.mark.each("kind", [kind for kind in (*TYPES, *COMPACTED) if kind != "message"])
def test_every_type_of_item_is_listed(kind: str) -> None:
    [item] = listed([{"type": kind}], "resp_t")
    assert (item["type"], item["id"].endswith("_ti0000")) == (kind, True)
    # What was compacted has no status.
    assert ("status" in item) == (kind not in COMPACTED)


def test_the_newest_items_come_first_twenty_at_a_time() -> None:
    sent = page(ITEMS, {})
    assert (sent["object"], sent["has_more"], len(sent["data"])) == ("list", True, 20)
    assert (sent["first_id"], sent["last_id"]) == ("msg_24", "msg_5")


def test_a_page_goes_on_where_the_one_before_ended() -> None:
    assert ids({"order": "asc", "limit": "2"}) == ["msg_0", "msg_1"]
    assert ids({"order": "asc", "limit": "2", "after": "msg_1"}) == ["msg_2", "msg_3"]
    assert ids({"after": "msg_2"}) == ["msg_1", "msg_0"]
    empty = page(ITEMS, {"after": "msg_0"})
    assert (empty["data"], empty["first_id"], empty["last_id"], empty["has_more"]) == ([], None, None, False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("order", "up"),
        ("limit", "0"),
        ("limit", "101"),
        ("limit", "x"),
        ("limit", "²"),
        ("limit", "1" * 5000),
        ("after", "msg_99"),
    ],
)
def test_a_wrong_query_names_what_is_wrong(name: str, value: str) -> None:
    with pytest.raises(ApiError) as raised:
        page(ITEMS, {name: value})
    assert (raised.value.problem.status, raised.value.param) == (400, name)
