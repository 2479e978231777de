from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.wire.textual import CANONICAL, TextualCall, read_block, split, write_block


def block(*children: str, name: str = "f") -> str:
    return "\n".join(["<use_tool>", f"  <name>{name}</name>", *(f"  {child}" for child in children), "</use_tool>"])


@pytest.mark.parametrize(
    ("arguments", "children"),
    [
        ("{}", ()),
        ('{"q": "a"}', ("<q>a</q>",)),
        ('{"q": ""}', ("<q></q>",)),
        ('{"q": null}', ("<q></q>",)),
        ('{"q": true, "r": false}', ("<q>true</q>", "<r>false</r>")),
        ('{"n": 1.50, "e": -1.50e3}', ("<n>1.50</n>", "<e>-1.50e3</e>")),
        ('{"big": 10000000000000000001}', ("<big>10000000000000000001</big>",)),
        ('{"l": [1, "two", null, 1.0]}', ('<l>[1,"two",null,1.0]</l>',)),
        ('{"o": {"k" : {"d": []}}}', ('<o>{"k":{"d":[]}}</o>',)),
        ('{"q": "a & b <c> \\"d\\" \'e\'"}', ("<q>a &amp; b &lt;c&gt; \"d\" 'e'</q>",)),
        ('{"q": "&amp;"}', ("<q>&amp;amp;</q>",)),
        ('{"l": ["<é>"]}', ('<l>["&lt;é&gt;"]</l>',)),
        ('{"b": 1, "a": 2}', ("<b>1</b>", "<a>2</a>")),
        ('{"two words": 1, "q": 2, "name": "x"}', ("<q>2</q>", '<args>{"two words":1,"name":"x"}</args>')),
        ("[1, 2]", ("<args>[1, 2]</args>",)),
        ('"text"', ('<args>"text"</args>',)),
        ("", ("<args></args>",)),
        ('{"q": <', ('<args>{"q": &lt;</args>',)),
    ],
)  # fmt: skip
def test_arguments_are_written_as_elements(arguments: str, children: tuple[str, ...]) -> None:
    assert write_block("f", arguments) == block(*children)


def test_a_name_is_escaped() -> None:
    assert write_block("a<b", "{}") == block(name="a&lt;b")


@pytest.mark.parametrize("name", CANONICAL)
def test_known_tools_have_their_keys_in_canonical_order_and_unknown_ones_behind(name: str) -> None:
    keys = [*CANONICAL[name], "own", "more"]
    written = write_block(name, json.dumps(dict.fromkeys(reversed(keys), "x")))
    block = read_block(written)
    assert block is not None
    assert list(block.arguments) == [*CANONICAL[name], "more", "own"]


def test_a_block_is_read_however_it_is_spaced() -> None:
    text = "<use_tool>\n\n\t<name> f </name>\n <q>odd &amp; spaced</q>  <l>[ 1 ,\n2 ]</l></use_tool>"
    read = read_block(text)
    assert read == TextualCall(block=text, name="f", written={"q": "odd &amp; spaced", "l": "[ 1 ,\n2 ]"})
    assert read.arguments == {"q": "odd & spaced", "l": "[ 1 ,\n2 ]"}


def test_a_block_without_a_name_says_no_call() -> None:
    assert read_block("<use_tool>\n  <q>a</q>\n</use_tool>") is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("no block", None),
        ("<use_tool> never closed", None),
        ("</use_tool> closed before <use_tool>", None),
        ("a<use_tool>b</use_tool>c", ("a", "<use_tool>b</use_tool>", "c")),
        ("<use_tool>1</use_tool><use_tool>2</use_tool>", ("", "<use_tool>1</use_tool>", "<use_tool>2</use_tool>")),
        ("<use_tools> <use_tool>1</use_tool>", ("<use_tools> ", "<use_tool>1</use_tool>", "")),
    ],
)
def test_a_text_is_split_around_its_first_complete_block(text: str, parts: tuple[str, str, str] | None) -> None:
    assert split(text) == parts


KEYS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,8}", fullmatch=True).filter(
    lambda key: key not in {"name", "args", "use_tool"}
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def text_of(value: Any) -> str:
    """How an element says a value."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@given(name=st.sampled_from(["f", *CANONICAL]), arguments=st.dictionaries(KEYS, JSON, max_size=5))
def test_reading_what_was_written_gives_the_call_back(name: str, arguments: dict[str, Any]) -> None:
    written = write_block(name, json.dumps(arguments))
    read = read_block(written)
    assert read is not None
    assert (read.block, read.name) == (written, name)
    assert read.arguments == {key: text_of(value) for key, value in arguments.items()}
    assert split(f"before {written} after") == ("before ", written, " after")


@given(arguments=st.text())
def test_a_block_is_written_whatever_the_arguments_are(arguments: str) -> None:
    written = write_block("f", arguments)
    block = read_block(written)
    assert block is not None
    assert block.name == "f"
    assert written.count("<use_tool>") == written.count("</use_tool>") == 1
