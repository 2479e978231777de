from __future__ import annotations

import pytest

from wireproof_scripts.files.text import Places

TEXT = """\
scripts:
  - name: one
    parts:
      - - say: a
        - call:
            id: c
  - {name: two, parts: [[hang]]}
"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("", 1),
        ("scripts", 2),
        ("scripts[0].name", 2),
        ("scripts[0].parts[0][0]", 4),
        ("scripts[0].parts[0][0].say", 4),
        ("scripts[0].parts[0][0].say.pieces", 4),
        ("scripts[0].parts[0][1].call.id", 6),
        ("scripts[0].parts[0][1].call.name", 6),
        ("scripts[0].parts[0][9]", 4),
        ("scripts[1].parts[0][0]", 7),
    ],
)
def test_a_place_is_found_on_its_line_or_on_that_of_what_is_there(place: str, line: int) -> None:
    found = Places(TEXT).of(place)
    assert found is not None
    assert found[0] == line


@pytest.mark.parametrize("text", ["", "[", "[" * 5000])
def test_in_a_text_that_says_nothing_there_is_no_line(text: str) -> None:
    assert Places(text).of("scripts[0]") is None
