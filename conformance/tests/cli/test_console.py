from __future__ import annotations

import json
import os
import pty
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wireproof.results.certificate import ExitStatus
from wireproof.targets.launch import executable

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.sampled(3)

ESCAPE = "\x1b"
CURSOR = "\x1b[?25l"
"""What hides the cursor, as a bar does that is drawn again and again."""
COLOURED = "\x1b[1m"
"""Bold letters, which every report has."""
CERTIFY = ("certify", "--only", "text-hello")
FULL = Path("/dev/full")
EXPLAIN = ("explain", "chat.stream.role-once")


def environment(**variables: str) -> dict[str, str]:
    ours = {"NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE"}
    return {name: value for name, value in os.environ.items() if name not in ours} | {"TERM": "xterm"} | variables


def on_terminal(words: tuple[str, ...], variables: Mapping[str, str]) -> str:
    """What the real command writes to a terminal, on stdout and stderr."""
    ours, its = pty.openpty()
    said: list[bytes] = []

    def read() -> None:
        try:
            while piece := os.read(ours, 65536):
                said.append(piece)
        except OSError:  # how a terminal ends on Linux
            pass

    reader = threading.Thread(target=read)
    reader.start()
    try:
        done = subprocess.run(
            [executable("wireproof"), *words],
            env=environment(**variables),
            stdin=its,
            stdout=its,
            stderr=its,
            check=False,
        )
    finally:
        os.close(its)
        reader.join()
        os.close(ours)
    assert done.returncode == 0
    return b"".join(said).decode()


def piped(words: tuple[str, ...], **variables: str) -> tuple[str, str]:
    """What it writes to pipes: stdout and stderr."""
    done = subprocess.run(
        [executable("wireproof"), *words],
        env=environment(**variables),
        capture_output=True,
        encoding=variables.get("PYTHONIOENCODING", "utf-8").replace("ascii", "utf-8"),  # as click takes it
        check=True,
    )
    return done.stdout, done.stderr


def test_a_terminal_has_colours_and_a_bar() -> None:
    said = on_terminal(CERTIFY, {})
    assert CURSOR in said
    assert COLOURED in said
    assert "driving" in said


@pytest.mark.each("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("words", [CERTIFY, EXPLAIN, ("list",), ("scripts", "schema")], ids=" ".join)
def test_an_output_that_lacks_characters_gets_their_numbers(words: tuple[str, ...], encoding: str) -> None:
    said, errors = piped(words, PYTHONIOENCODING=encoding)
    assert said
    assert "Error" not in errors


def test_what_cannot_be_written_is_still_to_be_read() -> None:
    said, _ = piped(("scripts", "schema"), PYTHONIOENCODING="latin-1")
    assert "\\u2026" in said
    assert json.loads(said) == json.loads(piped(("scripts", "schema"), PYTHONIOENCODING="utf-8")[0])


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a file that is always full")
@pytest.mark.parametrize("words", [CERTIFY, EXPLAIN, ("scripts", "schema"), ("--help",)], ids=" ".join)
def test_an_output_that_is_full_is_one_line(words: tuple[str, ...]) -> None:
    with FULL.open("wb") as full:
        done = subprocess.run(
            [executable("wireproof"), *words], env=environment(), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.stderr == b"wireproof: stdout cannot be written: No space left on device\n"
    assert done.returncode == ExitStatus.USAGE


def test_without_colours_nothing_of_a_run_is_an_escape_sequence() -> None:
    said = on_terminal(CERTIFY, {"NO_COLOR": "1"})
    assert ESCAPE not in said
    assert "broken" in said


@pytest.mark.parametrize(
    "plain", [{"NO_COLOR": "1"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, {"TERM": "dumb"}], ids=" ".join
)
def test_what_is_plain_has_the_words_of_what_is_coloured(plain: Mapping[str, str]) -> None:
    said = on_terminal(EXPLAIN, plain)
    assert ESCAPE not in said
    assert "A choice sends its role only once." in said


def test_no_color_without_a_value_means_nothing() -> None:
    assert COLOURED in on_terminal(EXPLAIN, {"NO_COLOR": ""})


def test_what_is_piped_is_plain_unless_it_is_forced() -> None:
    assert ESCAPE not in "".join(piped(EXPLAIN))
    assert COLOURED in piped(EXPLAIN, FORCE_COLOR="1")[0]
    assert ESCAPE not in "".join(piped(EXPLAIN, FORCE_COLOR="1", NO_COLOR="1"))


@pytest.mark.nightly
def test_what_is_piped_has_no_bar_even_if_colours_are_forced() -> None:
    out, err = piped(CERTIFY, FORCE_COLOR="1")
    assert COLOURED in out
    assert CURSOR not in out + err
