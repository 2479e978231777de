"""What faults make of a stream, a request or a whole answer: samples before and after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wireproof_mocks.miniatures.agent_faults import USERS
from wireproof_mocks.miniatures.turn_faults import OWN_LIMIT

Json = dict[str, Any]
Sample = tuple[Any, ...] | Json
Made = Callable[[str, Sample], Sample]


def answer(message: Json) -> Json:
    return {"choices": [{"index": 0, "message": message}]}


def call(name: str, arguments: str, index: int = 0) -> Json:
    return {"index": index, "id": f"call_{index}", "function": {"name": name, "arguments": arguments}}


def chunk(*calls: Json) -> Json:
    return {"choices": [{"index": 0, "delta": {"tool_calls": list(calls)}, "finish_reason": None}]}


EXAMPLES: list[tuple[str, Sample, Sample]] = [
    ("own-name-for-a-folder", (chunk(call("list", "{}")),), (chunk(call("ls", "{}")),)),
    (
        "own-name-for-a-folder",
        answer({"tool_calls": [call("list", "{}"), call("read", "{}")]}),
        answer({"tool_calls": [call("ls", "{}"), call("read", "{}")]}),
    ),
    ("own-name-for-a-path", (chunk(call("read", '{"filePath": "a"}')),), (chunk(call("read", '{"path": "a"}')),)),
    ("closed-at-the-first-request", (chunk(call("a", "")), chunk(call("b", "", 1))), (chunk(call("a", "")),)),
    (
        "closed-at-the-first-request",
        answer({"tool_calls": [call("a", ""), call("b", "", 1)]}),
        answer({"tool_calls": [call("a", "")]}),
    ),
    ("over-where-tools-begin", answer({"content": "Done."}), answer({"content": ""})),
    (
        "any-file-is-read",
        answer({"content": '{"history": [{"output": "no"}, {"role": "user"}]}'}),
        answer({"content": f'{{"history": [{{"output": "{USERS}"}}, {{"role": "user"}}]}}'}),
    ),
    (
        "stream-has-one-choice-of-two",
        ({"choices": [{"index": 0}]}, {"choices": [{"index": 1}]}, {"choices": []}),
        ({"choices": [{"index": 0}]}, {"choices": []}),
    ),
    ("whole-one-choice-of-two", {"choices": [1, 2]}, {"choices": [1]}),
    ("no-choices-is-one", {"model": "codex", "n": 0}, {"model": "codex"}),
    ("one-id-for-all-responses", {"id": "resp_7", "output": []}, {"id": "resp_1", "output": []}),
    (
        "one-id-for-all-streamed-responses",
        ({"response": {"id": "resp_7"}},),
        ({"response": {"id": "resp_1"}, "sequence_number": 0},),
    ),
    ("silence-with-one-comment", (b": a\n\n", b": b\n\n", {}), (b": a\n\n", b"", {})),
    ("stop-not-passed-on", {"stop": ["."], "n": 1}, {"n": 1}),
    ("temperature-not-passed-on", {"temperature": 0.25, "n": 1}, {"n": 1}),
    ("own-limit-of-tokens", {"max_tokens": 5}, {"max_tokens": OWN_LIMIT}),
]


@pytest.mark.parametrize(("name", "before", "after"), EXAMPLES, ids=[name for name, *_ in EXAMPLES])
def test_a_fault_does_what_its_example_shows(name: str, before: Sample, after: Sample, made: Made) -> None:
    assert before != after
    assert made(name, before) == after
