from __future__ import annotations

from wireproof_codex.versions.forms import trimmed, trimmed_value

FORMS = {
    "thing/sent": frozenset({"more"}),
    ".item": frozenset({"z"}),
    ".item/a": frozenset({"y"}),
    ".list": frozenset[str](),
    ".list/a": frozenset({"y"}),
}


def test_fields_are_sent_but_for_those_of_the_table() -> None:
    kept = trimmed(FORMS, "thing/sent", {"item": {"type": "a", "z": 0, "x": 2, "y": 1}, "more": 2, "id": 1})
    assert list(kept.items()) == [("item", {"type": "a", "x": 2}), ("id", 1)]


def test_what_is_not_named_is_sent_as_it_is() -> None:
    inside = {"item": {"arguments": {"item": {"type": "a", "y": 1}}}}
    assert trimmed(FORMS, "other", inside) == inside
    assert trimmed({}, "thing/sent", {"more": 1}) == {"more": 1}
    assert trimmed_value(FORMS, "other", "text") == "text"


def test_the_objects_of_a_list_are_each_looked_at() -> None:
    assert trimmed(FORMS, "x", {"list": [{"type": "a", "y": 1}, {"type": "b", "y": 1}, "text"]}) == {
        "list": [{"type": "a"}, {"type": "b", "y": 1}, "text"]
    }
