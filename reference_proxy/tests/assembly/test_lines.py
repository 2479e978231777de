from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_surfaces.assembly.separator import LinePosition


def fresh(text: str) -> bool:
    lines = LinePosition()
    lines.take(text)
    return lines.fresh


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("a", False),
        ("a\n", True),
        (" ", False),
        ("```\n", False),
        ("```python\ncode\n", False),
        ("```\ncode\n```\n", True),
        ("```\ncode\n``` not the end\n", False),
        ("````\n```\n", False),
        ("```\n~~~\n", False),
        ("~~~\n~~~~ \n", True),
        ("   ```\n", False),
        ("    ```\n", True),
        ("```inline``` code\n", True),
        ("~~~ `words`\n", False),
        ("x" * 100 + "```\n", True),
    ],
)
def test_only_the_start_of_a_line_outside_a_fence_is_fresh(text: str, expected: bool) -> None:  # noqa: FBT001 - a case
    assert fresh(text) is expected


@given(st.lists(st.sampled_from(["`", "``", "~~~", "\n", "a", " ", "```\n"])))
def test_the_pieces_of_a_text_do_not_matter(pieces: list[str]) -> None:
    lines = LinePosition()
    for piece in pieces:
        lines.take(piece)
    assert lines == _of("".join(pieces))


def _of(text: str) -> LinePosition:
    lines = LinePosition()
    lines.take(text)
    return lines
