from __future__ import annotations

import pytest

from wireproof_codex.notifications.answer import Citations, without_citations

# The pieces of a text, and what 0.169.0 sent of them, the last what it held back.
CASES = [
    (("a <", "oa", "i-mem", " b", "c <oai"), ("a ", "", "", "<oai-mem b", "c ", "<oai")),
    (("a ", "<", "<", "oai", "é"), ("a ", "", "<", "", "<oaié", "")),
    (
        ("a <oai-mem-citation>", "<citation_entries>x", "</oai-mem", "-citation>", " end"),
        ("a ", "", "", "", " end", ""),
    ),
    (("x<oai-mem-citation>c</oai-mem-citation>y<oai-mem-citation>d</oai-mem-citation>z",), ("xyz", "")),
    (
        ("x", "<oai-mem-citation><oai-mem-citation>c</oai-mem-citation>y</oai-mem-citation>z"),
        ("x", "y</oai-mem-citation>z", ""),
    ),
    (("a<oai-mem-citation>x",), ("a", "")),
    (("<oai-mem-citation>x</oai-mem",), ("", "")),
]


@pytest.mark.parametrize(("pieces", "sent"), CASES)
def test_a_text_is_held_back_where_a_citation_may_begin(pieces: tuple[str, ...], sent: tuple[str, ...]) -> None:
    citations = Citations()
    assert (*map(citations.take, pieces), citations.rest()) == sent
    assert without_citations("".join(pieces)) == "".join(sent)


def test_other_text_comes_as_it_is() -> None:
    assert Citations().take("a < b </oai-mem-citation> c") == "a < b </oai-mem-citation> c"
