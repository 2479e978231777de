from __future__ import annotations

from typing import Any

import pytest

from wireproof_scripts import kinds
from wireproof_scripts.files.definitions import DEFINITIONS
from wireproof_scripts.kinds import FLAG, Kind, kind_of
from wireproof_scripts.steps.model import Shape, Shapes


def _kind(step: str, field: str) -> Kind[Any]:
    return DEFINITIONS[step].fields[field].kind


def test_a_kind_reads_what_may_be_written_and_nothing_else() -> None:
    read = [_kind("call", "pieces").read, _kind("surrogates", "apart").read, _kind("raw", "text").read]
    assert [one(value) for one, value in zip(read, ("ab", False, "\udcff"), strict=True)] == [("ab",), False, "\udcff"]
    assert [one(5) for one in read] == [None, None, None]


def test_a_choice_of_names_lists_them() -> None:
    shape = _kind("call", "shape")
    assert shape.read("native") == "native"
    assert shape.read("natif") is None
    assert shape.expected == f"one of {', '.join(shape.choices)}"


def test_an_annotation_stands_for_its_kind_with_and_without_none() -> None:
    assert kind_of(kinds.Count) is kind_of(kinds.Count | None)
    assert kind_of(kinds.Count).read(0) == 0
    assert kind_of(bool) is FLAG
    assert kind_of(Shape).choices[0] == "native"
    assert kind_of(Shapes).read("native") == ("native",)


@pytest.mark.parametrize("annotation", [int, str, tuple[str, ...], int | None, object()])
def test_an_annotation_that_stands_for_no_kind_is_refused(annotation: Any) -> None:
    with pytest.raises(TypeError, match=r"is not one of wireproof_scripts\.kinds"):
        kind_of(annotation)
