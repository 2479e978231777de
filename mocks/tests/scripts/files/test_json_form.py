from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from wireproof_scripts.files.definitions import DEFINITIONS
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.json_form import script_from_json, script_to_json, step_from_json
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import (
    Call,
    Code,
    Crash,
    Cut,
    ErrorNotice,
    Fail,
    Finish,
    Gate,
    Hang,
    Open,
    Pause,
    Raw,
    Reflect,
    Repeat,
    Say,
    Script,
    Shape,
    Step,
    Surrogates,
    Think,
    Usage,
)

SENTINEL = Call(id="", name="f", arguments="", shape="sentinel")


@pytest.mark.each("script", LIBRARY.values(), ids=LIBRARY)
def test_every_script_of_the_library_survives_the_way_through_json(script: Script) -> None:
    assert script_from_json(json.loads(json.dumps(script_to_json(script)))) == script


@pytest.mark.parametrize(
    ("data", "step"),
    [
        ({"say": "Hello"}, Say(("Hello",))),
        ({"say": ["a", "b"]}, Say(("a", "b"))),
        ({"say": {"pieces": "x", "times": 3}}, Say(("x",), times=3)),
        ({"think": "hm"}, Think("hm")),
        ({"pause": 0.5}, Pause(0.5)),
        ({"pause": {"seconds": 1}}, Pause(1)),
        ({"gate": None}, Gate()),
        ({"gate": "door"}, Gate("door")),
        ({"gate": {"timeout": 1, "late": "shut"}}, Gate(timeout=1, late="shut")),
        ({"open": "door"}, Open("door")),
        ({"call": {"id": "1", "name": "f", "arguments": "{"}}, Call(id="1", name="f", arguments="{")),
        (
            {"call": {"id": "1", "name": "f", "arguments": {"a": ["é", 1]}}},
            Call(id="1", name="f", arguments='{"a": ["é", 1]}'),
        ),
        (
            {"code": {"id": "1", "source": "text(1)", "tool": "f", "arguments": {"a": 1}}},
            Code(id="1", source="text(1)", tool="f", arguments='{"a": 1}'),
        ),
        ({"usage": {"input": 5, "reasoning": 1}}, Usage(input=5, reasoning=1)),
        ({"finish": "length"}, Finish("length")),
        ({"fail": "http-429"}, Fail("http-429")),
        ({"crash": 3}, Crash(3)),
        ({"reflect": "turns"}, Reflect("turns")),
        ({"call": {"id": "", "name": "f", "arguments": "", "shape": "sentinel"}}, SENTINEL),
        (
            {
                "call": {
                    "id": "1",
                    "name": "f",
                    "arguments": "ab",
                    "also": "sentinel",
                    "pieces": ["a", "b"],
                    "choice": 1,
                }
            },
            Call(id="1", name="f", arguments="ab", also=("sentinel",), pieces=("a", "b"), choice=1),
        ),
        ({"say": {"pieces": "x", "choice": 0}}, Say(("x",), choice=0)),
        ({"say": {"pieces": "x", "choice": None}}, Say(("x",))),
        ({"error-notice": "cut"}, ErrorNotice("cut")),
        ({"repeat": 3}, Repeat(3)),
        ({"surrogates": {"text": "\U0001f600", "apart": True}}, Surrogates("\U0001f600", apart=True)),
        ({"cut": 3}, Cut((3,))),
        ({"cut": [1, 2]}, Cut((1, 2))),
        ({"raw": "\udcff"}, Raw("\udcff")),
        ("hang", Hang()),
        ("finish", Finish()),
        ("gate", Gate()),
    ],
)
def test_a_step_may_be_written_short(data: object, step: Step) -> None:
    assert step_from_json(data) == step


def test_a_script_may_have_no_title_and_a_when() -> None:
    script = script_from_json({"name": "a", "when": "hello", "parts": [["hang"]]})
    assert script == Script(name="a", title="", when="hello", parts=((Hang(),),))
    assert script_to_json(script) == {
        "name": "a",
        "title": "",
        "when": "hello",
        "notifications": "v2",
        "parts": [[{"hang": {}}]],
    }


def test_choices_stand_for_parts_too() -> None:
    script = script_from_json({"name": "a", "choices": [[["hang"]], [[{"say": "x"}]]]})
    assert (script.parts, script.choices[0]) == (((Hang(),),), ((Hang(),),))


def test_a_script_may_have_other_notifications_and_choices() -> None:
    data = {"name": "a", "notifications": "story", "parts": [["hang"]], "choices": [[["hang"]], [[{"say": "x"}]]]}
    script = script_from_json(data)
    assert (script.notifications, script.choices) == ("story", (((Hang(),),), ((Say(("x",)),),)))
    assert script_from_json(script_to_json(script)) == script


