from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay_proxy.backends.codex.repeats import RepeatFilter

PIECES = st.lists(st.text(max_size=4), max_size=8)


@given(told=PIECES, more=st.text(max_size=4), cut=st.integers(1, 5), broken=st.integers(0, 8))
def test_a_message_that_comes_again_in_any_pieces_is_told_once(
    told: list[str], more: str, cut: int, broken: int
) -> None:
    retold, text = RepeatFilter(), "".join(told)
    heard = [retold.new(piece) for piece in told]
    retold.begin_again()
    heard += [retold.new(piece) for piece in text[:broken]]
    retold.begin_again()
    whole = text + more
    heard += [retold.new(whole[at : at + cut]) for at in range(0, len(whole), cut)]
    assert "".join(piece or "" for piece in heard) == whole
    assert None not in heard
    assert not retold.repeats


@given(told=st.text(min_size=1), other=st.text(min_size=1))
def test_another_message_of_that_length_is_noticed(told: str, other: str) -> None:
    retold = RepeatFilter()
    retold.new(told)
    retold.begin_again()
    new = retold.new(other)
    assert (new is None) == (len(other) >= len(told) and not other.startswith(told))
    assert retold.repeats == (len(other) < len(told))


def test_a_message_that_is_complete_does_not_come_again() -> None:
    retold = RepeatFilter()
    assert retold.new("a") == "a"
    retold.end()
    retold.begin_again()
    assert retold.new("\ud800") == "\ud800"
