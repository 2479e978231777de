from __future__ import annotations

from typing import get_args

from wireproof_scripts.library.shapes import SHAPES
from wireproof_scripts.steps import Call, Script, Shape

BY_NAME = {script.name: script for script in SHAPES}
LETTERS = [BY_NAME[f"shapes/{letter}"] for letter in "abcdefgh"]


def _call(script: Script) -> Call:
    (call,) = [step for step in script.parts[0] if isinstance(step, Call)]
    return call


def test_every_letter_says_the_same_call() -> None:
    calls = {(call.id, call.name, call.arguments) for call in map(_call, LETTERS)}
    assert calls == {("call_shape", "localSearch", '{"query": "same bytes", "limit": 1.50}')}


def test_the_letters_tell_it_in_shapes_of_their_own() -> None:
    sent = {(_call(script).shape, script.notifications) for script in LETTERS}
    assert len(sent) == len(LETTERS)
    assert {shape for shape, _ in sent} == set(get_args(Shape)) - {"message-function-call"}


def test_the_fragments_that_repeat_are_equal_and_no_mistake() -> None:
    call = _call(BY_NAME["shapes/repeated-fragment"])
    assert call.pieces == ('{"n": 1', "1", "}")
    assert "".join(call.pieces) == call.arguments
