from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wireproof_proxy.backends.codex.abilities import Abilities
from wireproof_proxy.backends.codex.link import REQUEST_SECONDS
from wireproof_proxy.backends.codex.turn import SILENCE
from wireproof_proxy.backends.codex.v2 import CodexV2
from wireproof_surfaces.conversation import Conversation, Message, TextPart
from wireproof_surfaces.events import ChoiceFailed, ChoiceFinished, FailureReason, TextAdded, Working

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference_proxy.tests.conftest import Server

    Begin = Callable[..., Server]

HELLO = Conversation(input=(TextPart("hi"),))
HISTORY = Conversation(history=(Message(role="user", parts=(TextPart("before"),)),))


@pytest.fixture
def begin(make_server: type[Server]) -> Begin:
    """Start an answer, of a turn on a thread or of several."""

    def start(conversation: Conversation = HELLO, choices: int = 1) -> Server:
        return make_server(CodexV2, conversation, choices)

    return start


def running(server: Server) -> None:
    """All the way to a turn under way."""
    server.answer(thread={"id": "t"})
    server.answer(turn={"id": "u"})


def started(server: Server) -> None:
    server.send(method="turn/started", params={"threadId": "t", "turn": {"id": "u"}})


def delta(server: Server, text: str, thread: str = "t") -> None:
    params = {"threadId": thread, "turnId": "u", "itemId": "m", "delta": text}
    server.send(method="item/agentMessage/delta", params=params)


def done(server: Server, status: str = "completed") -> None:
    server.send(method="turn/completed", params={"threadId": "t", "turn": {"id": "u", "status": status}})


def test_a_turn_is_a_thread_then_its_input(begin: Begin) -> None:
    server = begin()
    running(server)
    assert server.methods == ["thread/start", "turn/start"]
    assert server.served == 1
    delta(server, "Hello")
    done(server)
    assert server.events() == [TextAdded(text="Hello"), ChoiceFinished(reason="stop")]


def test_history_is_injected_before_the_turn(begin: Begin) -> None:
    server = begin(HISTORY)
    server.answer(thread={"id": "t"})
    assert server.methods == ["thread/start", "thread/inject_items"]
    server.answer()
    assert server.methods[-1] == "turn/start"


def test_a_thread_is_resumed_with_its_history_where_none_can_be_injected(
    begin: Begin, make_server: type[Server]
) -> None:
    server = make_server(CodexV2, HISTORY, abilities=Abilities(history="resumed"))
    assert server.methods == ["thread/resume"]
    running(server)
    done(server)
    server.turn.close()
    assert server.methods == ["thread/resume", "turn/start", "thread/archive"]
    assert begin(HISTORY).methods == ["thread/start"]


def test_a_thread_without_a_history_is_resumed_nowhere(make_server: type[Server]) -> None:
    server = make_server(CodexV2, HELLO, abilities=Abilities(history="resumed"))
    running(server)
    done(server)
    server.turn.close()
    assert server.methods == ["thread/start", "turn/start", "thread/unsubscribe"]


def test_a_thread_that_is_not_ephemeral_is_archived(begin: Begin) -> None:
    server = begin()
    server.link.abilities = Abilities(ephemeral=False)
    running(server)
    done(server)
    server.turn.close()
    assert server.methods[2:] == ["thread/archive"]


def test_notifications_before_the_response_of_the_turn_count(begin: Begin) -> None:
    server = begin()
    server.answer(thread={"id": "t"})
    started(server)
    delta(server, "early")
    assert server.events() == [TextAdded(text="early")]


def test_a_turn_that_is_over_is_let_go_of(begin: Begin) -> None:
    server = begin()
    running(server)
    done(server)
    server.turn.close()
    server.turn.close()
    assert server.methods[2:] == ["thread/unsubscribe"]
    assert not server.link._listeners


