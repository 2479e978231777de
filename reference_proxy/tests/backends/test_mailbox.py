from __future__ import annotations

import threading
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest

from wireproof_proxy.backends.mailbox import HEAVIEST, JOINED, TOGETHER, Mailbox, weight
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallClosed,
    ChoiceFailed,
    Event,
    FailureReason,
    TextAdded,
    Texts,
    TurnEvent,
    UsageReported,
    Working,
    apart,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HELLO = TextAdded(text="Hello")


def test_events_come_out_in_order() -> None:
    box = Mailbox()
    assert box.put(HELLO)
    assert box.put(CallClosed(id="c"))
    assert [box.get(0), box.get(0), box.get(0)] == [HELLO, CallClosed(id="c"), None]


def test_a_reader_that_waits_gets_the_next_event() -> None:
    box = Mailbox()
    writer = threading.Timer(0.01, box.put, [HELLO])
    writer.start()
    assert box.get(20) == HELLO
    writer.join()


def test_a_reader_that_waits_is_woken_by_the_end() -> None:
    box = Mailbox()
    closer = threading.Timer(0.01, box.close)
    closer.start()
    assert box.get(100) is None
    closer.join()
    assert not box.put(HELLO)


def test_a_reader_that_has_waited_in_vain_gets_what_comes_later() -> None:
    box = Mailbox()
    assert box.get(0.001) is None
    box.put(HELLO)
    assert box.get(0) is HELLO


def test_work_is_not_sent_to_whoever_has_something_to_read() -> None:
    box = Mailbox()
    for event in (Working(), HELLO, Working()):
        assert box.put(event)
    assert [box.get(0), box.get(0), box.get(0)] == [Working(), HELLO, None]


@pytest.fixture
def make_box() -> Iterator[Callable[..., Mailbox]]:
    """A mailbox like this, closed in the end."""
    with ExitStack() as boxes:
        yield lambda **how: boxes.enter_context(closing(Mailbox(**how)))


def read_all(box: Mailbox) -> list[TurnEvent]:
    read: list[TurnEvent] = []
    while event := box.get(0):
        read += apart(event)
    return read


def test_text_that_is_ready_together_is_read_together_but_for_the_first_piece() -> None:
    box = Mailbox()
    other = TextAdded(choice=1, text="b")
    events: list[Event] = [HELLO, *map(say, "abc"), Working(), say("d"), other, CallClosed(id="c"), HELLO, HELLO]
    for event in events:
        assert box.put(event)
    read = [box.get(0) for _ in range(6)]
    assert read[:4] == [HELLO, Texts(texts=("a", "b", "c", "d")), other, CallClosed(id="c")]
    assert read[4:] == [Texts(texts=("Hello", "Hello")), None]
    assert box._size == 0


def test_pieces_of_several_choices_are_not_read_together() -> None:
    box = Mailbox()
    said = [TextAdded(choice=number % 2, text="a") for number in range(6)]
    for event in said:
        box.put(event)
    assert [box.get(0) for _ in said] == said
    assert box._size == 0


def test_no_piece_is_waited_for_and_what_was_read_takes_no_more() -> None:
    box = Mailbox()
    for text in ("first", "second", "third"):
        box.put(say(text))
        assert box.get(0) == say(text)


