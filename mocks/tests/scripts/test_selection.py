from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from wireproof_scripts.library import LIBRARY
from wireproof_scripts.nonces import Nonces
from wireproof_scripts.selection import Selection, part_to_play, select, unknown_script, without_cursor
from wireproof_scripts.steps import Call, Fail, Finish, Hang, Say, Script, cursor
from wireproof_scripts.steps.when import When, Words


def _call(identity: str) -> Call:
    return Call(id=identity, name="f", arguments="{}")


def _user(text: str, role: str = "user") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def _result(call: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call, "output": ""}


def _select(
    history: list[dict[str, Any]],
    text: str | None,
    *,
    library: dict[str, Script] | None = None,
    nonces: Nonces | None = None,
) -> Selection:
    given = [] if text is None else [{"type": "text", "text": text}]
    return select(
        LIBRARY if library is None else library,
        Nonces() if nonces is None else nonces,
        history=history,
        given=given,
        tools=[],
        call_id="c",
    )


def test_the_turns_of_a_script_with_choices_play_them_in_rotation() -> None:
    nonces = Nonces()
    said = []
    for _ in range(4):
        selection = _select([], "[[wireproof:choices/text#a]]", nonces=nonces)
        said.append(selection.parts[0][0])
        selection.begin()
    assert said[0] == said[2] != said[1] == said[3]


def test_a_call_without_an_id_is_known_by_its_tool() -> None:
    without_id = Call(id="", name="f", arguments="{}", shape="delta-tool-calls")
    in_text = Call(id="x", name="f", arguments="{}", shape="use-tool")
    for call in (without_id, in_text):
        parts = ((call,), (Say(("x",)),))
        assert part_to_play(parts, {"call_9", "tool f"}, 0) == 1
        assert part_to_play(parts, {"x", "tool g"}, 0) == 0


def test_the_notifications_of_a_script_are_those_of_its_turns() -> None:
    assert _select([], "[[wireproof:shapes/a#a]]").notifications == "story"
    library = {"a": Script(name="a", title="", when="hi", notifications="double", parts=((),))}
    assert _select([], "hi", library=library).notifications == "double"


def test_the_marker_in_the_input_is_the_one() -> None:
    selection = _select([_user("[[wireproof:text/long#old]]")], "hi [[wireproof:text/hello#a]]")
    assert (selection.script, selection.parts, selection.first) == ("text/hello", LIBRARY["text/hello"].parts, 0)


def test_without_one_in_the_input_the_last_in_the_history_counts() -> None:
    history = [_user("[[wireproof:text/long#a]]"), _user("[[wireproof:text/hello#a]]"), _user("no marker", "assistant")]
    assert _select(history, "go on").script == "text/hello"
    assert _select(history, None).script == "text/hello"


def test_developer_text_chooses_nothing() -> None:
    assert _select([_user("[[wireproof:text/hello#a]]", "developer")], "hi").script == "default"


def test_a_nonce_is_shared_by_its_turns_alone() -> None:
    nonces = Nonces()
    first, second, other = (
        _select([], f"[[wireproof:text/hello#{nonce}]]", nonces=nonces).nonce for nonce in ("a", "a", "b")
    )
    assert first is second
    assert first is not other


def test_an_unknown_script_is_a_problem_that_names_it() -> None:
    selection = _select([], "[[wireproof:text/helo#a]]")
    assert selection.problem is not None
    assert "text/helo" in selection.problem
    assert "did you mean text/hello" in selection.problem
    assert isinstance(selection.parts[0][0], Fail)


def test_a_marker_that_is_written_wrong_is_a_problem_too_wherever_it_is() -> None:
    for selection in (_select([], "[[wireproof:text/hello]]"), _select([_user("[[wireproof:text/hello]]")], "hi")):
        assert selection.problem is not None
        assert selection.problem.startswith("The marker [[wireproof:text/hello]] has no nonce; write [[wireproof:")
    assert _select([_user("[[wireproof:text/hello]]")], "[[wireproof:text/long#1]]").script == "text/long"


def test_of_very_many_scripts_some_are_named() -> None:
    many = {f"s{number}": LIBRARY["text/hello"] for number in range(25)}
    assert unknown_script("zzz", many).endswith(", s18, s19 and 5 more.")


def test_a_script_that_is_like_none_is_answered_with_all() -> None:
    assert unknown_script("zzz", {"a": LIBRARY["text/hello"], "b": LIBRARY["text/long"]}).endswith(
        "known scripts: a, b."
    )


PARTS = ((_call("1"), _call("2")), (Say(("x",)),), (_call("3"), Finish(), _call("late")), (Hang(),))


@pytest.mark.parametrize(
    ("answered", "seen", "part"),
    [
        (set(), 0, 0),
        (set(), 2, 2),
        (set(), 99, 3),
        ({"1"}, 0, 0),
        ({"1"}, 1, 1),
        ({"1", "2"}, 0, 1),
        ({"1", "2", "other"}, 5, 1),
        ({"1", "2", "3"}, 0, 3),
        ({"3"}, 0, 3),
        ({"late"}, 0, 0),
    ],
)
def test_results_in_the_history_choose_the_part_else_the_turns_seen(answered: set[str], seen: int, part: int) -> None:
    assert part_to_play(PARTS, answered, seen) == part


def test_the_turns_seen_under_a_nonce_are_those_of_the_same_script() -> None:
    nonces = Nonces()
    for script, said in (("call/steps", "One."), ("call/steps", "Two."), ("text/hello", "Three.")):
        _select([], f"[[wireproof:{script}#a]] {said}", nonces=nonces).begin()
    assert _select([], "[[wireproof:call/steps#a]]", nonces=nonces).first == 2
    assert _select([_result("call_search")], "[[wireproof:call/steps#a]]", nonces=nonces).first == 1
    assert _select([], "[[wireproof:call/steps#b]]", nonces=nonces).first == 0


