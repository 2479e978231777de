from __future__ import annotations

from wireproof_codex.notifications.answer import JoinedText


def test_pieces_are_put_together_and_so_are_halves_of_characters() -> None:
    said = JoinedText()
    for piece in ("Grü", "ße \ud83d", "\ude00", "!"):
        said.add(piece)
    assert said.whole == "Grüße 😀!"


def test_a_half_that_stays_alone_is_replaced() -> None:
    said = JoinedText()
    said.add("a\ud83d")
    assert said.whole == "a\ufffd"


def test_nothing_said_is_an_empty_text() -> None:
    assert JoinedText().whole == ""