def test_what_is_read_together_has_an_end(make_box: Callable[..., Mailbox]) -> None:
    box = make_box()
    for _ in range(3 * TOGETHER):
        box.put(say("x"))
    for _ in range(3):
        box.put(say("x" * (HEAVIEST // 2)))
    counts: list[int] = []
    while event := box.get(0):
        counts.append(len(apart(event)))
    assert counts == [1, TOGETHER, TOGETHER, TOGETHER - 1, 1, 1, 1]


def say(text: str) -> TextAdded:
    return TextAdded(text=text)


def test_text_that_piles_up_is_joined_as_far_as_it_is_the_same(make_box: Callable[..., Mailbox]) -> None:
    box = make_box(limit=4000)
    pieces = [TextAdded(text=f"{number} " * 10) for number in range(10)]
    odd: list[Event] = [ArgumentsAdded(id="c", text="{"), ArgumentsAdded(id="c", text="}"), CallClosed(id="c"), HELLO]
    for event in [*pieces, *odd]:
        assert box.put(event)
    read = read_all(box)
    texts = [event.text for event in read if isinstance(event, TextAdded)][:-1]
    assert "".join(texts) == "".join(event.text for event in pieces)
    assert len(texts) < len(pieces)
    assert read[-3:] == [ArgumentsAdded(id="c", text="{}"), *odd[2:]]
    assert (box._size, box._spool.unread) == (0, 0)


def test_choices_that_take_turns_are_joined_each_for_itself(make_box: Callable[..., Mailbox]) -> None:
    box = make_box(limit=1024)
    for number in range(3):
        assert box.put(HELLO if number == 0 else TextAdded(text=f"a{number}"))
        assert box.put(TextAdded(choice=1, text=f"b{number}"))
    assert read_all(box) == [HELLO, TextAdded(choice=1, text="b0b1b2"), TextAdded(text="a1a2")]


def test_joined_text_has_an_end(make_box: Callable[..., Mailbox]) -> None:
    box = make_box()
    for _ in range(40):
        assert box.put(TextAdded(text="x" * (JOINED - 1)))
    sizes = [len(event.text) for event in read_all(box) if isinstance(event, TextAdded)]
    assert sum(sizes) == 40 * (JOINED - 1)
    assert max(sizes) == 2 * (JOINED - 1)


def test_a_reader_gets_everything_however_far_it_has_fallen_behind(make_box: Callable[..., Mailbox]) -> None:
    box = make_box(limit=100_000)
    said = [f"{number} \U0001f600\ud800 " * 500 for number in range(1000)]
    read = ""
    for text in said:
        assert box.put(TextAdded(text=text))
        assert box._size <= 100_000
    for event in read_all(box):
        assert isinstance(event, TextAdded)
        read += event.text
    assert read == "".join(said)


def test_a_reader_that_takes_nothing_for_too_long_loses_the_turn(make_box: Callable[..., Mailbox]) -> None:
    now = 0.0
    box = make_box(limit=2000, patience=10.0, clock=lambda: now)
    for _ in range(4):
        assert box.put(TextAdded(text="x" * JOINED))
    now = 9.0
    assert box.get(0)
    now = 19.0
    assert box.put(HELLO)
    now = 20.0
    assert not box.put(HELLO)
    assert not box.put(HELLO)
    assert read_all(box) == [ChoiceFailed(FailureReason.LAGGING)]


def test_a_reader_that_has_nothing_much_to_take_is_waited_for(make_box: Callable[..., Mailbox]) -> None:
    now = 0.0
    box = make_box(patience=10.0, clock=lambda: now)
    for _ in range(100):
        now += 1.0
        assert box.put(HELLO)


@pytest.mark.parametrize("event", [TextAdded(text="x" * JOINED), UsageReported(prompt=1, completion=1)])
def test_what_is_unread_has_a_limit(event: Event, make_box: Callable[..., Mailbox]) -> None:
    box = make_box(limit=2000, aside=10 * JOINED)
    assert any(not box.put(event) for _ in range(100))
    assert read_all(box) == [ChoiceFailed(FailureReason.LAGGING)]


def test_a_full_disk_fails_the_turn(monkeypatch: pytest.MonkeyPatch, make_box: Callable[..., Mailbox]) -> None:
    def full(_text: str) -> tuple[int, int]:
        raise OSError(28, "No space left on device")

    box = make_box(limit=2000)
    monkeypatch.setattr(box._spool, "write", full)
    assert box.put(HELLO)
    assert not box.put(TextAdded(text="x" * JOINED))
    assert read_all(box) == [ChoiceFailed(FailureReason.LAGGING)]


def test_what_was_read_does_not_count(make_box: Callable[..., Mailbox]) -> None:
    box = make_box(limit=200)
    for _ in range(100):
        assert box.put(TextAdded(text="x" * 100))
        assert box.get(0)


def test_nothing_follows_a_failure(make_box: Callable[..., Mailbox]) -> None:
    box = make_box()
    assert not box.put(ChoiceFailed(FailureReason.FAILED))
    assert not box.put(HELLO)
    assert box.get(0) == ChoiceFailed(FailureReason.FAILED)


def test_the_failure_of_one_choice_is_followed_by_the_others(make_box: Callable[..., Mailbox]) -> None:
    box = make_box()
    assert box.put(ChoiceFailed(FailureReason.FAILED, 1))
    assert box.put(HELLO)


def test_a_closed_mailbox_is_empty_and_takes_nothing(make_box: Callable[..., Mailbox]) -> None:
    box = make_box()
    box.put(HELLO)
    box.close()
    assert not box.put(HELLO)
    assert box.get(0) is None


def test_text_and_arguments_weigh_what_they_hold() -> None:
    assert weight(TextAdded(text="x" * 100)) == weight(Working()) + 100
    assert weight(ArgumentsAdded(id="c", text="x" * 100)) == weight(Working()) + 100
