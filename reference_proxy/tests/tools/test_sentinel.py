from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_surfaces.tools.sentinel import read
from wireproof_surfaces.tools.use_tool import TextCall


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"id":"c","name":"f","arguments":"{ \\"a\\": 1.50 }"}', '{ "a": 1.50 }'),
        ('{"call_id":"c","name":"f","arguments":{"a" : 1.50}}', '{"a":1.50}'),
        (' {"id":"c","name":"f","arguments":7}\n', "7"),
        ('{"id":"c","name":"f"}', "{}"),
        ('{"type":"tool_call","id":"c","name":"f","arguments":""}', ""),
    ],
)
def test_a_string_of_arguments_stays_and_all_else_is_compact(text: str, arguments: str) -> None:
    assert read(text) == TextCall(id="c", name="f", arguments=arguments)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"name":"f"}',
        '{"id":"c"}',
        '{"id":"","name":"f"}',
        '{"call_id":"","name":"f"}',
        '{"id":1,"name":"f"}',
        '{"id":"c","name":2}',
        '{"id":"c","name":""}',
        "[" * 100_000,
    ],
)
def test_what_lacks_something_is_no_call(text: str) -> None:
    assert read(text) is None


ANY: st.SearchStrategy[object] = (
    st.none() | st.integers() | st.floats() | st.sampled_from(["", "a", "{"]) | st.just([{}])
)
MEMBERS = st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "call_id", "name", "arguments"), ANY))


@given(MEMBERS.map(json.dumps), st.integers(0, 60))
def test_whatever_stands_there_a_call_has_an_id_and_a_name(text: str, size: int) -> None:
    for call in filter(None, (read(text), read(text[:size]))):
        assert {call.id, call.name} <= {"a", "{"}
