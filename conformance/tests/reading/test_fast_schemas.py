"""The fast way to find a value valid never differs from the slow one, which says what is wrong."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.reading import schemas
from wireproof.reading.schemas import faults, validator
from wireproof.results import archive
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.gz"))
NAMES = ("chat.completion.chunk", "chat.completion", "error", "response", "response.stream", "model.list")
CHUNK: dict[str, Any] = {
    "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
    "choices": [{"index": 0, "delta": {"role": "assistant", "content": "x"}, "finish_reason": None}],
}  # fmt: skip


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


def differing(values: tuple[Any, ...], names: tuple[str, ...] = NAMES) -> list[tuple[str, Any]]:
    """Where the fast way finds a value valid and the slow one does not, or both say something else in the end."""
    return [
        (name, value)
        for value in values
        for name in names
        if (not faults(name, value)) is not validator(name).is_valid(value)
    ]


@pytest.mark.parametrize("path", CORPUS[:1], ids=lambda path: path.stem)
def test_answers_of_strangers_are_judged_alike(path: Path) -> None:
    assert shapes(path)
    assert differing(shapes(path)) == []


@pytest.mark.nightly
@pytest.mark.parametrize("path", CORPUS[1:], ids=lambda path: path.stem)
def test_answers_of_all_strangers_are_judged_alike(path: Path) -> None:
    assert differing(shapes(path)) == []


def mutated(value: Any) -> Iterator[Any]:
    """A value with one thing changed in it, each thing once for each way to change it."""
    yield from (None, 1, 1.0, 1.5, -0.0, True, "", "x", "\ud800", [], {}, 10**40, -1)
    if isinstance(value, dict):
        yield {**value, "x-of-ours": 1}
        yield {**value, "unknown": 1}
        for name in value:
            yield {other: value[other] for other in value if other != name}
            yield from ({**value, name: one} for one in mutated(value[name]))
    if isinstance(value, list):
        yield from ([*value, one] for one in mutated(value[0]) if value)


def test_a_chunk_with_anything_changed_in_it_is_judged_alike() -> None:
    changed = tuple(mutated(CHUNK))
    assert len(changed) > 100
    assert differing(changed, ("chat.completion.chunk",)) == []


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


def test_a_number_that_is_whole_is_judged_alike_wherever_it_stands() -> None:
    counts = RESPONSE["usage"]
    changed = [{**RESPONSE, name: number} for name in RESPONSE for number in WHOLE_FLOATS]
    changed += [{**RESPONSE, "usage": {**counts, name: number}} for name in counts for number in WHOLE_FLOATS]
    assert differing((RESPONSE, *changed), ("response",)) == []
    # It is right where a number is, and wrong where an integer is.
    assert faults("response", {**RESPONSE, "temperature": 2.0}) == []
    assert [one.sentence for one in faults("response", {**RESPONSE, "usage": {**counts, "total_tokens": 18.0}})] == [
        "/usage/total_tokens: is 18.0, should be integer"
    ]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [({"created": 1.0}, "/created: is 1.0, should be integer"), ({"x-of-ours": 1}, None), ({}, None)],
)
def test_what_only_the_slow_way_knows_is_left_to_it(change: dict[str, Any], sentence: str | None) -> None:
    found = [fault.sentence for fault in faults("chat.completion.chunk", {**CHUNK, **change})]
    assert found == ([sentence] if sentence else [])


def test_what_is_valid_costs_no_slow_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schemas, "validator", lambda _name: pytest.fail("the slow one was asked"))
    assert faults("chat.completion.chunk", CHUNK) == []
    assert faults("error", {"error": {"message": "m", "type": "t", "param": None, "code": None}}) == []
    assert faults("response", RESPONSE) == [], "1.0 is right where a number is"


def test_a_name_that_is_none_is_refused_by_either() -> None:
    with pytest.raises(schemas.UnknownSchemaError, match="no schema 'openai/none'"):
        faults("none", {})
