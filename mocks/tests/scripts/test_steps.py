from __future__ import annotations

from wireproof_scripts.steps import Call, ErrorNotice, Fail, Finish, Raw, Say, Step, ends_turn


def test_the_text_of_a_say_is_all_it_says() -> None:
    assert Say(("a", "b"), times=2).text == "abab"


def test_a_turn_ends_with_a_finish_of_no_choice_or_a_failure() -> None:
    ends: list[Step] = [Finish(), Finish("length"), Fail()]
    others: list[Step] = [Finish("stop", choice=0), Say(("x",)), ErrorNotice()]
    assert [ends_turn(step) for step in (*ends, *others)] == 3 * [True] + 3 * [False]


def test_a_raw_line_may_hold_any_bytes() -> None:
    assert Raw("\udcff é").line == b"\xff \xc3\xa9\n"
    assert Raw("ab", times=3).line == b"ababab\n"


def test_a_call_is_sent_in_its_shape_and_then_in_the_others() -> None:
    call = Call(id="1", name="f", arguments="", shape="use-tool", also=("native",))
    assert call.shapes == ("use-tool", "native")
