"""Turns with the mock of the service, over both transports."""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from wireproof_cursor.serving import CursorMock, serving
from wireproof_proxy.backends.cursor.service import CursorService
from wireproof_proxy.backends.table import make_backend
from wireproof_proxy.settings import CursorSettings, ProxySettings
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Gate, Hang, Say, Script
from wireproof_scripts.steps.cursor import GetBlob, Query, Read, Refuse, RequestContext, SetBlob, UnknownExec
from wireproof_surfaces.conversation import (
    AssistantCall,
    Conversation,
    ImagePart,
    Item,
    Message,
    TextPart,
    Tool,
    ToolResult,
    converse,
)
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    CallsEnded,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    TextAdded,
    TurnOver,
    UsageReported,
    Working,
    apart,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reference_proxy.tests.conftest import Until

    from wireproof_surfaces.events import TurnEvent

pytestmark = pytest.mark.sampled(22)

SCRIPTS = (
    Script(name="own/state", title="", parts=((SetBlob("kept"), GetBlob("kept"), GetBlob("lost"), Say(("Kept.",))),)),
    Script(name="own/asks", title="", parts=((RequestContext(), Query("x"), UnknownExec(), Say(("Asked.",))),)),
    Script(name="own/read", title="", parts=((Read(id="r", path="a.txt"),), (Say(("Read.",)),))),
    Script(name="own/hang", title="", parts=((Say(("Begun",)), Hang()),)),
    Script(name="own/long", title="", parts=((Say(("x" * 1000,), times=5000),),)),
    Script(name="own/gate", title="", parts=((Gate("g", timeout=30.0), Say(("Open.",))),)),
    Script(name="own/401", title="", parts=((Refuse(code="unauthenticated", form="http"),),)),
    Script(name="own/append", title="", parts=((Refuse(code="unauthenticated", form="append"),),)),
    Script(name="own/limit", title="", parts=((Refuse(code="resource_exhausted"),),)),
    Script(name="own/model", title="", parts=((Refuse(code="not_found", debug="ERROR_BAD_MODEL_NAME"),),)),
    Script(name="own/lost", title="", parts=((Say(("Half",)), Refuse(code="internal", message="Blob not found")),)),
)
TOOLS = tuple(Tool(name=name, description="", parameters={}) for name in ("read", "localSearch", "readNote"))
NUMBERS = itertools.count()
DEADLINE = 30.0


@pytest.fixture(scope="module")
def mock() -> Iterator[CursorMock]:
    with serving({**LIBRARY, **{script.name: script for script in SCRIPTS}}) as service:
        yield service


@pytest.fixture(params=["run", "run-sse"])
def service(mock: CursorMock, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CursorService]:
    (tmp_path / "a.txt").write_text("alpha", encoding="utf-8")
    cursor = CursorSettings(
        base_url=mock.url, token=SecretStr("t"), transport=request.param, scratch=str(tmp_path), settle_ms=100
    )
    backend = make_backend(ProxySettings(backend="cursor", cursor=cursor, call_wait_ms=500))
    assert isinstance(backend, CursorService)
    backend.start()
    assert backend.await_ready(DEADLINE)
    yield backend
    backend.stop()
    assert not backend._turns


def said(script: str, *more: Item, tools: tuple[Tool, ...] = (), nonce: str = "") -> Conversation:
    text = f"[[wireproof:{script}#{nonce or f'n{next(NUMBERS)}'}]] go"
    return converse((Message(role="user", parts=(TextPart(text),)), *more), tools=tools)


def played(service: CursorService, conversation: Conversation, choices: int = 1) -> list[TurnEvent]:
    """All events of a turn to its end, but for signs of work."""
    turn = service.open(conversation, choices)
    found: list[TurnEvent] = []
    deadline = time.monotonic() + DEADLINE
    while sum(isinstance(event, TurnOver | ChoiceFailed) for event in found) < choices:
        event = turn.next(0.05)
        if event is not None and not isinstance(event, Working):
            found += apart(event)
        assert time.monotonic() < deadline, found
    turn.close()
    return found


