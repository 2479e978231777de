from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wireproof.judging.known_failing import KnownFailingError, apply, load
from wireproof.model.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from pathlib import Path

KEY = "text-hello:chat.stream.text"
OTHER = "text-hello:chat.stream.frames"


def outcome(verdict: Verdict) -> Outcome:
    return Outcome(scenario="text-hello", requirement="chat.stream.text", verdict=verdict)


def test_lines_are_keys_with_reasons_and_the_rest_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "known.txt"
    path.write_text(f"# ours\n\n  # theirs\n{KEY} buffers,  see #12 \n\t{OTHER}\t\tpretty-printed\n")
    assert load(path, {KEY, OTHER}) == {KEY: "buffers,  see #12", OTHER: "pretty-printed"}


def test_a_file_may_be_as_editors_on_windows_write_it(tmp_path: Path) -> None:
    path = tmp_path / "known.txt"
    path.write_bytes(f"\ufeff{KEY} buffers\r\n".encode())
    assert load(path, {KEY}) == {KEY: "buffers"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "\ntext-hello:chat.stream.txt it is so",
            f"'text-hello:chat.stream.txt' is no <scenario>:<requirement> of this suite; did you mean {KEY}?",
        ),
        ("x" * 5000, f"line 1: '{'x' * 200}' is no <scenario>:<requirement>"),
        (f"{KEY}", f"line 1: {KEY} needs a reason behind it"),
        (f"{KEY}   ", f"line 1: {KEY} needs a reason behind it"),
        (f"{KEY} buffers\n{KEY} does not", f"line 2: an earlier line declares {KEY} already"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "known.txt"
    path.write_text(text)
    with pytest.raises(KnownFailingError) as raised:
        load(path, {KEY})
    assert said in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(KnownFailingError, match=r"none\.txt cannot be read"):
        load(tmp_path / "none.txt", set())
    (tmp_path / "latin.txt").write_bytes(b"\xff")
    with pytest.raises(KnownFailingError, match=r"latin\.txt cannot be read"):
        load(tmp_path / "latin.txt", set())


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.WARN])
def test_a_known_failure_keeps_its_verdict_and_is_marked(verdict: Verdict) -> None:
    (marked,) = apply([outcome(verdict)], {KEY: "buffers"})
    assert (marked.verdict, marked.known) == (verdict, "buffers")


def test_a_known_failure_that_passes_is_a_failure() -> None:
    (marked,) = apply([outcome(Verdict.PASS)], {KEY: "buffers"})
    assert (marked.verdict, marked.known) == (Verdict.FAIL, "")
    assert marked.reason == "it passes, but is declared as known failing (buffers); remove its line"


@pytest.mark.parametrize("verdict", [Verdict.NOT_OBSERVED, Verdict.ERROR, Verdict.NOT_APPLICABLE])
def test_what_was_not_seen_is_no_known_failure(verdict: Verdict) -> None:
    assert apply([outcome(verdict)], {KEY: "buffers"}) == (outcome(verdict),)


@pytest.mark.parametrize("verdict", Verdict)
def test_what_is_not_declared_stays_as_it_is(verdict: Verdict) -> None:
    assert apply([outcome(verdict)], {OTHER: "buffers"}) == (outcome(verdict),)
