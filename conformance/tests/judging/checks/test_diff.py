from __future__ import annotations

import pytest

from wireproof.judging.checks.diff import BLANKS, CUT, GONE, MORE, difference, difference_in, is_object, torn


@pytest.mark.parametrize(
    ("want", "got", "said"),
    [
        ("Hello", "Help", 'the first difference is at character 3: "Help" instead of "Hello"'),
        ("Hello", "Hell", 'its last character is missing: "o"'),
        ("Hello", "Hello!", 'its last character is too many: "!"'),
        ("Hello", "Hello, you", 'its last 5 characters are too many: ", you"'),
        ("", "x", 'it should be empty, it is "x"'),
        ("Hello", "", 'it is empty, it should be "Hello"'),
        ("Hello", "Hell, no", "8 characters instead of 5; the first difference is at character 4"),
        ("a\x1bb\u202ec", "a\x1bb\u202ed", r'"a\u001bb\u202ed" instead of "a\u001bb\u202ec"'),
        ("a" * 50 + "b", "a" * 50 + "c", 'at character 50: "aaaaaaaaaac" instead of "aaaaaaaaaab"'),
        ("é\n", "é\r", r'"é\r" instead of "é\n"'),
    ],
)  # fmt: skip
def test_the_first_difference_is_reported_with_what_stands_around_it(want: str, got: str, said: str) -> None:
    assert said in difference(want, got)


@pytest.mark.parametrize(
    ("want", "got", "is_torn"),
    [("é", "\ufffd\ufffd", True), ("é", "e", False), ("\ufffd", "\ufffd", False), ("\ufffd", "\ufffd\ufffd", True)],
)
def test_a_text_is_torn_when_it_holds_replacements_that_were_never_said(want: str, got: str, *, is_torn: bool) -> None:
    assert torn(want, got) is is_torn


@pytest.mark.parametrize(
    ("got", "kind"),
    [
        ("Saidonce.", BLANKS), ("Said once.\n", BLANKS), ("Said", CUT), ("S", CUT), ("Said once. Bye!", MORE),
        ("Said Said once.once.", MORE), ("Said one.", ""), ("id once.", ""), ("Sad", ""), ("", GONE),
        ("Once more.", ""),
    ],
)  # fmt: skip
def test_a_difference_has_a_name_where_nothing_else_is_wrong(got: str, kind: str) -> None:
    assert difference_in("Said once.", got) == kind


@pytest.mark.parametrize(("text", "yes"), [('{"a": 1}', True), ("{}", True), ("[]", False), ("", False), ("{", False)])
def test_a_json_object_is_one(text: str, *, yes: bool) -> None:
    assert is_object(text) is yes