def text_of(events: Iterable[TurnEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextAdded))


def test_a_turn_is_text_counts_and_an_end(service: CursorService) -> None:
    found = played(service, said("text/hello"))
    assert text_of(found)
    assert found[-3:] == [UsageReported(prompt=11, completion=7), ChoiceFinished(reason="stop"), TurnOver()]


def test_all_calls_of_an_answer_come_before_its_end(service: CursorService) -> None:
    found = played(service, said("call/two", tools=TOOLS))
    assert [event.name for event in found if isinstance(event, CallBegan)] == ["localSearch", "readNote"]
    assert next(event.text for event in found if isinstance(event, ArgumentsAdded)) == '{"query": "release notes"}'
    assert sum(isinstance(event, CallClosed) for event in found) == 2
    assert found[-2:] == [CallsEnded(), TurnOver()]


def test_results_begin_another_session_that_has_the_history(service: CursorService) -> None:
    call = AssistantCall(id="call_search", name="localSearch", arguments='{"query": "release notes"}')
    history = (call, ToolResult(id="call_search", output="two notes"))
    assert text_of(played(service, said("call/then-text", *history, tools=TOOLS))) == "All clear."
    assert text_of(played(service, said("call/then-text", *history))) == "All clear."


def test_the_state_is_kept_and_questions_are_answered(service: CursorService) -> None:
    for script, text in (("own/state", "Kept."), ("own/asks", "Asked.")):
        nonce = f"n{next(NUMBERS)}"
        assert text_of(played(service, said(script, nonce=nonce))) == text
        report = text_of(played(service, said("reflect/turns", nonce=nonce)))
        assert '"state": "completed"' in report
        assert '"faults": []' in report


def test_without_tools_the_service_is_answered_from_the_scratch_folder(service: CursorService) -> None:
    nonce = f"n{next(NUMBERS)}"
    found = played(service, said("own/read", nonce=nonce))
    assert not any(isinstance(event, CallBegan) for event in found)
    assert text_of(found) == "Read."
    assert '"faults": []' in text_of(played(service, said("reflect/turns", nonce=nonce)))


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ("own/401", FailureReason.CREDENTIALS),
        ("own/append", FailureReason.CREDENTIALS),
        ("own/limit", FailureReason.RATE_LIMITED),
        ("own/model", FailureReason.MODEL_UNKNOWN),
        ("own/lost", FailureReason.FAILED),
        ("fail/crash-first", FailureReason.UNREACHABLE),
        ("fail/after-text", FailureReason.UNREACHABLE),
    ],
)
def test_a_failure_has_its_cause(service: CursorService, script: str, cause: FailureReason) -> None:
    [failed] = [event for event in played(service, said(script)) if isinstance(event, ChoiceFailed)]
    assert failed.cause is cause


def test_signs_of_life_are_no_events(service: CursorService) -> None:
    turn = service.open(said("agent/trap"))
    began = time.monotonic()
    # Heartbeats come every 200 ms; nothing of them must count as an event of the turn.
    while (event := turn.next(0.7)) is not None:
        assert isinstance(event, Working)
        assert time.monotonic() - began < DEADLINE
    turn.close()


def test_a_client_that_leaves_cancels_the_turn(service: CursorService, until: Until) -> None:
    nonce = f"n{next(NUMBERS)}"
    turn = service.open(said("own/hang", nonce=nonce))
    until(lambda: isinstance(turn.next(0.05), TextAdded), "the first text")
    turn.close()
    turn.close()
    until(lambda: not service._turns, "the end of the turn")
    assert '"state": "interrupted"' in text_of(played(service, said("reflect/turns", nonce=nonce)))


def test_choices_are_sessions_of_their_own(service: CursorService) -> None:
    found = played(service, said("text/hello"), choices=3)
    texts = {n: "".join(one.text for one in found if isinstance(one, TextAdded) and one.choice == n) for n in range(3)}
    assert len(set(texts.values())) == 1
    assert texts[0]


