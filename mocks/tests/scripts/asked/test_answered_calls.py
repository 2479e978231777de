"""Which calls of a script are answered where a client has ids of its own."""

from __future__ import annotations

from typing import Any

import pytest

from wireproof_scripts.asked.answered_calls import asking, parts_answered
from wireproof_scripts.steps import Call, Finish, Say
from wireproof_scripts.steps.cursor import Read, Shell

F1, F2, G = (Call(id=id_, name=name, arguments=text) for id_, name, text in (
    ("a", "f", '{"n": 1}'), ("b", "f", '{"n": 2}'), ("c", "g", "{}"),
))  # fmt: skip
READ, SHELL = Read(id="r", path="a.md"), Shell(id="s", command="ls")
DONE = (Say(("done",)),)


def result(id_: str, name: str = "", arguments: str = "{}") -> list[dict[str, Any]]:
    call = {"type": "function_call", "call_id": id_, "name": name, "arguments": arguments}
    return [*([call] if name else []), {"type": "function_call_output", "call_id": id_, "output": "out"}]


@pytest.mark.parametrize(
    ("results", "answered"),
    [
        ([], 0),
        (result("a"), 1),
        (result("b"), 2),
        (result("x", "f", '{"n":2.0}'), 2),  # by its arguments, whose spelling does not count
        (result("x", "f", '{"m": 1}'), 1),  # by its name
        (result("x", "g"), 3),
        (result("x"), 1),  # by its place
        ([*result("x"), *result("y")], 2),
        ([*result("x"), *result("a")], 2),  # the id is surer, and the other is what is left
        (result("x", "h"), 0),  # a tool that the script does not call
    ],
)
def test_a_result_is_that_of_the_call_that_it_fits_best(results: list[dict[str, Any]], answered: int) -> None:
    assert parts_answered(((F1,), (F2,), (G,), DONE), results) == answered


def test_a_part_is_answered_when_all_its_calls_are() -> None:
    parts = ((F1, G), (F2,), DONE)
    assert parts_answered(parts, result("x")) == 0
    assert parts_answered(parts, [*result("x"), *result("y")]) == 1


def test_the_services_own_tools_have_other_names_at_the_client() -> None:
    parts = ((SHELL,), (READ,), DONE)
    assert parts_answered(parts, result("x", "read", '{"filePath": "a.md"}')) == 2
    assert parts_answered(parts, result("x", "bash", '{"cmd": "ls -l"}')) == 1


def test_a_call_after_the_end_of_the_turn_is_not_waited_for() -> None:
    assert asking((F1, Finish(), G)) == [F1]