def test_a_request_that_is_sent_again_is_answered_by_the_same_part() -> None:
    nonces = Nonces()
    first, history = (
        "[[wireproof:call/steps#a]] Go.",
        [_user("[[wireproof:call/steps#a]] Go."), _user("x", "assistant")],
    )

    def part(earlier: list[dict[str, Any]], said: str) -> int:
        selection = _select(earlier, said, nonces=nonces)
        selection.begin()
        return selection.first

    assert [part([], first) for _ in range(3)] == [0, 0, 0]
    assert [part(history, "On.") for _ in range(2)] == [1, 1]
    # Also one that comes late, after the conversation went on.
    assert part([], first) == 0
    assert part([], "[[wireproof:call/steps#b]] Go.") == 0


@pytest.mark.parametrize("sequence", ["no", "conversation", "endpoint"])
def test_each_choice_of_a_request_plays_its_own_where_a_condition_has_chosen(sequence: Any) -> None:
    choices = (((Say(("one",)),),), ((Say(("two",)),),))
    script = Script(name="own", title="", when="go", parts=choices[0], choices=choices, sequence=sequence)
    nonces = Nonces()
    played = []
    for choice in range(3):
        given = [{"type": "text", "text": "go"}]
        selection = select({"own": script}, nonces, history=[], given=given, tools=[], call_id="c", choice=choice)
        selection.begin()
        played.append(selection.parts)
    assert played == [choices[0], choices[1], choices[0]]


def test_the_choices_of_a_request_that_is_sent_again_are_those_of_the_first_time() -> None:
    nonces = Nonces()
    played = []
    for said in ("One.", "One.", "One.", "One.", "Two.", "Two."):
        selection = _select([], f"[[wireproof:choices/mixed#a]] {said}", nonces=nonces)
        selection.begin()
        played.append((selection.parts, selection.first))
    assert played[0][0] != played[1][0]
    assert played[:2] == played[2:4]
    assert [parts for parts, _ in played[4:]] == [parts for parts, _ in played[:2]]


def test_a_script_of_one_call_that_was_answered_is_over() -> None:
    assert _select([_result("call_one")], "[[wireproof:call/one#a]]").first == 1


WHEN = {
    "calls": Script(name="calls", title="", when="Weather", parts=((_call("w"),), (Say(("sunny",)),))),
    "later": Script(name="later", title="", when="weather in", parts=((Hang(),),)),
}


def test_a_users_script_is_chosen_by_the_last_user_message_in_any_case() -> None:
    assert _select([], "What WEATHER is it?", library=WHEN).script == "calls"
    assert _select([_user("weather")], "something else", library=WHEN).script == "default"
    assert _select([_user("weather"), _result("w")], None, library=WHEN).first == 1
    assert _select([_user("hi", "assistant")], None, library=WHEN).script == "default"


def test_a_users_script_goes_on_with_each_message_that_asks_for_it() -> None:
    history = [_user("weather"), _user("sunny", "assistant"), _user("weather", "assistant")]
    assert [_select(history[:some], "weather?", library=WHEN).first for some in (0, 3)] == [0, 1]


def test_without_any_of_them_the_default_answers() -> None:
    selection = _select([], "hello")
    assert (selection.script, selection.parts) == ("default", ((Say(("You", " said:", " hello")),),))


def test_a_tool_of_cursors_counts_as_a_call() -> None:
    parts = ((cursor.Read(id="r", path="a"), cursor.Shell(id="s", command="ls")), (Say(("done",)),))
    assert part_to_play(parts, {"r"}, 0) == 0
    assert part_to_play(parts, {"r", "s"}, 0) == 1


def test_a_script_with_a_step_of_cursors_is_for_that_mock_alone() -> None:
    own = Script(name="own", title="", parts=((Say(("a",)),), (cursor.Heartbeat(),)), when="go")
    selection = without_cursor(_select([], "go", library={"own": own}))
    assert (selection.parts, selection.script) == (((Fail(),),), "own")
    assert selection.problem == (
        "The script own is played by wireproof-cursor alone: Heartbeat: it is about the stream of Cursor's service."
    )
    other = _select([], "go", library={"own": Script(name="own", title="", parts=((Say(("a",)),),), when="go")})
    assert without_cursor(other) is other


def test_a_client_may_give_the_calls_of_a_condition_ids_of_its_own() -> None:
    script = Script(name="weather", title="", when="weather", parts=((_call("c1"),), (Say(("Sunny",)),)))
    library = {"weather": script}
    call = {"type": "function_call", "call_id": "own", "name": "f", "arguments": "{}"}
    asked = [_user("The weather?"), call, _result("own")]
    assert _select(asked, None, library=library).first == 1
    two = {"weather": replace(script, parts=((_call("c1"),), (_call("c2"),), (Say(("Sunny",)),)))}
    assert _select([*asked, {**call, "call_id": "next"}, _result("next")], None, library=two).first == 2
    other = {**call, "name": "g"}
    assert _select([_user("The weather?"), other, _result("own")], None, library=library).first == 0


def test_a_condition_may_hold_where_nothing_was_said() -> None:
    when = When(system=Words("contains", "pirate"))
    library = {"arr": Script(name="arr", title="", when=when, parts=((_call("c1"),), (Say(("Arr",)),)))}
    turn = select(library, Nonces(), history=[], given=[], tools=[], call_id="c", developer="You are a pirate.")
    assert (turn.script, turn.first) == ("arr", 0)
