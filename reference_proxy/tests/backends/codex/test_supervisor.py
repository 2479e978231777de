from __future__ import annotations

import contextlib
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_proxy.backends.codex import link
from wireproof_proxy.backends.codex.supervisor import Supervisor
from wireproof_surfaces.conversation import Conversation, TextPart, ToolResult
from wireproof_surfaces.events import ChoiceFailed, ChoiceFinished, FailureReason, TextAdded, TurnEvent, apart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference_proxy.tests.conftest import FakeCodex, Until

WAIT = 20.0


@pytest.fixture
def running(fake_codex: FakeCodex) -> Iterator[Supervisor]:
    backend = Supervisor([str(fake_codex.bin), "app-server"], os.environ, restart_limit=2)
    backend.start()
    yield backend
    backend.stop()
    for pid in fake_codex.pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def say(text: str) -> Conversation:
    return Conversation(input=(TextPart(text),))


def ask(backend: Supervisor, text: str) -> list[TurnEvent]:
    """The events of a turn up to its end, without those that only show work."""
    assert backend.await_ready(WAIT)
    turn = backend.open(say(text))
    events: list[TurnEvent] = []
    while not events or not isinstance(events[-1], ChoiceFinished | ChoiceFailed):
        event = turn.next(WAIT)
        assert event is not None, f"no end after {events}"
        events += apart(event)
    turn.close()
    return [event for event in events if isinstance(event, TextAdded | ChoiceFinished | ChoiceFailed)]


def test_an_old_backend_is_sent_in_text_what_it_cannot_be_given(fake_codex: FakeCodex) -> None:
    (fake_codex.broken.parent / "broken.old").touch()
    backend = Supervisor([str(fake_codex.bin), "app-server"], os.environ, restart_limit=2)
    backend.start()
    try:
        assert backend.await_ready(WAIT)
        turn = backend.open(Conversation(history=(ToolResult(id="c", output="done"),)))
        events = iter(lambda: turn.next(WAIT), ChoiceFinished(reason="stop"))
        assert TextAdded(text="You said: [tool:c] done") in list(events)
        turn.close()
    finally:
        backend.stop()
    assert "thread/inject_items" not in fake_codex.journal


def test_a_turn_is_answered(running: Supervisor, fake_codex: FakeCodex, until: Until) -> None:
    assert ask(running, "hi") == [TextAdded(text="You said: hi"), ChoiceFinished(reason="stop")]
    until(lambda: "thread/unsubscribe" in fake_codex.journal, "the thread to be let go of")
    assert fake_codex.journal[1:5] == ["initialize", "initialized", "thread/start", "turn/start"]
    assert len(fake_codex.pids) == 1


@pytest.mark.parametrize("text", ["crash", "crash first"])
def test_a_crash_fails_the_turn_and_the_next_one_is_answered_by_a_new_process(
    running: Supervisor, fake_codex: FakeCodex, text: str
) -> None:
    for _ in range(4):
        assert ask(running, text)[-1] == ChoiceFailed(FailureReason.UNAVAILABLE)
    assert ask(running, "hi")[-1] == ChoiceFinished(reason="stop")
    assert len(fake_codex.pids) == 5


def test_a_killed_process_is_replaced(running: Supervisor, fake_codex: FakeCodex) -> None:
    assert running.await_ready(WAIT)
    turn = running.open(say("hang"))
    while turn.next(WAIT) != TextAdded(text="begun"):
        pass
    os.kill(fake_codex.pids[0], signal.SIGKILL)
    assert turn.next(WAIT) == ChoiceFailed(FailureReason.UNAVAILABLE)
    assert ask(running, "hi")[-1] == ChoiceFinished(reason="stop")


def test_an_unreadable_line_fails_one_turn_and_not_the_process(running: Supervisor, fake_codex: FakeCodex) -> None:
    assert ask(running, "garble") == [ChoiceFailed(FailureReason.GARBLED)]
    assert ask(running, "hi")[-1] == ChoiceFinished(reason="stop")
    assert len(fake_codex.pids) == 1


