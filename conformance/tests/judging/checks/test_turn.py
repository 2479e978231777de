from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.judging.checks import CHECKS
from wireproof.model.dialect import Dialect
from wireproof.reading.exchange import Exchange
from wireproof.scenarios.demands import SCHEMA
from wireproof.scenarios.turns import PIXEL

if TYPE_CHECKING:
    from wireproof.wire.violation import Violation

Make = Callable[..., Exchange]

DEVELOPER = "You are the keeper of the zebra archive."
SECOND = "Second question, about naïve bisons 🦬."


def item(role: str, text: str, kind: str = "input_text") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


HISTORY = [
    item("user", "First question, about alpacas."),
    item("assistant", "First answer, about alpacas.", "output_text"),
    item("user", SECOND),
    item("assistant", "Second answer, about bisons.", "output_text"),
]
INPUT = [{"type": "text", "text": "[[wireproof:reflect/received#n]] Third question: what have you received?"}]
CALL = ("call_search", "localSearch", "{}")
TOOLS = [{"name": "readNote"}, {"name": "getCurrentTime"}, {"name": "localSearch"}]
RESULTS = [
    {"type": "function_call", "call_id": "call_kiwi", "name": "localSearch", "arguments": '{"query": "kiwi"}'},
    {"type": "function_call", "call_id": "call_moa", "name": "readNote", "arguments": '{"notePath": "moa.md"}'},
    {"type": "function_call_output", "call_id": "call_moa", "output": "The moa is extinct."},
    {"type": "function_call_output", "call_id": "call_kiwi", "output": "The kiwi is not."},
]


@pytest.fixture
def seen(whole: Make) -> Callable[..., list[str]]:
    """What the check of a row says of an exchange in which the backend said that it had received this."""

    def check(row: str, scenario: str, *, dialect: Dialect = Dialect.OPENAI_JSON, **received: Any) -> list[str]:
        exchange = whole(scenario, json.dumps(received, ensure_ascii=False), dialect=dialect)
        violations: list[Violation] = list(CHECKS.look(f"turn.{row}", exchange))
        assert {violation.requirement for violation in violations} <= {f"turn.{row}"}
        assert all(violation.place is None for violation in violations)
        return [violation.seen for violation in violations]

    return check


Seen = Callable[..., list[str]]


def test_a_history_that_arrived_is_right(seen: Seen) -> None:
    assert seen("history-reaches-backend", "history", developer=DEVELOPER, history=HISTORY, input=INPUT) == []


def test_a_history_that_arrived_as_one_text_is_right(seen: Seen) -> None:
    flat = "\n".join([DEVELOPER, *(one["content"][0]["text"] for one in HISTORY)])
    assert seen("history-reaches-backend", "history", history=[{"type": "note", "content": flat}]) == []


@pytest.mark.parametrize("lost", range(4))
def test_a_message_that_is_lost_is_reported(seen: Seen, lost: int) -> None:
    history = HISTORY[:lost] + HISTORY[lost + 1 :]
    (said,) = seen("history-reaches-backend", "history", developer=DEVELOPER, history=history, input=INPUT)
    assert said.endswith("did not reach the backend (or not in its place)")
    assert HISTORY[lost]["content"][0]["text"][:20] in said


def test_messages_in_another_order_are_reported(seen: Seen) -> None:
    (said,) = seen("history-reaches-backend", "history", developer=DEVELOPER, history=HISTORY[::-1], input=INPUT)
    assert "(or not in its place)" in said


def test_a_system_message_that_is_lost_is_reported(seen: Seen) -> None:
    (said,) = seen("history-reaches-backend", "history", history=HISTORY, input=INPUT)
    assert said == f'the system message "{DEVELOPER}" did not reach the backend (or not in its place)'


def test_a_message_under_another_role_is_reported(seen: Seen) -> None:
    history = [{**one, "role": "user"} for one in HISTORY]
    (said,) = seen("history-reaches-backend", "history", developer=DEVELOPER, history=history, input=INPUT)
    assert said == 'the assistant message "First answer, about alpacas." reached the backend as user'


def test_the_role_of_the_systems_text_is_not_looked_at_here(seen: Seen) -> None:
    history = [item("user", DEVELOPER), *HISTORY]
    assert seen("history-reaches-backend", "history", history=history, input=INPUT) == []


def test_a_message_may_stand_in_the_turns_input(seen: Seen) -> None:
    texts = [{"type": "text", "text": one["content"][0]["text"]} for one in HISTORY]
    (said,) = seen("history-reaches-backend", "history", developer=DEVELOPER, input=texts)
    assert said == 'the assistant message "First answer, about alpacas." reached the backend as user'


