from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wireproof_surfaces.assembly.characters import Joiner, whole


def halves(text: str) -> str:
    """The text as UTF-16 code units, as JSON escapes would spell it."""
    data = text.encode("utf-16-le")
    return "".join(chr(int.from_bytes(data[at : at + 2], "little")) for at in range(0, len(data), 2))


@given(st.text(), st.lists(st.integers(0, 5)))
def test_a_text_is_whole_however_its_halves_were_cut(text: str, cuts: list[int]) -> None:
    joiner, units, said = Joiner(), halves(text), ""
    for cut in cuts:
        said += joiner.feed(units[:cut])
        units = units[cut:]
    said += joiner.feed(units) + joiner.end()
    assert said == text


def test_a_first_half_waits_for_its_second() -> None:
    joiner = Joiner()
    assert joiner.feed("a\ud83d") == "a"
    assert joiner.feed("\ude00b") == "😀b"
    assert joiner.end() == ""


def test_a_half_that_stays_alone_is_replaced() -> None:
    joiner = Joiner()
    assert joiner.feed("\ud83d") == ""
    assert joiner.feed("a") == "\ufffda"
    assert joiner.feed("\ud83d") == ""
    assert joiner.end() == "\ufffd"
    assert whole("\ude00") == "\ufffd"


def test_plain_text_passes_at_once() -> None:
    assert Joiner().feed("plain") == "plain"
