from __future__ import annotations

import json

from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Say


def _said(name: str) -> tuple[str, ...]:
    return tuple(
        piece
        for step in LIBRARY[name].parts[0]
        if isinstance(step, Say)
        for _ in range(step.times)
        for piece in step.pieces
    )


def test_the_long_text_is_640_deltas_and_more_than_64_kib() -> None:
    assert len(_said("text/long")) == 640
    assert len("".join(_said("text/long")).encode()) > 64 * 1024


def test_the_text_of_many_scripts_has_every_kind_of_character() -> None:
    text = "".join(_said("text/utf8"))
    assert {len(char.encode()) for char in text} == {1, 2, 3, 4}
    assert all(char in text for char in "\u200d\u2028\u202e\u0301\u05e9\ufeff")
    assert any(piece[0] in "\u200d\u0301" for piece in _said("text/utf8"))


def test_the_markup_has_what_a_writer_of_streams_must_escape() -> None:
    text = "".join(_said("text/markup"))
    assert all(part in text for part in ("data: [DONE]\n\n", "\r\n", "\\", "</use_tool", "\x01", "&amp;", "```"))
    assert "\0" not in text
    assert json.loads(json.dumps(text)) == text