@pytest.mark.parametrize(("text", "answer"), [("approve", '"decline"'), ("unknown", "-32601")])
def test_what_the_backend_asks_is_declined(running: Supervisor, text: str, answer: str) -> None:
    sent = ask(running, text)[-2]
    assert isinstance(sent, TextAdded)
    assert answer in sent.text


def test_a_process_that_does_not_answer_is_replaced(
    running: Supervisor, fake_codex: FakeCodex, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    assert running.await_ready(WAIT)
    monkeypatch.setattr(link, "REQUEST_SECONDS", 0.1)
    turn = running.open(Conversation(developer="freeze", input=(TextPart("hi"),)))
    assert turn.next(WAIT) == ChoiceFailed(FailureReason.TIMEOUT)
    turn.close()
    monkeypatch.undo()
    until(lambda: running.restarts, "another process")
    assert ask(running, "hi")[-1] == ChoiceFinished(reason="stop")
    assert len(fake_codex.pids) == 2


def children() -> Iterator[str]:
    """The process ids of this process's children, dead ones too."""
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # a thread that ended just now has none
            yield from (task / "children").read_text().split()


@pytest.mark.nightly
def test_two_hundred_restarts_leave_nothing_behind(running: Supervisor, fake_codex: FakeCodex, until: Until) -> None:
    def left() -> tuple[int, int, int]:
        return len(list(Path("/proc/self/fd").iterdir())), threading.active_count(), len(list(children()))

    def settled() -> tuple[int, int, int]:
        assert ask(running, "hi")[-1] == ChoiceFinished(reason="stop")
        return left()

    before = settled()
    for _ in range(200):
        assert ask(running, "crash first") == [ChoiceFailed(FailureReason.UNAVAILABLE)]
    until(lambda: settled() == before, f"{before} of descriptors, threads and children, not {left()}")
    assert len(fake_codex.pids) == 201
    assert running.restarts == 200


def test_deaths_in_a_row_end_in_waiting_for_a_request(
    running: Supervisor, fake_codex: FakeCodex, until: Until, caplog: pytest.LogCaptureFixture
) -> None:
    assert running.await_ready(WAIT)
    fake_codex.broken.touch()
    os.kill(fake_codex.pids[0], signal.SIGKILL)
    until(lambda: "the next request starts it again" in caplog.text, "the supervisor to give up")
    starts = len(fake_codex.pids)
    assert not running.await_ready(0)
    assert not running.alive
    fake_codex.broken.unlink()
    assert ask(running, "hi")[-1] == ChoiceFinished(reason="stop")
    assert len(fake_codex.pids) == starts + 1
    assert running.restarts == starts
    assert running.alive


def test_a_refused_handshake_is_a_death(running: Supervisor, fake_codex: FakeCodex, until: Until) -> None:
    refusing = fake_codex.broken.with_name("broken.handshake")
    assert running.await_ready(WAIT)
    refusing.touch()
    os.kill(fake_codex.pids[0], signal.SIGKILL)
    until(lambda: len(fake_codex.pids) >= 3, "another start")
    refusing.unlink()
    assert ask(running, "hi")[-1] == ChoiceFinished(reason="stop")


def test_an_executable_that_is_not_there_is_logged_and_requests_fail(
    until: Until, caplog: pytest.LogCaptureFixture
) -> None:
    backend = Supervisor(["/no-such/codex"], {}, restart_limit=0)
    backend.start()
    until(lambda: "the next request starts it again" in caplog.text, "the supervisor to give up")
    assert "cannot be started: /no-such/codex" in caplog.text
    turn = backend.open(say("hi"))
    assert turn.next(0) == ChoiceFailed(FailureReason.UNAVAILABLE)
    turn.close()
    backend.stop()


def test_a_supervisor_that_was_never_started_can_be_stopped() -> None:
    Supervisor(["codex"], {}, restart_limit=0).stop()


def test_overdue_requests_are_refused_while_the_process_lives(
    running: Supervisor, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    assert running.await_ready(WAIT)
    monkeypatch.setattr(link, "REQUEST_SECONDS", 0.0)
    current = running._link
    assert current is not None
    answers: list[Any] = []
    current.request("no/answer", {}, answers.append)
    until(lambda: answers, "the refusal")
    assert answers[0].message == "timed out"
