from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_scripts.markers import BrokenMarker, Marker, find_marker


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("[[wireproof:text/hello#n1]]", Marker("text/hello", "n1")),
        ("before [[wireproof:a.b-c_d/e#A_-9]] after", Marker("a.b-c_d/e", "A_-9")),
        ("[[wireproof:one#1]] and [[wireproof:two#2]]", Marker("two", "2")),
        ("[[wireproof:[[wireproof:inner#1]]", Marker("inner", "1")),
        (f"[[wireproof:a#{'n' * 64}]]", Marker("a", "n" * 64)),
        ("[[wireproof:broken]] [[wireproof:whole#1]]", Marker("whole", "1")),
        ("", None),
        ("[wireproof:a#1]", None),
        ("[[wireproof]]", None),
    ],
)
def test_the_last_whole_marker_in_a_text_counts(text: str, marker: Marker | None) -> None:
    assert find_marker(text) == marker


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "[[wireproof:none]]",
            (
                "[[wireproof:none]] has no nonce; write [[wireproof:none#1]], with letters and digits of your own after"
                " the #."
            ),
        ),
        (
            "[[wireproof:empty#]]",
            (
                "[[wireproof:empty#]] has no nonce; write [[wireproof:empty#1]], with letters and digits of your own"
                " after the #."
            ),
        ),
        (
            "[[wireproof:a b#1]]",
            (
                "[[wireproof:a b#1]] names no script (letters, digits and . _ / - only); write"
                " [[wireproof:<script>#<nonce>]]."
            ),
        ),
        (
            "[[wireproof:a#1 2]]",
            "[[wireproof:a#1 2]] has a wrong nonce (1 to 64 letters, digits, _ and - only); write [[wireproof:a#1]].",
        ),
        (
            f"[[wireproof:a#{'n' * 99}]]",
            (
                f"[[wireproof:a#{'n' * 86}… has a wrong nonce (1 to 64 letters, digits, _ and - only); write"
                f" [[wireproof:a#1]]."
            ),
        ),
        ("[[wireproof:whole#1]] [[wireproof:a#2] x", "[[wireproof:a#2 is not closed; write [[wireproof:a#1]]."),
        ("[[wireproof:", "[[wireproof: is not closed; write [[wireproof:<script>#<nonce>]]."),
    ],
)
def test_a_marker_that_is_written_wrong_is_reported_with_what_would_be_right(text: str, problem: str) -> None:
    assert find_marker(text) == BrokenMarker(f"The marker {problem}")


NAMES = st.text("abcXYZ019._/-", min_size=1)
NONCES = st.text("abcXYZ019_-", min_size=1, max_size=64)


@given(NAMES, NONCES, st.text(), st.text(alphabet="ab[]:# \n"))
def test_a_marker_is_found_as_it_was_written(script: str, nonce: str, before: str, after: str) -> None:
    marker = Marker(script, nonce)
    assert find_marker(f"{before}{marker}{after}") == marker
