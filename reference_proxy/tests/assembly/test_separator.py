from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_surfaces.assembly.separator import Separator
from wireproof_surfaces.tools.use_tool import TextCall

BLOCK = "<use_tool>\n  <name>f</name>\n  <q>a < b</q>\n</use_tool>"
CALL = TextCall(name="f", arguments='{"q":"a < b"}', block=BLOCK)
SENTINEL = '<tool_call>{"id":"c","name":"f","arguments":"{\\"a\\": 1}"}</tool_call>'
TEXT_CALL = TextCall(id="c", name="f", arguments='{"a": 1}')


def parts(*pieces: str) -> list[Any]:
    """What comes out, neighbouring texts joined."""
    separator = Separator()
    found: list[Any] = []
    for part in [*(part for piece in pieces for part in separator.feed(piece)), separator.end()]:
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        elif part:
            found.append(part)
    return found


CASES: list[tuple[str, list[Any]]] = [
    ("", []),
    ("plain < text > <b>", ["plain < text > <b>"]),
    (BLOCK, [CALL]),
    (f"before {BLOCK} after", ["before ", CALL, " after"]),
    (f"{BLOCK}{BLOCK}", [CALL, CALL]),
    (f"a < b <use <use_tools <{BLOCK}", ["a < b <use <use_tools <", CALL]),
    ("<use_tool>never closed", ["<use_tool>never closed"]),
    ("an end that may begin <use_to", ["an end that may begin <use_to"]),
    ("<use_tool>no name</use_tool> x", ["<use_tool>no name</use_tool> x"]),
    (f"```\n{BLOCK}\n```", ["```\n", CALL, "\n```"]),
    (SENTINEL, [TEXT_CALL]),
    (f"text\n{SENTINEL}\nmore", ["text\n", TEXT_CALL, "\nmore"]),
    (f"text {SENTINEL}", [f"text {SENTINEL}"]),
    (f"```\n{SENTINEL}\n```\n", [f"```\n{SENTINEL}\n```\n"]),
    (f"```\n```\n{SENTINEL}", ["```\n```\n", TEXT_CALL]),
    (f"{SENTINEL}\n{SENTINEL}", [TEXT_CALL, "\n", TEXT_CALL]),
    (f"{SENTINEL}{SENTINEL}", [TEXT_CALL, TEXT_CALL]),
    ("<tool_call>words</tool_call>", ["<tool_call>words</tool_call>"]),
    ('<tool_call>{"name":"f"}</tool_call> x', ['<tool_call>{"name":"f"}</tool_call> x']),
    ("<tool_call> {", ["<tool_call> {"]),
    (f'<tool_call>{{"id":"line\n{SENTINEL}', ['<tool_call>{"id":"line\n', TEXT_CALL]),
    (f"<tool_call>no\n{BLOCK}", ["<tool_call>no\n", CALL]),
    (
        '<tool_call>{"id":"c","name":"f","arguments":"say </tool_call> \\" \\\\"}</tool_call>',
        [TextCall(id="c", name="f", arguments='say </tool_call> " \\')],
    ),
    ('<tool_call>{"id":"</tool_call> and on', ['<tool_call>{"id":"</tool_call> and on']),
    ('<tool_call>{"id":"\\', ['<tool_call>{"id":"\\']),
    ('<tool_call>\n{"id":"c","name":"f"}\n</tool_call>', [TextCall(id="c", name="f", arguments="{}")]),
]


@pytest.mark.each(("text", "expected"), CASES)
@pytest.mark.each("size", [1, 2, 3, 7, 1000])
def test_calls_are_found_in_any_cut(text: str, expected: list[Any], size: int) -> None:
    assert parts(*(text[at : at + size] for at in range(0, len(text), size))) == expected


@pytest.mark.each(("text", "expected"), CASES)
def test_calls_are_found_at_every_single_cut(text: str, expected: list[Any]) -> None:
    for at in range(len(text)):
        assert parts(text[:at], text[at:]) == expected


@pytest.mark.parametrize(
    ("pieces", "passed"),
    [
        (["text <"], ["text "]),
        (["text <", "b"], ["text ", "<b"]),
        (["<use_tool", "s"], ["<use_tools"]),
        (["a <tool_"], ["a <tool_"]),
        (["a\n<tool_"], ["a\n"]),
        (["<tool_call>", " x"], ["<tool_call> ", "x"]),
        (["<use_tool>", "text"], []),
    ],
)
def test_text_waits_no_longer_than_an_opening_may_need(pieces: list[str], passed: list[str]) -> None:
    separator = Separator()
    assert [part for piece in pieces for part in separator.feed(piece)] == passed


TEXTS = st.lists(
    st.sampled_from(
        [
            BLOCK,
            SENTINEL,
            "<",
            "use_tool>",
            "</use_tool>",
            "<tool_call>",
            "</tool_call>",
            "{",
            '"',
            "\\",
            "\n",
            "```",
            "x",
        ]
    ),
    max_size=10,
).map("".join)


@given(TEXTS, st.lists(st.integers(0, 200), max_size=12))
def test_no_cut_changes_what_is_found_and_nothing_is_lost(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    found = parts(*(text[a:b] for a, b in pairwise(places)))
    assert found == parts(text)
    assert "".join(part if isinstance(part, str) else part.block or SENTINEL for part in found) == text


OPENINGS = ("<use_tool>", "<tool_call>")


def opening(text: str, at: int) -> str:
    """The opening that may begin at a place, as far as it goes; empty when none may."""
    fresh = at == 0 or text[at - 1] == "\n"
    sent = OPENINGS if fresh else OPENINGS[:1]
    return next((one for one in sent if text.startswith(one, at) or one.startswith(text[at:])), "")


@given(st.text(alphabet="<use_tolca>l\n x", max_size=40), st.lists(st.integers(0, 40), max_size=12))
def test_what_waits_begins_as_an_opening_does(text: str, cuts: list[int]) -> None:
    separator, said = Separator(), 0
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for start, end in pairwise(places):
        said += sum(len(part) for part in separator.feed(text[start:end]) if isinstance(part, str))
        assert said == end or opening(text[:end], said)


@pytest.mark.parametrize("text", ["<use_tool>", '<tool_call>{"', "plain <use_tool", ""])
def test_time_is_linear_in_single_characters(text: str) -> None:
    separator = Separator()
    list(separator.feed(text))
    # The processor's time, which a busy machine does not stretch.
    before = time.process_time()
    for _ in range(200_000):
        list(separator.feed("x"))
    assert time.process_time() - before < 10
