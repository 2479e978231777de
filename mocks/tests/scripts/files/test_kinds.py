from __future__ import annotations

from assay_scripts.files.kinds import KINDS
from assay_scripts.steps import Call, Raw, Surrogates


def test_a_kind_reads_what_may_stand_there_and_nothing_else() -> None:
    sizes = KINDS[Call]["pieces"], KINDS[Surrogates]["apart"], KINDS[Raw]["text"]
    assert [kind.read(value) for kind, value in zip(sizes, ("ab", False, "\udcff"), strict=True)] == [
        ("ab",),
        False,
        "\udcff",
    ]
    assert [kind.read(5) for kind in sizes] == [None, None, None]


def test_a_choice_of_words_lists_them() -> None:
    shape = KINDS[Call]["shape"]
    assert shape.read("native") == "native"
    assert shape.read("natif") is None
    assert shape.words == f"one of {', '.join(shape.choices)}"
