from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_mocks.marker import Marker, find_marker


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("[[assay:text/hello#n1]]", Marker("text/hello", "n1")),
        ("before [[assay:a.b-c_d/e#A_-9]] after", Marker("a.b-c_d/e", "A_-9")),
        ("[[assay:one#1]] and [[assay:two#2]]", Marker("two", "2")),
        ("[[assay:[[assay:inner#1]]", Marker("inner", "1")),
        (f"[[assay:a#{'n' * 64}]]", Marker("a", "n" * 64)),
        ("", None),
        ("[[assay:no-nonce]]", None),
        ("[[assay:empty#]]", None),
        ("[[assay:a b#1]]", None),
        (f"[[assay:a#{'n' * 65}]]", None),
        ("[assay:a#1]", None),
    ],
)
def test_the_last_whole_marker_in_a_text_counts(text: str, marker: Marker | None) -> None:
    assert find_marker(text) == marker


NAMES = st.text("abcXYZ019._/-", min_size=1)
NONCES = st.text("abcXYZ019_-", min_size=1, max_size=64)


@given(NAMES, NONCES, st.text(), st.text(alphabet="ab[]:# \n"))
def test_a_marker_is_found_as_it_was_written(script: str, nonce: str, before: str, after: str) -> None:
    marker = Marker(script, nonce)
    assert find_marker(f"{before}{marker}{after}") == marker