def test_what_is_no_message_is_passed_over(seen: Seen) -> None:
    history = ["?", {"type": "reasoning"}, {"role": "user", "content": 7}, *HISTORY]
    assert seen("history-reaches-backend", "history", developer=DEVELOPER, history=history, input=["?"]) == []


def test_results_under_the_ids_of_their_calls_are_right(seen: Seen) -> None:
    assert seen("tool-result", "tool-results", history=RESULTS) == []


def test_results_in_parts_are_right(seen: Seen) -> None:
    parted = [
        {**one, "output": [{"type": "input_text", "text": one["output"]}]} if "output" in one else one
        for one in RESULTS
    ]
    assert seen("tool-result", "tool-results", history=parted) == []


def test_results_may_be_flattened_to_text(seen: Seen) -> None:
    flat = "[tool:call_moa] The moa is extinct.\n[tool:call_kiwi] The kiwi is not."
    assert seen("tool-result", "tool-results", history=[item("user", flat)]) == []


FLATTENED = {
    "brackets": "[Tool result for {id}]: {output}",
    "behind a role": "Assistant: [Called tool: localSearch({{}})]\nUser: [Tool result for {id}]: {output}",
    "names": "Tool result for {name}: {output}",
    "names and ids": "Tool result for {name}({id}): {output}",
    "headings": "### Tool result ({id})\n\n```\n{output}\n```",
    "elements": '<tool_result id="{id}">\n{output}\n</tool_result>',
    "JSON": '{{"role": "tool", "tool_call_id": "{id}", "content": "{output}"}}',
    "order": "Tool: {output}",
    "order, after elements": "<output>{output}</output>",
}
KIWI = {"id": "call_kiwi", "name": "localSearch", "output": "The kiwi is not."}
MOA = {"id": "call_moa", "name": "readNote", "output": "The moa is extinct."}


@pytest.mark.parametrize("form", FLATTENED)
def test_results_may_be_flattened_in_many_ways(seen: Seen, form: str) -> None:
    calls = "Assistant: [Called tool: localSearch({})]\n[Called tool: readNote({})]"
    right = [item("user", "\n\n".join([calls, *(FLATTENED[form].format_map(one) for one in (MOA, KIWI))]))]
    assert seen("tool-result", "tool-results", history=right) == []
    # The texts swapped: each is behind what says that it is the other's.
    wrong = ({**MOA, "output": KIWI["output"]}, {**KIWI, "output": MOA["output"]})
    swapped = [item("user", "\n\n".join([calls, *(FLATTENED[form].format_map(one) for one in wrong)]))]
    assert seen("tool-result", "tool-results", history=swapped)


@pytest.mark.parametrize("text", ["", "The moa is extinct. The kiwi is not.", "I said: The moa is extinct."])
def test_an_output_that_nothing_says_is_a_result_is_reported(seen: Seen, text: str) -> None:
    assert len(seen("tool-result", "tool-results", history=[item("user", text)])) == 2


def test_a_flattened_history_says_whose_each_message_is(seen: Seen) -> None:
    roles = ["User", "Assistant", "User", "Assistant"]
    texts = [one["content"][0]["text"] for one in HISTORY]
    for form in ("{}: {}", "### {}\n{}", "<{}>\n{}"):
        flat = "\n\n".join([DEVELOPER, *map(form.format, roles, texts)])
        assert seen("history-reaches-backend", "history", input=[{"type": "text", "text": flat}]) == []
        wrong = "\n\n".join([DEVELOPER, *map(form.format, ["User"] * 4, texts)])
        (said,) = seen("history-reaches-backend", "history", input=[{"type": "text", "text": wrong}])
        assert said == 'the assistant message "First answer, about alpacas." reached the backend as user'


def test_results_under_swapped_ids_are_reported(seen: Seen) -> None:
    swapped = [*RESULTS[:2], {**RESULTS[2], "call_id": "call_kiwi"}, {**RESULTS[3], "call_id": "call_moa"}]
    assert seen("tool-result", "tool-results", history=swapped) == [
        "the result of readNote (call_moa) did not reach the backend under its call's id",
        "the result of localSearch (call_kiwi) did not reach the backend under its call's id",
    ]


def test_a_result_without_an_id_is_reported(seen: Seen) -> None:
    bare = [*RESULTS[:3], {"type": "function_call_output", "output": "The kiwi is not."}]
    assert seen("tool-result", "tool-results", history=bare) == [
        "the result of localSearch (call_kiwi) did not reach the backend under its call's id"
    ]


RAIL = {"type": "function_call_output", "call_id": "call_rail", "output": "The rail hides."}