def test_a_turn_that_runs_is_interrupted_first(begin: Begin) -> None:
    server = begin()
    running(server)
    server.turn.close()
    assert server.sent[-1]["params"] == {"threadId": "t", "turnId": "u"}
    assert server.methods[2:] == ["turn/interrupt"]
    done(server, "interrupted")
    server.answer()
    assert server.methods[2:] == ["turn/interrupt", "thread/unsubscribe"]
    assert not server.link._listeners
    assert server.events() == []


def test_a_turn_closed_before_its_thread_is_there_starts_nothing(begin: Begin) -> None:
    server = begin(HISTORY)
    server.turn.close()
    server.answer(thread={"id": "t"})
    assert server.methods == ["thread/start", "thread/unsubscribe"]


def test_a_turn_closed_during_the_injection_starts_nothing(begin: Begin) -> None:
    server = begin(HISTORY)
    server.answer(thread={"id": "t"})
    server.turn.close()
    assert server.methods == ["thread/start", "thread/inject_items", "thread/unsubscribe"]
    server.send(id=2, result={})
    assert server.methods[-1] == "thread/unsubscribe"


@pytest.mark.parametrize("how", ["response", "notification"])
def test_a_turn_closed_while_it_starts_is_interrupted_once_its_id_is_known(begin: Begin, how: str) -> None:
    server = begin()
    server.answer(thread={"id": "t"})
    server.turn.close()
    assert server.methods == ["thread/start", "turn/start"]
    if how == "response":
        server.answer(turn={"id": "u"})
    else:
        started(server)
    assert server.methods[2:] == ["turn/interrupt"]


def test_a_turn_that_could_not_start_is_not_interrupted(begin: Begin) -> None:
    server = begin()
    server.answer(thread={"id": "t"})
    server.refuse()
    server.turn.close()
    assert server.methods[2:] == ["thread/unsubscribe"]


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("dynamic tool name must match", FailureReason.TOOLS_REJECTED),
        ("Server overloaded; retry later.", FailureReason.OVERLOADED),
    ],
)
def test_a_refusal_fails_the_turn(begin: Begin, message: str, cause: FailureReason) -> None:
    server = begin()
    server.refuse(message)
    assert server.events() == [ChoiceFailed(cause)]
    server.turn.close()


@pytest.mark.parametrize("step", [0, 1, 2])
def test_every_step_may_be_refused(begin: Begin, step: int) -> None:
    server = begin(HISTORY)
    for _ in range(step):
        server.answer(thread={"id": "t"})
    server.refuse()
    assert server.events() == [ChoiceFailed(FailureReason.FAILED)]


def test_an_answer_without_a_thread_is_unreadable(begin: Begin) -> None:
    server = begin()
    server.answer(thread=[])
    assert server.events() == [ChoiceFailed(FailureReason.GARBLED)]


def test_a_request_that_is_never_answered_fails_the_turn(begin: Begin) -> None:
    server = begin()
    server.now = REQUEST_SECONDS
    server.link.expire()
    assert server.events() == [ChoiceFailed(FailureReason.TIMEOUT)]


@pytest.mark.parametrize("runs", [True, False])
def test_the_end_of_the_process_fails_the_turn(begin: Begin, runs: bool) -> None:  # noqa: FBT001 - a case
    server = begin()
    if runs:
        running(server)
    server.link.close()
    assert server.events() == [ChoiceFailed(FailureReason.UNAVAILABLE)]
    server.turn.close()


def test_an_unreadable_line_fails_the_turn_it_names(begin: Begin) -> None:
    server = begin()
    running(server)
    server.link.feed(b'{"params":{"threadId":"t","delta":"\xff"}}\n')
    assert server.events() == [ChoiceFailed(FailureReason.GARBLED)]


def called(server: Server, call: str = "c") -> None:
    """The backend asks the client to run a tool."""
    params = {"threadId": "t", "turnId": "u", "callId": call, "tool": "f", "arguments": {}}
    server.send(method="item/tool/call", id=0, params=params)


