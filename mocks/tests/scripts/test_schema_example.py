from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from wireproof_scripts.default.schema_example import example

REF = {"$defs": {"city": {"type": "string", "enum": ["Paris", "Oslo"]}}}
SCHEMAS: list[Any] = [
    {},
    True,
    {"type": "object"},
    {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]},
    {"properties": {"a": {"type": "integer"}}},
    {"type": "object", "properties": {"a": {"type": "boolean"}}, "additionalProperties": False},
    {"required": ["a"]},
    {"type": "string"},
    {"type": "string", "minLength": 20},
    {"type": "string", "maxLength": 3},
    {"type": "string", "format": "date-time"},
    {"type": "string", "format": "unheard-of"},
    {"type": "integer"},
    {"type": "integer", "minimum": 5},
    {"type": "integer", "exclusiveMinimum": 5},
    {"type": "integer", "maximum": -5},
    {"type": "integer", "exclusiveMaximum": 0},
    {"type": "integer", "minimum": 5, "multipleOf": 4},
    {"type": "number"},
    {"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 1.5},
    {"type": "number", "minimum": 7},
    {"type": "number", "maximum": -2},
    {"type": "number", "minimum": 1e308, "maximum": 1e308},
    {"type": "integer", "multipleOf": 0.3, "minimum": 1},
    {"type": "integer", "multipleOf": 3, "maximum": 2},
    {"type": "integer", "maximum": 0.5},
    {"type": "number", "multipleOf": 3},
    {"type": "number", "multipleOf": 0.25, "minimum": 19.1, "maximum": 19.9},
    {"type": "number", "multipleOf": 0.01, "minimum": 19.99},
    {"type": "boolean"},
    {"type": "null"},
    {"type": ["null", "integer"]},
    {"type": ["null"]},
    {"type": "array"},
    {"items": {"type": "integer"}},
    {"type": "array", "items": {"type": "string"}, "minItems": 3},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2, "uniqueItems": True},
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2},
    {"const": {"a": 1}},
    {"enum": [3, 4]},
    {"type": "string", "default": "d"},
    {"type": "string", "examples": ["e"]},
    {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    {"oneOf": [{"const": 1}, {"const": 2}], "description": "one"},
    {
        "type": "object",
        "properties": {"c": {"type": "string"}},
        "required": ["c"],
        "allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"required": ["a"]}, True],
    },
    {**REF, "type": "object", "properties": {"city": {"$ref": "#/$defs/city"}}, "required": ["city"]},
    {**REF, "allOf": [{"$ref": "#/$defs/city"}]},
    {"anyOf": [True, {"type": "integer"}]},
    {"type": "string", "pattern": r"^[A-Z]{3}-\d{4}$"},
    {"type": "string", "pattern": "^[a-z]*$", "minLength": 5},
]


@pytest.mark.each("schema", SCHEMAS, ids=str)
def test_a_specimen_is_valid_under_its_schema(schema: Any) -> None:
    Draft202012Validator(schema).validate(example(schema))


def test_only_what_is_required_is_made_or_else_the_first() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    assert example(schema) == {"a": "example"}
    assert example({**schema, "required": ["b"]}) == {"b": 1}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/nowhere/a"},
        {"$ref": "https://example.com/schema"},
        {"$ref": "#/type/x", "type": "string"},
        {"$ref": "#"},
        {"type": "unheard-of"},
        {"pattern": "(?=x"},
        {"pattern": "^x{2}$", "minLength": 3},
        "no schema",
    ],
)
def test_a_schema_that_cannot_be_followed_still_gives_something(schema: object) -> None:
    assert example(schema) == "example"


def test_a_schema_that_holds_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["next"]}
    text = str(example({"$defs": {"node": node}, "$ref": "#/$defs/node"}))
    assert text.endswith("None" + "}" * text.count("{"))


KEYWORDS = sorted({keyword for schema in SCHEMAS if isinstance(schema, dict) for keyword in schema} | {"$ref"})
TYPES = st.sampled_from(["object", "array", "string", "integer", "number", "#/allOf/0", "x"])


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4)


# Of any size: Python does not limit its integers, and what a client declares is any JSON.
NUMBERS = st.integers(-99, 99) | st.integers(-(10**400), 10**400) | st.floats()
ANYTHING = st.recursive(st.none() | st.booleans() | NUMBERS | TYPES, _nested, max_leaves=12)


@given(st.dictionaries(st.sampled_from([*KEYWORDS, "type"]), ANYTHING, max_size=6))
def test_no_schema_however_wrong_stops_it(schema: dict[str, Any]) -> None:
    example(schema)


@given(
    st.sampled_from(["integer", "number"]),
    st.dictionaries(
        st.sampled_from(["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"]), NUMBERS
    ),
)
def test_no_bounds_of_a_number_however_wrong_stop_it(kind: str, bounds: dict[str, float]) -> None:
    json.dumps(example({"type": kind, **bounds}))


def test_arrays_within_arrays_stay_small() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(8):
        schema = {"type": "array", "minItems": 1_000_000, "items": schema}
    assert len(json.dumps(example(schema))) < 1_000_000


@pytest.mark.each(
    ("schema", "value"),
    [
        ({"type": "integer", "minimum": -(2**53) + 1, "maximum": 2**53 - 1}, 1),
        ({"type": "integer", "minimum": -5, "maximum": -2}, -2),
        ({"type": "integer", "minimum": 3}, 3),
        ({"type": "number", "minimum": -1e9}, 1.5),
        ({"type": "number", "minimum": -3, "maximum": 1}, -1.0),
    ],
)
def test_numbers_are_small_where_their_least_one_says_little(schema: dict[str, Any], value: float) -> None:
    assert example(schema) == value
