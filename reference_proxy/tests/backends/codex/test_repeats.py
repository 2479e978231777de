from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wireproof_proxy.backends.codex.turn_decoder import RepeatFilter

PIECES = st.lists(st.text(max_size=4), max_size=8)


@given(sent=PIECES, more=st.text(max_size=4), cut=st.integers(1, 5), broken=st.integers(0, 8))
def test_a_message_that_comes_again_in_any_pieces_is_sent_once(
    sent: list[str], more: str, cut: int, broken: int
) -> None:
    filter_, text = RepeatFilter(), "".join(sent)
    received = [filter_.new(piece) for piece in sent]
    filter_.begin_again()
    received += [filter_.new(piece) for piece in text[:broken]]
    filter_.begin_again()
    whole = text + more
    received += [filter_.new(whole[at : at + cut]) for at in range(0, len(whole), cut)]
    assert "".join(piece or "" for piece in received) == whole
    assert None not in received
    assert not filter_.repeats


@given(sent=st.text(min_size=1), other=st.text(min_size=1))
def test_another_message_of_that_length_is_noticed(sent: str, other: str) -> None:
    filter_ = RepeatFilter()
    filter_.new(sent)
    filter_.begin_again()
    new = filter_.new(other)
    assert (new is None) == (len(other) >= len(sent) and not other.startswith(sent))
    assert filter_.repeats == (len(other) < len(sent))


def test_a_message_that_is_complete_does_not_come_again() -> None:
    filter_ = RepeatFilter()
    assert filter_.new("a") == "a"
    filter_.end()
    filter_.begin_again()
    assert filter_.new("\ud800") == "\ud800"