def test_a_client_that_reads_nothing_holds_up_no_other(service: CursorService) -> None:
    slow = service.open(said("own/long"))
    assert text_of(played(service, said("text/hello")))
    text = 0
    while not isinstance(event := slow.next(DEADLINE), TurnOver):
        assert event is not None
        text += len(text_of(apart(event)))
    assert text == 5_000_000
    slow.close()


def test_what_the_service_cannot_take_is_refused_at_once(service: CursorService) -> None:
    with_image = Conversation(input=(TextPart("look"), ImagePart("data:image/png;base64,")))
    earlier = Conversation(history=(Message(role="user", parts=(ImagePart("x"),)),), input=(TextPart("go"),))
    result = Conversation(history=(ToolResult(id="c", output="", images=(ImagePart("x"),)),))
    for conversation in (with_image, earlier, result):
        assert played(service, conversation) == [ChoiceFailed(FailureReason.NO_IMAGES)]
    assert played(service, Conversation(schema={"type": "object"})) == [ChoiceFailed(FailureReason.SCHEMA_UNKNOWN)]
    huge = Tool(name="t", description="", parameters={"maximum": 10**400})
    assert played(service, said("text/hello", tools=(huge,))) == [ChoiceFailed(FailureReason.TOOLS_REJECTED)]


def test_a_megabyte_in_both_directions(service: CursorService) -> None:
    text = "0123456789abcde\u00e9" * 65_536
    conversation = said("reflect/received", Message(role="user", parts=(TextPart(text),)))
    assert text in text_of(played(service, conversation))


def test_many_turns_leave_nothing_behind(service: CursorService, until: Until) -> None:
    _together(service, until)
    before = _held()
    for _ in range(25):
        _together(service, until)
    # The pool of HTTP/1.1 keeps the connections of as many turns as ran together: two each, both ends in this process.
    until(lambda: _held() <= before + 4 * 4, "closed connections")


def _together(service: CursorService, until: Until) -> None:
    turns = [service.open(said("text/hello")) for _ in range(4)]
    for turn in turns:
        while not isinstance(turn.next(DEADLINE), TurnOver):
            pass
        turn.close()
    until(lambda: not service._turns, "the end of all turns")


def _held() -> int:
    """Descriptors that are open in this process, those of the mock included."""
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_service_that_is_gone_is_not_ready_until_it_is_back(until: Until) -> None:
    with serving(LIBRARY) as mock:
        port = int(mock.url.rpartition(":")[2])
        cursor = CursorSettings(base_url=mock.url, token=SecretStr("t"))
        backend = make_backend(ProxySettings(backend="cursor", cursor=cursor))
        assert isinstance(backend, CursorService)
        assert not backend.await_ready(0)
        assert isinstance(backend.open(Conversation()).next(0), ChoiceFailed)
        backend.start()
        assert backend.await_ready(DEADLINE)
    [failed] = [event for event in played(backend, said("text/hello")) if isinstance(event, ChoiceFailed)]
    assert failed.cause is FailureReason.UNAVAILABLE
    until(lambda: not backend.await_ready(0), "the loss to be noticed")
    assert [count.value for count in backend.counts()] == [1]
    with serving(LIBRARY, port):
        assert backend.await_ready(DEADLINE)
        assert text_of(played(backend, said("text/hello")))
    backend.stop()


def test_a_stop_fails_the_turns_that_run(mock: CursorMock, until: Until) -> None:
    backend = make_backend(
        ProxySettings(backend="cursor", cursor=CursorSettings(base_url=mock.url, token=SecretStr("t")))
    )
    assert isinstance(backend, CursorService)
    backend.start()
    assert backend.await_ready(DEADLINE)
    turn = backend.open(said("own/gate"))
    until(lambda: len(backend._turns) == 1, "the turn")
    stopper = threading.Thread(target=backend.stop)
    stopper.start()
    event = turn.next(DEADLINE)
    while isinstance(event, Working):
        event = turn.next(DEADLINE)
    assert event == ChoiceFailed(FailureReason.UNAVAILABLE)
    stopper.join(DEADLINE)
    assert not stopper.is_alive()
    turn.close()
    assert not backend.await_ready(0)
    backend.stop()
