from __future__ import annotations

from typing import Any

import pytest

from assay_scripts.library import LIBRARY
from assay_scripts.nonces import Nonces
from assay_scripts.selection import Casting, cast, part_to_play, unknown_script
from assay_scripts.steps import Call, Fail, Finish, Hang, Say, Script


def _call(identity: str) -> Call:
    return Call(id=identity, name="f", arguments="{}")


def _user(text: str, role: str = "user") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def _result(call: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call, "output": ""}


def _cast(
    history: list[dict[str, Any]],
    text: str | None,
    *,
    library: dict[str, Script] | None = None,
    nonces: Nonces | None = None,
) -> Casting:
    given = [] if text is None else [{"type": "text", "text": text}]
    return cast(
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
        casting = _cast([], "[[assay:choices/text#a]]", nonces=nonces)
        said.append(casting.parts[0][0])
        casting.nonce.begin(casting.script, casting.first)
    assert said[0] == said[2] != said[1] == said[3]


def test_a_call_without_an_id_is_known_by_its_tool() -> None:
    untold = Call(id="", name="f", arguments="{}", shape="delta-tool-calls")
    in_text = Call(id="x", name="f", arguments="{}", shape="use-tool")
    for call in (untold, in_text):
        parts = ((call,), (Say(("x",)),))
        assert part_to_play(parts, {"call_9", "tool f"}, 0) == 1
        assert part_to_play(parts, {"x", "tool g"}, 0) == 0


def test_the_words_of_a_script_are_those_of_its_turns() -> None:
    assert _cast([], "[[assay:shapes/a#a]]").told == "story"
    library = {"a": Script(name="a", title="", when="hi", told="double", parts=((),))}
    assert _cast([], "hi", library=library).told == "double"


def test_the_marker_in_the_input_is_the_one() -> None:
    casting = _cast([_user("[[assay:text/long#old]]")], "hi [[assay:text/hello#a]]")
    assert (casting.script, casting.parts, casting.first) == ("text/hello", LIBRARY["text/hello"].parts, 0)


def test_without_one_in_the_input_the_last_in_the_history_counts() -> None:
    history = [_user("[[assay:text/long#a]]"), _user("[[assay:text/hello#a]]"), _user("no marker", "assistant")]
    assert _cast(history, "go on").script == "text/hello"
    assert _cast(history, None).script == "text/hello"


def test_developer_text_chooses_nothing() -> None:
    assert _cast([_user("[[assay:text/hello#a]]", "developer")], "hi").script == "default"


def test_a_nonce_is_shared_by_its_turns_alone() -> None:
    nonces = Nonces()
    first, second, other = (
        _cast([], f"[[assay:text/hello#{nonce}]]", nonces=nonces).nonce for nonce in ("a", "a", "b")
    )
    assert first is second
    assert first is not other


def test_an_unknown_script_is_trouble_that_names_it() -> None:
    casting = _cast([], "[[assay:text/helo#a]]")
    assert casting.trouble is not None
    assert "text/helo" in casting.trouble.message
    assert "did you mean text/hello" in casting.trouble.message
    assert casting.trouble.info == "badRequest"
    assert isinstance(casting.parts[0][0], Fail)


def test_a_marker_that_is_written_wrong_is_trouble_too_wherever_it_stands() -> None:
    for casting in (_cast([], "[[assay:text/hello]]"), _cast([_user("[[assay:text/hello]]")], "hi")):
        assert casting.trouble is not None
        assert casting.trouble.message.startswith("The marker [[assay:text/hello]] has no nonce; write [[assay:")
        assert casting.trouble.info == "badRequest"
    assert _cast([_user("[[assay:text/hello]]")], "[[assay:text/long#1]]").script == "text/long"


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
    for script in ("call/steps", "call/steps", "text/hello"):
        casting = _cast([], f"[[assay:{script}#a]]", nonces=nonces)
        casting.nonce.begin(casting.script, casting.first)
    assert _cast([], "[[assay:call/steps#a]]", nonces=nonces).first == 2
    assert _cast([_result("call_search")], "[[assay:call/steps#a]]", nonces=nonces).first == 1
    assert _cast([], "[[assay:call/steps#b]]", nonces=nonces).first == 0


def test_a_script_of_one_call_that_was_answered_is_over() -> None:
    assert _cast([_result("call_one")], "[[assay:call/one#a]]").first == 1


WHEN = {
    "calls": Script(name="calls", title="", when="Weather", parts=((_call("w"),), (Say(("sunny",)),))),
    "later": Script(name="later", title="", when="weather in", parts=((Hang(),),)),
}


def test_a_users_script_is_chosen_by_the_last_user_message_in_any_case() -> None:
    assert _cast([], "What WEATHER is it?", library=WHEN).script == "calls"
    assert _cast([_user("weather")], "something else", library=WHEN).script == "default"
    assert _cast([_user("weather"), _result("w")], None, library=WHEN).first == 1
    assert _cast([_user("hi", "assistant")], None, library=WHEN).script == "default"


def test_a_users_script_goes_on_with_each_message_that_asks_for_it() -> None:
    history = [_user("weather"), _user("sunny", "assistant"), _user("weather", "assistant")]
    assert [_cast(history[:some], "weather?", library=WHEN).first for some in (0, 3)] == [0, 1]


def test_without_any_of_them_the_default_answers() -> None:
    casting = _cast([], "hello")
    assert (casting.script, casting.parts) == ("default", ((Say(("You", " said:", " hello")),),))
