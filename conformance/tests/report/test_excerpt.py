from __future__ import annotations

import pytest

from wireproof.report.excerpt import AROUND, LONGEST, excerpt
from wireproof.wire.violation import Place


def test_the_place_is_shown_between_what_stands_around_it() -> None:
    shown = excerpt(b"data: a\n\ndata: b\n\ndata: c\n\n", Place(offset=9, length=9, frame=1))
    assert (shown.before, shown.at, shown.after) == (r"data: a\n\n", r"data: b\n\n", r"data: c\n\n")
    assert shown.where == "byte 9, frame 1"


def test_a_place_without_a_frame_is_reported_by_its_byte() -> None:
    assert excerpt(b"abc", Place(offset=0, length=3)).where == "byte 0"


def test_the_end_of_a_body_is_a_place() -> None:
    shown = excerpt(b"data: a", Place(offset=7, length=0))
    assert (shown.before, shown.at, shown.after) == ("data: a", "", "")


def test_only_so_much_around_it_is_shown() -> None:
    shown = excerpt(b"b" * 200 + b"X" + b"a" * 200, Place(offset=200, length=1))
    assert (shown.before, shown.at, shown.after) == ("b" * AROUND, "X", "a" * AROUND)


@pytest.mark.parametrize(("more", "said"), [(0, ""), (1, " … 1 byte more"), (2, " … 2 bytes more")])
def test_a_long_place_is_cut_and_says_so(more: int, said: str) -> None:
    shown = excerpt(b"X" * (LONGEST + more) + b"after", Place(offset=0, length=LONGEST + more))
    assert shown.at == "X" * LONGEST + said
    assert shown.after == ("" if more else "after")


def test_bytes_that_are_no_utf8_and_control_characters_are_escaped() -> None:
    body = b"\xff\xfe \xe2\x82 caf\xc3\xa9\r\n\x00\x1b\xe2\x80\xa8\xf0\x9f\x98\x80"
    shown = excerpt(body, Place(offset=0, length=len(body)))
    assert shown.at == r"\xff\xfe \xe2\x82 café\r\n\x00\x1b\u2028😀"


@pytest.mark.parametrize("shift", range(4))
def test_a_window_never_tears_a_character_of_its_own(shift: int) -> None:
    around, place = "😀" * 40, b"x" * shift + "😀".encode() * 80
    body = around.encode() + place + around.encode()
    shown = excerpt(body, Place(offset=160, length=len(place)))
    assert set(shown.before) == {"😀"}
    assert set(shown.at.partition(" … ")[0]) <= {"x", "😀"}
    short = excerpt(body, Place(offset=160 + shift, length=4))
    assert set(short.before) <= {"x", "😀"}
    assert set(short.after) == {"😀"}


def test_bytes_that_begin_no_character_anywhere_are_cut_where_it_comes() -> None:
    shown = excerpt(b"\x80" * 300, Place(offset=100, length=1))
    assert (shown.before, shown.at, shown.after) == (r"\x80" * AROUND, r"\x80", r"\x80" * AROUND)
