from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import httpx2
from hypothesis import given
from hypothesis import strategies as st
from openai import OpenAI

from wireproof.wire.chat import chat_stream
from wireproof.wire.events import Answer, Choice, TokenUsage, ToolCall
from wireproof.wire.stream import read_pieces

ENVELOPE = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "codex"}
COUNTS = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
MARK = "\ufeff"

# Valid streams: an answer, written in any way that the grammar allows.

characters = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
pieces = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
calls = st.builds(ToolCall, id=st.just(""), name=st.text("fgh", min_size=1, max_size=3), arguments=characters)
choices = st.builds(
    Choice,
    index=st.just(0),
    role=st.just("assistant"),
    text=st.none() | pieces.map(lambda piece: piece * 3),
    calls=st.lists(calls, max_size=3).map(
        lambda some: tuple(replace(call, id=f"call_{number}") for number, call in enumerate(some))
    ),
    finish=st.sampled_from(["stop", "tool_calls"]),  # at others the openai package raises
)
answers = st.lists(choices, min_size=1, max_size=2).map(
    lambda some: [replace(choice, index=number) for number, choice in enumerate(some)]
)


def parts(draw: st.DrawFn, whole: str) -> list[str]:
    ends = sorted({0, len(whole), *draw(st.sets(st.integers(0, len(whole)), max_size=4))})
    return [whole[a:b] for a, b in pairwise(ends)]


def entries(draw: st.DrawFn, index: int, call: ToolCall) -> list[dict[str, Any]]:
    """The entries of `tool_calls` that tell a call; its head has the first fragment or an empty one."""
    fragments = [*([""] if draw(st.booleans()) else []), *parts(draw, call.arguments)] or [""]
    head = {"id": call.id, "type": "function"}
    return [
        {"index": index, "function": {"arguments": fragment}}
        if number
        else {"index": index, **head, "function": {"name": call.name, "arguments": fragment}}
        for number, fragment in enumerate(fragments)
    ]


def deltas(draw: st.DrawFn, choice: Choice) -> list[tuple[int, dict[str, Any], str | None]]:
    """The deltas that tell a choice, each with the choice's index and its finish_reason."""
    first: dict[str, Any] = {"role": "assistant", **draw(st.sampled_from([{}, {"content": ""}, {"content": None}]))}
    texts: list[dict[str, Any]] = [{"content": piece} for piece in parts(draw, choice.text or "")]
    all_entries = [entry for index, call in enumerate(choice.calls) for entry in entries(draw, index, call)]
    together = draw(st.booleans()) and all_entries
    calls: list[dict[str, Any]] = (
        [{"tool_calls": all_entries}] if together else [{"tool_calls": [entry]} for entry in all_entries]
    )
    return [*((choice.index, delta, None) for delta in [first, *texts, *calls]), (choice.index, {}, choice.finish)]


def payloads(draw: st.DrawFn, choices: list[Choice], *, counted: bool) -> list[dict[str, Any]]:
    """The chunks of an answer, those of different choices interleaved."""
    waiting = [deltas(draw, choice) for choice in choices]
    merged = [waiting[0].pop(0)]  # the openai package takes no other choice first
    while waiting := [queue for queue in waiting if queue]:
        merged.append(draw(st.sampled_from(waiting)).pop(0))
    chunks: list[dict[str, Any]] = [
        {**ENVELOPE, "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}
        for index, delta, finish in merged
    ]
    if counted:
        return [*({**chunk, "usage": None} for chunk in chunks), {**ENVELOPE, "choices": [], "usage": COUNTS}]
    return chunks


def written(draw: st.DrawFn, chunks: list[dict[str, Any]]) -> bytes:
    """The chunks as server-sent events, in one of the ways in which these may be written."""
    indent, ascii_ = draw(st.sampled_from([None, 1])), draw(st.booleans())
    end, space = draw(st.sampled_from(["\n", "\r\n", "\r"])), draw(st.sampled_from(["", " "]))
    comment = draw(st.sampled_from(["", ": hm\n", ": hm\n\n"]))
    blocks = [*(json.dumps(chunk, indent=indent, ensure_ascii=ascii_) for chunk in chunks), "[DONE]"]
    lines = [comment + "".join(f"data:{space}{line}\n" for line in block.split("\n")) + "\n" for block in blocks]
    return (draw(st.sampled_from(["", MARK])) + "".join(lines).replace("\n", end)).encode()


@dataclass(frozen=True)
class Valid:
    answer: Answer
    body: bytes


@st.composite
def valid_streams(draw: st.DrawFn) -> Valid:
    drawn, counted = draw(answers), draw(st.booleans())
    usage = TokenUsage(frame=0, prompt=5, completion=3, total=8) if counted else None
    answer = Answer(choices=tuple(drawn), usage=usage, error=None)
    return Valid(answer=answer, body=written(draw, payloads(draw, drawn, counted=counted)))


def cut(body: bytes, places: set[int]) -> list[bytes]:
    ends = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return [body[a:b] for a, b in pairwise(ends)]


@given(valid=valid_streams(), places=st.sets(st.integers(0, 5000)))
def test_valid_streams_give_back_their_answer_at_every_cut(valid: Valid, places: set[int]) -> None:
    reading = read_pieces(chat_stream(), [valid.body])
    assert reading.violations == ()
    assert reading.answer == valid.answer
    assert b"".join(frame.raw for frame in reading.frames) == valid.body
    assert read_pieces(chat_stream(), cut(valid.body, places)) == reading
    assert read_pieces(chat_stream(), (valid.body[i : i + 1] for i in range(len(valid.body)))) == reading


def client_of(body: bytes) -> OpenAI:
    def respond(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)

    transport = httpx2.MockTransport(respond)
    return OpenAI(api_key="key", base_url="http://test/v1", http_client=httpx2.Client(transport=transport))


@given(valid=valid_streams())
def test_the_openai_package_puts_the_same_answer_together(valid: Valid) -> None:
    body = valid.body.removeprefix(MARK.encode())
    with client_of(body) as client, client.chat.completions.stream(model="codex", messages=[]) as stream:
        theirs = stream.get_final_completion()
    answer = read_pieces(chat_stream(), [body]).answer
    assert (theirs.usage.total_tokens if theirs.usage else None) == (answer.usage.total if answer.usage else None)
    assert [
        Choice(
            index=choice.index,
            role=choice.message.role,
            text=choice.message.content or None,
            calls=tuple(
                ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
                for call in choice.message.tool_calls or []
            ),
            finish=choice.finish_reason,
        )
        for choice in sorted(theirs.choices, key=lambda choice: choice.index)
    ] == list(answer.choices)


@given(valid=valid_streams())
def test_the_openai_package_reads_the_same_chunks(valid: Valid) -> None:
    body = valid.body.removeprefix(MARK.encode())
    with client_of(body) as client:
        theirs = list(client.chat.completions.create(model="codex", messages=[], stream=True))
    ours = [payload for _, payload in read_pieces(chat_stream(), [body]).payloads]
    assert [chunk.to_dict() for chunk in theirs] == ours