def answers(server: Server) -> list[Any]:
    """What the backend's own requests were answered with."""
    return [message["result"] for message in server.sent if "result" in message]


def test_calls_are_answered_once_the_backend_seems_to_wait_for_that(begin: Begin) -> None:
    server = begin()
    running(server)
    server.now = SILENCE
    called(server)
    server.events()
    assert answers(server) == []
    server.now += SILENCE
    server.events()
    server.events()
    assert [answer["success"] for answer in answers(server)] == [False]


def test_a_backend_whose_calls_were_answered_has_its_time_anew(begin: Begin) -> None:
    server = begin()
    running(server)
    called(server)
    server.events()
    server.now += SILENCE
    assert [server.turn.next(0) for _ in range(2)] == [Working(), None]


def test_how_long_a_silence_lasts_can_be_set(make_server: type[Server]) -> None:
    server = make_server(CodexV2, HELLO, silence=SILENCE / 10)
    running(server)
    called(server)
    server.now += SILENCE / 10
    server.events()
    assert len(answers(server)) == 1


def test_calls_are_answered_at_once_where_nothing_else_shows_the_end(begin: Begin) -> None:
    server = begin()
    server.link.abilities = Abilities(silent_ends=True)
    running(server)
    called(server)
    assert len(answers(server)) == 1


@pytest.mark.parametrize("silent", [True, False])
def test_calls_of_a_turn_that_is_closed_are_not_answered(begin: Begin, silent: Any) -> None:
    server = begin()
    server.link.abilities = Abilities(silent_ends=silent)
    running(server)
    server.turn.close()
    called(server)
    server.now += SILENCE
    server.events()
    assert answers(server) == []


def test_a_client_that_falls_behind_has_its_turn_interrupted(begin: Begin) -> None:
    server = begin()
    server.mailbox.limit = server.mailbox.aside = 100
    running(server)
    delta(server, "x" * 200)
    assert server.methods[2:] == ["turn/interrupt"]
    assert server.events() == [ChoiceFailed(FailureReason.LAGGING)]
    server.turn.close()
    assert server.methods[2:] == ["turn/interrupt"]


# Several choices


def sent(server: Server, method: str) -> list[Any]:
    return [message for message in server.sent if message["method"] == method]


def test_choices_are_threads_whose_turns_start_in_order(begin: Begin) -> None:
    server = begin(choices=2)
    assert server.methods == ["thread/start"]
    server.answer(thread={"id": "t"})
    assert server.methods == ["thread/start", "turn/start", "thread/start"]
    server.answer(thread={"id": "t2"})
    assert [message["params"]["threadId"] for message in sent(server, "turn/start")] == ["t", "t2"]
    for thread, message in zip(("t", "t2"), sent(server, "turn/start"), strict=True):
        server.send(id=message["id"], result={"turn": {"id": "u"}})
        delta(server, f"of {thread}", thread)
    assert server.events() == [TextAdded(text="of t"), TextAdded(choice=1, text="of t2")]
    server.turn.close()
    assert len(sent(server, "turn/interrupt")) == 2


def test_a_choice_that_cannot_start_lets_the_next_one_begin_and_fails_alone(begin: Begin) -> None:
    server = begin(choices=2)
    server.refuse()
    assert server.methods == ["thread/start", "thread/start"]
    server.answer(thread={"id": "t2"})
    server.refuse()
    assert server.methods == ["thread/start", "thread/start", "turn/start"]
    assert server.events() == [ChoiceFailed(FailureReason.FAILED, 0), ChoiceFailed(FailureReason.FAILED, 1)]


def test_no_choice_begins_after_the_answer_is_closed(begin: Begin) -> None:
    server = begin(choices=3)
    server.answer(thread={"id": "t"})
    server.turn.close()
    server.answer(thread={"id": "t2"})
    assert len(sent(server, "thread/start")) == 2
    assert len(sent(server, "turn/start")) == 1
    assert sent(server, "thread/unsubscribe")[0]["params"] == {"threadId": "t2"}
