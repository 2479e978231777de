"""The fast way to find a value valid never differs from the slow one, which says what is wrong."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.reading import schemas
from assay.reading.schemas import faults, validator
from assay.results import archive
from assay.scenarios import SCENARIOS
from assay.scenarios.live import LIVE

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


def test_a_name_that_is_none_is_refused_by_either() -> None:
    with pytest.raises(schemas.UnknownSchemaError, match="no schema 'openai/none'"):
        faults("none", {})