@pytest.mark.parametrize(
    "output",
    ["The rail hides.", [{"type": "input_text", "text": "The rail "}, {"type": "input_text", "text": "hides."}]],
)
def test_a_result_of_several_parts_is_right_as_a_whole(seen: Seen, output: Any) -> None:
    assert seen("tool-result", "tool-result-parts", history=[{**RAIL, "output": output}]) == []
    (said,) = seen("tool-result", "tool-result-parts", history=[{**RAIL, "output": output[:1]}])
    assert said == "the result of localSearch (call_rail) did not reach the backend under its call's id"


FUNCTIONS = [
    {"type": "function_call", "call_id": "call_f1", "name": "localSearch", "arguments": '{"query": "coot"}'},
    {"type": "function_call_output", "call_id": "call_f1", "output": "A note on coots."},
    {"type": "function_call", "call_id": "call_f2", "name": "readNote", "arguments": '{"notePath": "coot.md"}'},
    {"type": "function_call_output", "call_id": "call_f2", "output": "The coot is bald."},
]


def test_results_of_functions_stand_under_the_ids_of_their_calls(seen: Seen) -> None:
    assert seen("tool-result", "function-results", history=FUNCTIONS, dialect=Dialect.FUNCTION_CALL) == []
    lines = [f"[assistant called {one['name']}:{one['call_id']}]" for one in FUNCTIONS if "name" in one]
    lines += [f"[tool:{one['call_id']}] {one['output']}" for one in FUNCTIONS if "output" in one]
    flat = [item("user", "\n".join(lines))]
    assert seen("tool-result", "function-results", history=flat, dialect=Dialect.FUNCTION_CALL) == []


def test_results_of_functions_under_another_call_are_reported(seen: Seen) -> None:
    swapped = [{**one, "call_id": "call_f1"} if "output" in one else one for one in FUNCTIONS]
    assert seen("tool-result", "function-results", history=swapped, dialect=Dialect.FUNCTION_CALL) == [
        "the result of readNote (call_note) did not reach the backend under its call's id"
    ]


BITTERN = {
    "type": "function_call", "call_id": "call_bittern", "name": "localSearch",
    "arguments": '{ "query" : "caf\\u00e9", "n":1.50 }',
}  # fmt: skip
REEDS = [
    item("user", "What lives in the reeds?"),
    item("assistant", "I look into the bittern first.", "output_text"),
    BITTERN,
    {"type": "function_call_output", "call_id": "call_bittern", "output": "The bittern booms."},
    item("assistant", "The bittern does.", "output_text"),
]


def test_a_call_reaches_the_backend_as_it_was_made(seen: Seen) -> None:
    assert seen("history-reaches-backend", "history-calls", history=REEDS) == []
    flat = [REEDS[0], REEDS[1], item("user", f"[assistant called it] {BITTERN['arguments']}"), *REEDS[3:]]
    assert seen("history-reaches-backend", "history-calls", history=flat) == []


@pytest.mark.parametrize(
    "changed", [{"arguments": '{"query": "café", "n": 1.5}'}, {"name": "readNote"}, {"call_id": "call_other"}]
)
def test_a_call_that_reaches_the_backend_otherwise_is_reported(seen: Seen, changed: dict[str, str]) -> None:
    history = [{**one, **changed} if one is BITTERN else one for one in REEDS]
    (said,) = seen("history-reaches-backend", "history-calls", history=history)
    assert said.startswith("the call call_bittern of localSearch with ")
    assert said.endswith(" did not reach the backend unchanged")


def test_what_is_said_beside_a_call_is_part_of_the_history(seen: Seen) -> None:
    (said,) = seen("history-reaches-backend", "history-calls", history=[REEDS[0], *REEDS[2:]])
    assert said == (
        'the assistant message "I look into the bittern first." did not reach the backend (or not in its place)'
    )


def test_tools_in_their_order_are_right(seen: Seen) -> None:
    assert seen("tool-registry-order", "tool-registry", tools=TOOLS) == []


def test_tools_may_be_sent_in_words(seen: Seen) -> None:
    said = "You may use readNote, getCurrentTime and localSearch."
    assert seen("tool-registry-order", "tool-registry", developer=said) == []


@pytest.mark.parametrize("tools", [[], TOOLS[::-1], TOOLS[:2], [*TOOLS, {"name": "shell"}], ["readNote"]])
def test_other_tools_are_reported(seen: Seen, tools: list[Any]) -> None:
    (said,) = seen("tool-registry-order", "tool-registry", tools=tools, developer="localSearch, readNote")
    names = [tool["name"] for tool in tools if isinstance(tool, dict)]
    declared = ["readNote", "getCurrentTime", "localSearch"]
    assert said == f"the request declares {json.dumps(declared)}; the backend received {json.dumps(names)}"


