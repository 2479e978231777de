from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_codex.turns.response import Response
from wireproof_scripts.calls.blocks import is_structured_call
from wireproof_scripts.steps import Call, Finish, Say, Shape, TextDelta

if TYPE_CHECKING:
    from wireproof_scripts.player import Performance


def _call(shape: Shape, *also: Shape) -> Call:
    return Call(id="1", name="f", arguments="{}", shape=shape, also=also)


def test_a_call_is_structured_call_unless_it_is_text_alone() -> None:
    assert is_structured_call(_call("native"))
    assert is_structured_call(_call("use-tool", "native"))
    assert not is_structured_call(_call("use-tool", "sentinel"))
    assert not is_structured_call(Say(("x",)))


def _nothing() -> Performance:
    yield from ()


def test_calls_are_the_reason_of_their_choice() -> None:
    response = Response((_call("native"), _call("sentinel")), _nothing())
    assert response.calls_to_come == 1
    assert response.reason("stop") == "stop"
    response.calls[1] += 1
    assert [response.reason("stop", choice) for choice in (None, 0, 1)] == ["tool_calls", "stop", "tool_calls"]


def test_it_says_what_comes_next_until_nothing_does() -> None:
    def performance() -> Performance:
        now = yield TextDelta("a")
        assert now == 2.0
        yield Finish()

    response = Response((), performance())
    assert [response.next(1.0), response.next(2.0), response.next(3.0)] == [TextDelta("a"), Finish(), None]