def test_what_is_none_false_or_an_empty_list_is_not_written() -> None:
    call = Call(id="1", name="f", arguments="{}")
    script = Script(name="a", title="", parts=((Say(("x",)), call),))
    say, written = script_to_json(script)["parts"][0]
    assert say == {"say": {"pieces": ["x"], "times": 1}}
    assert written == {"call": {"id": "1", "name": "f", "arguments": "{}", "shape": "native"}}


WHOLE = "a whole number from 0 to 2147483647"
CALL = {"id": "1", "name": "f", "arguments": "{}"}
SHAPES = ", ".join(get_args(Shape))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (1, "expected a step, an object with one key (its name), found 1"),
        (
            {"say": "a", "hang": None},
            (
                'expected a step, an object with one key (its name), found {"say": "a", "hang": null}'
                "; each step has a dash of its own"
            ),
        ),
        ({"sey": "a"}, 'there is no step "sey"; did you mean say?'),
        ({1: "a"}, "there is no step 1; known: " + ", ".join(DEFINITIONS)),
        ("zzz", 'there is no step "zzz"; known: ' + ", ".join(DEFINITIONS)),
        ({"say": None}, "say: pieces is missing, expected a text, or a list of texts"),
        ("say", "say: pieces is missing, expected a text, or a list of texts"),
        ({"say": []}, "say.pieces: expected a text, or a list of texts, found []"),
        ({"say": [1]}, "say.pieces: expected a text, or a list of texts, found [1]"),
        ({"say": "\ud800"}, 'say.pieces: expected a text, or a list of texts, found "\\ud800"'),
        ({"say": {"pieces": "a", "tims": 2}}, 'say: there is no field "tims"; did you mean times?'),
        ({"say": {"pieces": "a", "times": 0}}, "say.times: expected a whole number from 1 to 2147483647, found 0"),
        (
            {"say": {"pieces": ["ab", "c"], "times": 10**9, "whole": True}},
            "say.times: expected at most 67108864 in one step, found 3 characters, 1000000000 times",
        ),
        ({"think": 1.5}, "think.text: expected text, found 1.5 (in quotes it is text)"),
        ({"think": None}, "think: text is missing, expected text"),
        (
            {"code": {"id": "1", "source": "", "arguments": "{"}},
            'code.arguments: expected JSON, or a JSON object, found "{"',
        ),
        (
            {"pause": "1"},
            (
                'pause.seconds: expected a number of seconds from 0 to 1000000000, found "1"'
                " (without quotes it is a number)"
            ),
        ),
        ({"pause": -1}, "pause.seconds: expected a number of seconds from 0 to 1000000000, found -1"),
        ({"pause": 1e300}, "pause.seconds: expected a number of seconds from 0 to 1000000000, found 1e+300"),
        ({"pause": True}, "pause.seconds: expected a number of seconds from 0 to 1000000000, found true"),
        ({"pause": float("inf")}, "pause.seconds: expected a number of seconds from 0 to 1000000000, found Infinity"),
        ({"gate": ""}, 'gate.name: expected text that is not empty, found ""'),
        (
            {"call": "f"},
            (
                "call: expected an object with id, name, arguments, shape, also, pieces, late_id, unfinished, choice, "
                'fill, beside, found "f"'
            ),
        ),
        ({"code": "1"}, 'code: expected an object with id, source, tool, arguments, output, found "1"'),
        ({"call": {**CALL, "shape": "delta"}}, f'call.shape: expected one of {SHAPES}, found "delta"'),
        ({"call": {**CALL, "also": ["x"]}}, f'call.also: expected a list of shapes: {SHAPES}, found ["x"]'),
        ({"call": {**CALL, "late_id": 1}}, "call.late_id: expected true or false, found 1"),
        (
            {"call": {**CALL, "pieces": ["{", "]"]}},
            'call.pieces: joined they must be the arguments, found "{]"',
        ),
        (
            {"call": {**CALL, "shape": "use-tool", "pieces": ["{", "]"]}},
            'call.pieces: joined they must be the arguments, or the call\'s textual block, found "{]"',
        ),
        (
            {"plan": {"id": "p", "steps": ["look", "write"], "done": 3}},
            "plan.done: expected at most 2, the number of steps, found 3",
        ),
        ({"call": {**CALL, "id": ""}}, "call.id: a native call and a late id need text that is not empty"),
        (
            {"call": {**CALL, "id": "", "shape": "responses-events", "late_id": True}},
            "call.id: a native call and a late id need text that is not empty",
        ),
        ({"say": {"pieces": "a", "choice": -1}}, f"say.choice: expected {WHOLE}, found -1"),
        ({"cut": []}, "cut.sizes: expected a number of bytes from 1 to 2147483647, or a list of them, found []"),
        (
            {"cut": [1, 0]},
            "cut.sizes: expected a number of bytes from 1 to 2147483647, or a list of them, found [1, 0]",
        ),
        ({"raw": "\ud800"}, 'raw.text: expected text, found "\\ud800"'),
        (
            {"call": {"id": "1", "name": "f"}},
            "call: arguments is missing, expected text, or a JSON object",
        ),
        (
            {"call": {"id": "1", "name": "f", "arguments": 5}},
            "call.arguments: expected text, or a JSON object, found 5 (in quotes it is text)",
        ),
        ({"usage": {"input": 1.5}}, f"usage.input: expected {WHOLE}, found 1.5"),
        ({"usage": {"input": True}}, f"usage.input: expected {WHOLE}, found true"),
        (
            {"finish": "lenght"},
            'finish.reason: expected one of stop, length, content_filter, found "lenght"; did you mean length?',
        ),
        ({"finish": "xxxxx"}, 'finish.reason: expected one of stop, length, content_filter, found "xxxxx"'),
        ({"hang": 3}, "hang: expected nothing, found 3"),
        ({"hang": {"a": 1}}, 'hang: there is no field "a"; known: none'),
        ({"crash": "x" * 80}, f'crash.status: expected an exit status from 0 to 255, found "{"x" * 59}…'),
        ({"usage": {"input": 2**31}}, f"usage.input: expected {WHOLE}, found 2147483648"),
        (
            {"unknown-exec": 2**29},
            "unknown-exec.number: expected a field's number from 1 to 536870911, found 536870912",
        ),
        (
            {"refuse": {"status": 700}},
            "refuse.status: expected an HTTP status from 200 to 599, found 700",
        ),
    ],
)
def test_a_wrong_step_is_refused_with_its_place_and_what_would_be_right(data: object, message: str) -> None:
    with pytest.raises(ScriptError) as caught:
        step_from_json(data)
    assert str(caught.value) == message


