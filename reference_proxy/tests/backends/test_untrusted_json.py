from __future__ import annotations

import pytest

from wireproof_proxy.backends.untrusted_json import as_count, as_mapping, as_text


@pytest.mark.parametrize("value", [None, 1, [], {}])
def test_what_is_no_text_is_empty(value: object) -> None:
    assert as_text(value) == ""
    assert as_text("a") == "a"


@pytest.mark.parametrize("value", [None, 1, [], "a"])
def test_what_is_no_object_is_empty(value: object) -> None:
    assert as_mapping(value) == {}
    assert as_mapping({"a": 1}) == {"a": 1}


@pytest.mark.parametrize("value", [None, True, -1, 1.5, "1"])
def test_what_is_no_count_is_none(value: object) -> None:
    assert as_count(value) is None
    assert as_count(0) == 0
