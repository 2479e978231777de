from __future__ import annotations

import pytest

from wireproof_codex.versions.marks import known, minor, unknown

MARKED = """
    always since+0.106 until-0.160
    on-failure-0.150 between+0.134-0.150
"""


@pytest.mark.parametrize(
    ("number", "names"),
    [
        ("0.89.0", ("always", "until", "on-failure")),
        ("0.106.3", ("always", "since", "until", "on-failure")),
        ("0.149.0", ("always", "since", "until", "on-failure", "between")),
        ("0.150.0", ("always", "since", "until")),
        ("0.169.0", ("always", "since")),
    ],
)
def test_a_version_has_the_names_that_came_and_have_not_gone(number: str, names: tuple[str, ...]) -> None:
    assert known(MARKED, number) == names
    assert unknown(MARKED, number) == {"always", "since", "until", "on-failure", "between"} - {*names}


def test_patches_of_a_version_are_alike() -> None:
    assert minor("0.142.5") == minor("0.142.0") == 142


def test_a_mark_that_cannot_be_read_is_sent() -> None:
    with pytest.raises(ValueError, match=r"a\+b: expected a name, then \+FIRST or -GONE or both"):
        known("a+b", "0.89.0")