def test_an_unknown_failure_is_refused_with_the_closest() -> None:
    with pytest.raises(ScriptError, match=r'found "http-501"; did you mean http-50[0-9]\?$'):
        step_from_json({"fail": "http-501"})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "s: expected a script: name, title, parts, found []"),
        ({}, "s: name is missing"),
        ({"name": "a"}, "s: parts is missing: what each turn plays (or choices, for requests of several)"),
        ({"name": "a", "part": []}, 's: there is no field "part"; did you mean parts?'),
        ({"name": "a b", "parts": [[]]}, 's.name: letters, digits and . _ / - only, found "a b"; did you mean a-b?'),
        ({"name": " ", "parts": [[]]}, 's.name: letters, digits and . _ / - only, found " "'),
        ({"name": "a", "parts": []}, "s.parts: expected a list of parts, each a list of steps, found []"),
        (
            {"name": "a", "parts": [{"say": "x"}]},
            's.parts[0]: expected a list of steps, found {"say": "x"}; a part is a list: one dash more',
        ),
        ({"name": "a", "parts": [3]}, "s.parts[0]: expected a list of steps, found 3"),
        (
            {"name": "a", "parts": [[{"status": 500}, {"usage": {}}]]},
            (
                "s.parts[0][1].usage: usage is never played: status before it ends the answer; what answers the next "
                "request is a part of its own, with `sequence`"
            ),
        ),
        ({"name": "a", "parts": [[], ["hang", "hong"]]}, 's.parts[1][1]: there is no step "hong"; did you mean hang?'),
        ({"name": "a", "title": None, "parts": [[]]}, "s.title: expected text, found nothing"),
        (
            {"name": "a", "notifications": "v3", "parts": [[]]},
            's.notifications: expected one of v2, story, nested, double, found "v3"',
        ),
        (
            {"name": "a", "parts": [[]], "choices": []},
            "s.choices: expected a list of choices, each a list of parts, found []",
        ),
        (
            {"name": "a", "parts": [[]], "choices": [[]]},
            "s.choices[0]: expected a list of parts, each a list of steps, found []",
        ),
        (
            {"name": "a", "parts": [[]], "choices": [[["x"]]]},
            's.choices[0][0][0]: there is no step "x"; known: ' + ", ".join(DEFINITIONS),
        ),
        (
            {"name": "a", "parts": [[], ["hang", {"say": "x"}, {"status": 500}]]},
            "s.parts[1][2].status: status must come before the answer begins, and say is sent first; move it up",
        ),
        ({"name": "a", "when": "", "parts": [[]]}, 's.when: expected text that is not empty, found ""'),
    ],
)
def test_a_wrong_script_is_refused_with_its_place_and_what_would_be_right(data: Any, message: str) -> None:
    with pytest.raises(ScriptError) as caught:
        script_from_json(data, "s")
    assert str(caught.value) == message
