from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wireproof.wire.events import (
    Answer,
    CallOpened,
    ChatEvent,
    Choice,
    Comment,
    Done,
    Failed,
    Finished,
    Fragment,
    Role,
    Text,
    TokenUsage,
    ToolCall,
    assemble,
)

EMPTY = Choice(index=0, role=None, text=None, calls=(), finish=None)


def test_no_events_are_an_empty_answer() -> None:
    assert assemble([]) == Answer(choices=(), usage=None, error=None)


def test_texts_are_joined() -> None:
    events: list[ChatEvent] = [
        Role(frame=0, choice=0, role="assistant"),
        *(Text(frame=1, choice=0, text=text) for text in "ha ha"),
    ]
    assert assemble([*events, Finished(frame=2, choice=0, reason="stop")]).choices == (
        Choice(index=0, role="assistant", text="ha ha", calls=(), finish="stop"),
    )


def test_no_text_is_not_the_empty_text() -> None:
    assert assemble([Text(frame=0, choice=0, text="")]).choices[0].text == ""
    assert assemble([Role(frame=0, choice=0, role="assistant")]).choices[0].text is None


def test_choices_stand_by_index_and_do_not_mix() -> None:
    events = [Text(frame=0, choice=1, text="b"), Text(frame=1, choice=0, text="a"), Text(frame=2, choice=1, text="B")]
    assert [(choice.index, choice.text) for choice in assemble(events).choices] == [(0, "a"), (1, "bB")]


def test_fragments_go_to_their_calls_however_they_are_interleaved() -> None:
    events: list[ChatEvent] = [
        CallOpened(frame=1, choice=0, index=0, id="x", name="f"),
        CallOpened(frame=2, choice=0, index=1, id="y", name="g"),
        Fragment(frame=3, choice=0, index=1, text='{"b"'),
        Fragment(frame=4, choice=0, index=0, text="{}"),
        Fragment(frame=5, choice=0, index=1, text=":1}"),
    ]
    assert assemble(events).choices[0].calls == (
        ToolCall(id="x", name="f", arguments="{}"),
        ToolCall(id="y", name="g", arguments='{"b":1}'),
    )


def test_a_fragment_without_a_head_is_a_call_without_a_name() -> None:
    events = [Fragment(frame=0, choice=0, index=0, text="{}")]
    assert assemble(events).choices[0].calls == (ToolCall(id="", name="", arguments="{}"),)


def test_usage_and_error_are_free_of_their_frames() -> None:
    usage = TokenUsage(frame=7, prompt=1, completion=2, total=3, cached=1)
    error = Failed(frame=8, message="m", type="t", code=None, param=None)
    answer = assemble([usage, error])
    assert answer.usage == TokenUsage(frame=0, prompt=1, completion=2, total=3, cached=1)
    assert answer.error == Failed(frame=0, message="m", type="t", code=None, param=None)


def test_comments_and_done_say_nothing() -> None:
    assert assemble([Comment(frame=0, text="keep-alive"), Done(frame=1)]) == assemble([])


def test_what_is_reported_twice_counts_as_reported_last() -> None:
    events = [Finished(frame=1, choice=0, reason="stop"), Finished(frame=2, choice=0, reason="length")]
    assert assemble(events).choices[0].finish == "length"


@given(pieces=st.lists(st.text()), again=st.lists(st.text()))
def test_only_the_sum_of_the_pieces_matters(pieces: list[str], again: list[str]) -> None:
    events = [CallOpened(frame=0, choice=0, index=0, id="x", name="f")]
    fragments = [Fragment(frame=1, choice=0, index=0, text=piece) for piece in pieces]
    texts = [Text(frame=1, choice=0, text=piece) for piece in again]
    (choice,) = assemble([*events, *fragments, *texts]).choices
    assert choice.calls[0].arguments == "".join(pieces)
    assert (choice.text or "") == "".join(again)


def test_of_cumulative_deltas_the_last_is_the_whole() -> None:
    events: list[ChatEvent] = [
        CallOpened(frame=1, choice=0, index=0, id="x", name="f"),
        CallOpened(frame=2, choice=0, index=1, id="y", name="g"),
        *(Fragment(frame=3, choice=0, index=0, text=text) for text in ("", "{", '{"a":1}')),
        Text(frame=4, choice=0, text="b"),
    ]
    assert assemble(events, cumulative=True).choices[0].calls == (
        ToolCall(id="x", name="f", arguments='{"a":1}'),
        ToolCall(id="y", name="g", arguments=""),
    )
    assert assemble(events).choices[0].calls[0].arguments == '{{"a":1}'
    assert assemble(events, cumulative=True).choices[0].text == "b"
