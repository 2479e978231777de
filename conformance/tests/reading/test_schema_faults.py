"""What is found wrong with a value is what jsonschema finds, too, which is no part of the suite."""

from __future__ import annotations

import copy
import json
import random
import socket
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import relevance
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from wireproof.reading import schemas
from wireproof.reading.schemas import errors, faults, misfits, names
from wireproof.results import archive
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.gz"))
PUBLISHED = [name for name in names() if name.startswith(("openai/", "messages/"))]
SCHEMAS = Path(__file__).parents[3] / "schemas"
CHUNK: dict[str, Any] = {
    "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
    "choices": [{"index": 0, "delta": {"role": "assistant", "content": "x"}, "finish_reason": None}],
}  # fmt: skip


RESPONSE: dict[str, Any] = {
    "id": "resp_a", "object": "response", "created_at": 1795410507, "completed_at": 1795410507, "status": "completed",
    "background": False, "error": None, "incomplete_details": None, "model": "m",
    "output": [{"type": "message", "id": "msg_a", "status": "completed", "role": "assistant",
                "content": [{"type": "output_text", "text": "Hello.", "annotations": [], "logprobs": []}]}],
    "frequency_penalty": 0.0, "instructions": None, "max_output_tokens": None, "max_tool_calls": None, "metadata": {},
    "parallel_tool_calls": True, "presence_penalty": 0.0, "previous_response_id": None, "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None}, "safety_identifier": None, "service_tier": "default",
    "store": False, "temperature": 1.0, "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [],
    "top_logprobs": 0, "top_p": 1.0, "truncation": "disabled", "user": None,
    "usage": {"input_tokens": 11, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
              "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 18},
}  # fmt: skip
WHOLE_FLOATS = (0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 7.0, 1e300)


def payloads(path: Path) -> Iterator[Any]:
    """The JSON of all answers in a recording, one of each shape."""
    known = set()
    for run in archive.load(path, (*SCENARIOS, *LIVE)).runs:
        for exchanges in run.exchanges.values():
            for exchange in exchanges:
                for value in _values(exchange.transcript.body.decode(errors="replace")):
                    if (shape := json.dumps(_shape(value))) not in known:
                        known.add(shape)
                        yield value


def _values(body: str) -> Iterator[Any]:
    for text in (body, *(line.removeprefix("data:") for line in body.splitlines() if line.startswith("data:"))):
        try:
            yield json.loads(text)
        except ValueError:
            continue


def _shape(value: Any) -> Any:
    """A value with its texts and numbers replaced by what kind they are."""
    if isinstance(value, dict):
        return {name: value[name] if name in {"type", "object"} else _shape(value[name]) for name in value}
    if isinstance(value, list):
        return [_shape(one) for one in value]
    return f"{type(value).__name__} {value == ''}"


@cache
def shapes(path: Path) -> tuple[Any, ...]:
    return tuple(payloads(path))


def closed(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """`additionalProperties`, but extensions are passed over."""
    if isinstance(instance, dict) and allowed is False:
        instance = {name: value for name, value in instance.items() if not name.startswith("x-")}
    yield from Draft202012Validator.VALIDATORS["additionalProperties"](validator, allowed, instance, schema)


Oracle: Any = validators.extend(  # type: ignore[no-untyped-call]  # jsonschema has no types for it
    Draft202012Validator,
    {"additionalProperties": closed},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


@cache
def oracle(name: str) -> Any:
    """A validator of jsonschema's."""
    # A schema that says of which draft it is would be validated as the standard has it.
    read = {
        one: json.loads((SCHEMAS / f"{one}.json").read_text(encoding="utf-8")) | {"$schema": "urn:ours"}
        for one in PUBLISHED
    }
    known: Any = Registry().with_resources((one["$id"], DRAFT202012.create_resource(one)) for one in read.values())
    return Oracle(read[name], registry=known.crawl())


def places(name: str, value: Any) -> list[Any] | None:
    """The places that jsonschema finds wrong, the most relevant first; None where there are alternatives to go into."""
    found = sorted(oracle(name).iter_errors(value), key=relevance, reverse=True)
    return None if any(one.context for one in found) else list(dict.fromkeys(tuple(one.path) for one in found))


def differing(values: Any, among: list[str]) -> list[tuple[str, Any]]:
    """Where jsonschema and the suite differ on whether a value is valid, on what is wrong, or on which comes first."""
    found = []
    for value in values:
        for name in among:
            wrong, judged = faults(name, value), places(name, value)
            here = list(dict.fromkeys(one.at[:-1] if one.unknown else one.at for one in wrong))
            if bool(wrong) is oracle(name).is_valid(value) or judged not in (None, here):
                found.append((name, value))
    return found


@pytest.mark.parametrize("path", CORPUS[:1], ids=lambda path: path.stem)
def test_answers_of_strangers_are_judged_alike(path: Path) -> None:
    assert shapes(path)
    assert differing(shapes(path), PUBLISHED) == []


@pytest.mark.nightly
@pytest.mark.parametrize("path", CORPUS[1:], ids=lambda path: path.stem)
def test_answers_of_all_strangers_are_judged_alike(path: Path) -> None:
    assert differing(shapes(path), PUBLISHED) == []


ODD: tuple[Any, ...] = (
    None, 1, 1.0, 1.5, -0.0, True, "", "x", "\ud800", [], {}, 10**40, -(10**400), -1, 1e300, 300, [None], {"type": "x"},
)  # fmt: skip


def changed(value: Any, chance: random.Random) -> Any:
    """A value with one thing changed somewhere in it."""
    if isinstance(value, dict | list) and value and chance.random() < 0.8:
        new = copy.copy(value)
        place = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
        new[place] = changed(value[place], chance)
        return new
    if isinstance(value, dict):
        left = dict(list(value.items())[chance.randrange(2) :])
        return chance.choice(
            [left, {**left, chance.choice(["x-of-ours", "unknown", "a/b~c", "\ud800"]): chance.choice(ODD)}]
        )
    if isinstance(value, list):
        return [*value, chance.choice([*value, *ODD])]
    if isinstance(value, int) and abs(value) < 1e300 and chance.random() < 0.5:
        return float(value)
    return chance.choice(ODD)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", PUBLISHED)
def test_answers_of_strangers_with_anything_changed_are_judged_alike(name: str) -> None:
    chance = random.Random(name)  # noqa: S311 (of no secret)
    values = sorted((CHUNK, RESPONSE, *shapes(CORPUS[0])), key=lambda one: len(errors(name, one)))[:50]
    for _ in range(4):
        values += [changed(one, chance) for one in values[-200:]]
    assert differing(values, [name]) == []


def test_a_number_that_is_whole_is_judged_alike_wherever_it_stands() -> None:
    counts = RESPONSE["usage"]
    with_floats = [{**RESPONSE, name: number} for name in RESPONSE for number in WHOLE_FLOATS]
    with_floats += [{**RESPONSE, "usage": {**counts, name: number}} for name in counts for number in WHOLE_FLOATS]
    assert differing((RESPONSE, *with_floats), ["openai/response"]) == []
    # It is right where a number is, and wrong where an integer is.
    assert faults("response", {**RESPONSE, "temperature": 2.0}) == []
    assert [one.sentence for one in faults("response", {**RESPONSE, "usage": {**counts, "total_tokens": 18.0}})] == [
        "/usage/total_tokens: is 18.0, should be integer"
    ]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [({"created": 1.0}, "/created: is 1.0, should be integer"), ({"x-of-ours": 1}, None), ({}, None)],
)
def test_what_is_stricter_and_more_lenient_than_the_standard(change: dict[str, Any], sentence: str | None) -> None:
    assert errors("chat.completion.chunk", {**CHUNK, **change}) == ([sentence] if sentence else [])


def test_what_stands_in_another_document_is_judged_as_strictly_and_as_leniently() -> None:
    response = {**RESPONSE, "x-of-ours": 1, "usage": {**RESPONSE["usage"], "total_tokens": 18.0}}
    event = {"type": "response.completed", "sequence_number": 0, "response": response}
    assert errors("response.stream", event) == ["/response/usage/total_tokens: is 18.0, should be integer"]


# What readers take is nested 127 deep at most; what validates refuses more than 255, and Python 3.11 writes some 900.
@pytest.mark.parametrize("depth", [100, 254, 255, 256, 500])
def test_lists_nested_by_the_hundred_are_judged(depth: int) -> None:
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    assert errors("error", nested) == [f"the body: is {'[' * 60}…, should be object"]
    tool = {"type": "function", "function": {"name": "f", "parameters": {"anything": nested}}}
    assert errors("chat.request", {"model": "m", "messages": [{"role": "user", "content": ""}], "tools": [tool]}) == []


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_none_in_json_are_numbers_here(number: str) -> None:
    assert errors("response", {**RESPONSE, "top_p": json.loads(number), "user": 1}) == [
        "/user: is 1, should be string or null"
    ]
    (first, *_) = errors("chat.completion.chunk", {**CHUNK, "created": json.loads(number)})
    assert first == f"/created: is {number}, should be integer"


def test_what_is_no_number_is_neither_too_small_nor_too_large() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": ""}], "max_tokens": float("nan")}
    assert errors("chat.request", body) == ["/max_tokens: is NaN, should be integer or null"]


def test_half_a_character_is_shown_as_it_came() -> None:
    assert errors("chat.completion.chunk", {**CHUNK, "object": "\ud800", "\udfff": 1}) == [
        "the body: \udfff is not among the published fields",
        '/object: is "\ud800", should be "chat.completion.chunk"',
    ]


CARRIED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1},
        "size": {"type": ["integer", "null"]},
        "share": {"type": ["integer", "number"]},
        "named": {"$ref": "#/$defs/named", "type": "object"},
        "by_anchor": {"$ref": "#name"},
        "inside": {"$ref": "inner"},
        "const": {"const": {"type": "integer"}},
        "type": {"type": "integer"},
    },
    "required": ["count"],
    "additionalProperties": False,
    "$defs": {
        "named": {"$anchor": "name", "required": ["name"]},
        "inner": {"$id": "inner", "properties": {"id": {"$ref": "#/$defs/id"}}, "$defs": {"id": {"type": "integer"}}},
    },
}


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ({"count": 1, "size": None, "share": 1.0, "named": {"name": 1}, "inside": {"id": 1}}, []),
        ({"count": 1, "const": {"type": "integer"}, "type": 2}, []),
        ({"count": 1.0}, ["/count: is 1.0, should be integer"]),
        ({"count": 0.0}, ["/count: is 0.0, should be integer", "/count: is 0.0, should be at least 1"]),
        ({"count": 1, "size": 1e300}, ["/size: is 1e+300, should be integer or null"]),
        ({"x-of-ours": 1}, ["the body: count is missing", "the body: x-of-ours is not among the published fields"]),
        ({"count": 1, "named": 1}, ["/named: is 1, should be object"]),
        ({"count": 1, "by_anchor": {}, "named": {}}, ["/named: name is missing", "/by_anchor: name is missing"]),
        ({"count": 1, "inside": {"id": 2.0}}, ["/inside/id: is 2.0, should be integer"]),
        ({"count": 1, "type": "2"}, ['/type: is "2", should be integer']),
    ],
)
def test_a_schema_that_a_request_carried_is_held_against_a_value(value: Any, wrong: list[str]) -> None:
    assert misfits(CARRIED, value) == wrong


def test_a_schema_that_is_elsewhere_is_not_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        there = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        for carried in ({"$ref": there}, {"properties": {"a": {"$ref": there}}}, {"$id": there, "$ref": "other.json"}):
            with pytest.raises(ValueError, match="not present in a registry"):
                misfits(carried, {"a": 1})
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("carried", [{"type": "nonsense"}, {"required": "a"}, {"pattern": "("}, {"$ref": "#/none"}])
def test_what_is_no_schema_is_refused(carried: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"is not|does not exist"):
        misfits(carried, {})


def test_a_name_that_is_none_is_refused_by_either() -> None:
    with pytest.raises(schemas.UnknownSchemaError, match="no schema 'openai/none'"):
        faults("none", {})
