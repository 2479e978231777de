"""Calls that came as text are named as such, and JSON or code that the user asked for is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wireproof.judging.among_exchanges import without_calls
from wireproof.judging.checks import CHECKS
from wireproof.judging.checks.written_calls import HINT, written_call

Make = Callable[..., Any]
TOOLS = ("localSearch", "readNote")
JSON = '{"name": "localSearch", "arguments": {"query": "x"}}'
WRITTEN = [
    f"<tool_call>{JSON}</tool_call>",
    f"Let me look.\n<tool_call>\n{JSON}\n</tool_call>",
    f"<|tool_call|>[{JSON}]",
    f"<\uff5ctool\u2581calls\u2581begin\uff5c>{JSON}",
    f"[TOOL_CALLS] [{JSON}]",
    f"```json\n{JSON}\n```",
    f"```tool_call\n{JSON}\n```",
    JSON,
    f"  [{JSON}]",
    '{"type": "function", "function": {"name": "readNote", "arguments": "{}"}}',
    '<function=localSearch>{"query": "x"}</function>',
    '<function_call>{"name": "localSearch"}</function_call>',
    '<invoke name="localSearch"><parameter name="query">x</parameter></invoke>',
    "<use_tool><name>localSearch</name></use_tool>",
    '<|python_tag|>localSearch.call(query="x")',
]
PLAIN = [
    "",
    "I would use localSearch for that.",
    '```json\n{"name": "Ada", "born": 1815}\n```',
    '```json\n{"tool": "localSearcher", "arguments": {}}\n```',
    '{"name": "localSearch"}',
    '{"query": "x", "arguments": 7}',
    f"Such a call reads {JSON}.",
    "[1, 2]",
    "[]",
    "{broken",
    "<tool_call> is a tag.",
    "```python\nlocalSearch()\n```",
]


@pytest.mark.each("text", WRITTEN)
def test_a_call_in_a_text_is_found(text: str) -> None:
    found = written_call(text, TOOLS)
    assert found
    assert text.endswith(found) or found in text


@pytest.mark.each("text", PLAIN)
def test_a_text_without_a_call_has_none(text: str) -> None:
    assert written_call(text, TOOLS) == ""


def test_only_the_beginning_of_a_call_is_shown() -> None:
    found = written_call(f"<tool_call>{JSON}{' ' * 500}</tool_call>", TOOLS)
    assert found.startswith("<tool_call>")
    assert len(found) == 80


def test_a_stream_whose_call_is_in_its_text_says_so(stream: Make) -> None:
    exchange = stream("call-one", f"<tool_call>{JSON}</tool_call>", {"finish": "stop"})
    (found,) = CHECKS.look("chat.stream.call-opening", exchange)
    assert found.seen.startswith('the backend called localSearch; the stream shows no call; it came as text: "<tool_c')
    assert found.hint == HINT


def test_a_whole_answer_whose_call_is_in_its_text_says_so(whole: Make) -> None:
    (found,) = CHECKS.look("chat.whole.calls-all-in-order", whole("call-one", f"```json\n{JSON}\n```"))
    assert "; the answer has nothing; it came as text: " in found.seen
    assert found.hint == HINT
    (silent,) = CHECKS.look("chat.whole.calls-all-in-order", whole("call-one", "I cannot search."))
    assert "as text" not in silent.seen


def test_where_no_call_ever_came_the_first_that_is_text_is_shown(whole: Make) -> None:
    names = ("call-one", "calls-burst", "calls-first")
    cases = without_calls([whole(name, f"<tool_call>{JSON}</tool_call>") for name in names])
    assert len(cases) == len(names)
    assert all('; it came as text: "<tool_call>' in case.seen for case in cases)
