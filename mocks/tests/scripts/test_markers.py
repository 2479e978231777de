from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_scripts.markers import BrokenMarker, Marker, find_marker


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("[[assay:text/hello#n1]]", Marker("text/hello", "n1")),
        ("before [[assay:a.b-c_d/e#A_-9]] after", Marker("a.b-c_d/e", "A_-9")),
        ("[[assay:one#1]] and [[assay:two#2]]", Marker("two", "2")),
        ("[[assay:[[assay:inner#1]]", Marker("inner", "1")),
        (f"[[assay:a#{'n' * 64}]]", Marker("a", "n" * 64)),
        ("[[assay:broken]] [[assay:whole#1]]", Marker("whole", "1")),
        ("", None),
        ("[assay:a#1]", None),
        ("[[assay]]", None),
    ],
)
def test_the_last_whole_marker_in_a_text_counts(text: str, marker: Marker | None) -> None:
    assert find_marker(text) == marker


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "[[assay:none]]",
            "[[assay:none]] has no nonce; write [[assay:none#1]], with letters and digits of your own after the #.",
        ),
        (
            "[[assay:empty#]]",
            "[[assay:empty#]] has no nonce; write [[assay:empty#1]], with letters and digits of your own after the #.",
        ),
        (
            "[[assay:a b#1]]",
            "[[assay:a b#1]] names no script (letters, digits and . _ / - only); write [[assay:<script>#<nonce>]].",
        ),
        (
            "[[assay:a#1 2]]",
            "[[assay:a#1 2]] has a wrong nonce (1 to 64 letters, digits, _ and - only); write [[assay:a#1]].",
        ),
        (
            f"[[assay:a#{'n' * 99}]]",
            f"[[assay:a#{'n' * 90}… has a wrong nonce (1 to 64 letters, digits, _ and - only); write [[assay:a#1]].",
        ),
        ("[[assay:whole#1]] [[assay:a#2] x", "[[assay:a#2 is not closed; write [[assay:a#1]]."),
        ("[[assay:", "[[assay: is not closed; write [[assay:<script>#<nonce>]]."),
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
