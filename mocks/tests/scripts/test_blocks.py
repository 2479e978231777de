from __future__ import annotations

import json

import pytest

from wireproof_scripts.calls.blocks import BLOCKS, cut, sentinel_block, use_tool_block
from wireproof_scripts.steps import Call


def _call(arguments: str, identity: str = "c1", name: str = "f") -> Call:
    return Call(id=identity, name=name, arguments=arguments)


def test_a_sentinel_holds_the_arguments_as_text() -> None:
    block = sentinel_block(_call('{"q": 1.50}'))
    assert block == '<tool_call>{"id": "c1", "name": "f", "arguments": "{\\"q\\": 1.50}"}</tool_call>'


def test_a_sentinel_without_an_id_says_none() -> None:
    inner = sentinel_block(_call("", identity="")).removeprefix("<tool_call>").removesuffix("</tool_call>")
    assert json.loads(inner) == {"name": "f", "arguments": ""}


@pytest.mark.parametrize(
    ("arguments", "children"),
    [
        ("{}", []),
        ('{"q": "a & b <c>", "n": 1.50, "no": null}', ["<q>a &amp; b &lt;c&gt;</q>", "<n>1.50</n>", "<no></no>"]),
        ('{"o": {"k": [1e3, "é", true]}}', ['<o>{"k":[1e3,"é",true]}</o>']),
        ("[1, 2]", ["<args>[1, 2]</args>"]),
        ('{"q": ', ['<args>{"q": </args>']),
        ("", ["<args></args>"]),
        ('{"two words": 1, "q": "x", "name": "n"}', ["<q>x</q>", '<args>{"two words":1,"name":"n"}</args>']),
    ],
)
def test_a_block_holds_the_arguments_as_elements(arguments: str, children: list[str]) -> None:
    lines = ["<use_tool>", "  <name>f</name>", *(f"  {child}" for child in children), "</use_tool>"]
    assert use_tool_block(_call(arguments)) == "\n".join(lines)


def test_pieces_are_those_of_their_own_text_alone() -> None:
    assert cut("abc", ("a", "bc")) == ("a", "bc")
    assert cut("abc", ()) == ("abc",)
    assert cut("abc", ("x",)) == ("abc",)
    assert set(BLOCKS) == {"sentinel", "use-tool"}