def test_an_image_of_an_earlier_message_arrives_there(seen: Seen) -> None:
    image = {"type": "input_image", "image_url": PIXEL}
    right = [{"role": "user", "content": [image]}]
    assert seen("images", "images-earlier", history=right) == []
    (said,) = seen("images", "images-earlier", history=[item("user", "Look at this.")])
    assert said.endswith("did not reach the backend as an image")


def test_later_developer_and_system_text_is_developer_text(seen: Seen) -> None:
    late = ("Count in dozens from now on.", "Name the source of each number.")
    for role in ("developer", "system"):
        assert seen("system-prompt", "system-prompt-late", history=[item(role, text) for text in late]) == []
    said = seen("system-prompt", "system-prompt-late", history=[item("user", text) for text in late])
    assert [sentence[:20] for sentence in said] == ['the developer text "', 'the system text "Nam']


FORCED = [
    ("tool-choice-required", "Hello.", {}, "tool_choice demands a call of localSearch or readNote; the answer is text"),
    ("tool-choice-required", None, {"calls": [CALL]}, ""),
    (
        "tool-choice-named-unmet",
        None,
        {"calls": [CALL]},
        "of readNote; the answer calls localSearch",
    ),
    ("tool-choice-required-unmet", "Hello, world!", {}, 'the answer is text: "Hello, world!"'),
    ("tool-choice-none", "{}", {}, ""),
]


@pytest.mark.parametrize(("scenario", "content", "members", "wanted"), FORCED)
def test_a_call_that_was_demanded(whole: Make, scenario: str, content: Any, members: Any, wanted: str) -> None:
    exchange = whole(scenario, content, dialect=Dialect.OPENAI_JSON, **members)
    said = [violation.seen for violation in CHECKS.look("turn.tool-choice-forced", exchange)]
    assert [wanted in one for one in said] == [True] * bool(wanted)


@pytest.mark.parametrize(
    ("tools", "wanted"),
    [
        ([{"type": "function", "function": {"name": "localSearch"}}], ""),
        ([{"type": "function", "name": "localSearch"}], ""),
        ([{"type": "function", "function": {"name": "readNote"}}], "localSearch; the request declares readNote"),
        ([], "localSearch; the request declares no tools"),
    ],
)
def test_a_call_of_a_tool_that_is_not_declared(whole: Make, tools: list[Any], wanted: str) -> None:
    # What the script calls is not known here, as with a model.
    exchange = replace(whole("call-one", None, dialect=Dialect.OPENAI_JSON, calls=[CALL]), wanted=())
    sent = replace(
        exchange, transcript=replace(exchange.transcript, request_body=json.dumps({"tools": tools}).encode())
    )
    said = [violation.seen for violation in CHECKS.look("turn.calls-declared", sent)]
    assert [wanted in one for one in said] == [True] * bool(wanted)


@pytest.mark.parametrize(("declared", "found"), [("readNote", 0), ("localSearch", 1)])
def test_a_call_of_messages_of_a_tool_that_is_not_declared(declared: str, found: int, plain: Make) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "readNote", "input": {}}
    exchange = plain("messages-calls-declared", 200, json.dumps({"content": [call]}).encode(), dialect=Dialect.MESSAGES)
    body = json.dumps({"tools": [{"name": declared, "input_schema": {}}]}).encode()
    sent = replace(exchange, transcript=replace(exchange.transcript, request_body=body))
    assert len(list(CHECKS.look("turn.calls-declared", sent))) == found


def test_a_tool_that_the_backend_calls_by_itself_may_be_called(whole: Make) -> None:
    exchange = whole("call-one", None, dialect=Dialect.OPENAI_JSON, calls=[CALL])
    assert list(CHECKS.look("turn.calls-declared", exchange)) == []


@pytest.mark.parametrize(
    ("scenario", "content", "wanted"),
    [
        ("structured-schema", {"schema": SCHEMA}, ""),
        ("structured-schema", {"schema": None}, "did not reach the backend as its output schema, which is null"),
        ("structured-schema", {"schema": {"type": "object"}}, 'which is {"type": "object"}'),
        ("structured-schema", "Hello.", 'the request demands a JSON object; the answer is "Hello."'),
        ("structured-object", "Hello, world!", "the request demands a JSON object"),
        ("structured-object", {}, ""),
    ],
)
def test_an_answer_that_must_be_json(whole: Make, scenario: str, content: Any, wanted: str) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    said = [
        one.seen for one in CHECKS.look("turn.structured-output", whole(scenario, text, dialect=Dialect.OPENAI_JSON))
    ]
    assert [wanted in one for one in said] == [True] * bool(wanted)
