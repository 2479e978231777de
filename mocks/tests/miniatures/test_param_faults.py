from __future__ import annotations

import json
from typing import Any

import pytest

from wireproof_mocks.miniatures import FAULTS
from wireproof_mocks.miniatures.fault import Fault, FaultHead, SentRequest
from wireproof_mocks.miniatures.param_faults import PARAM_FAULTS

HI = {"role": "user", "content": "Hi"}
MENDED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("no-model-needed", {}, {"model": "codex"}),
    ("no-model-needed", {"model": 7}, {"model": 7}),
    ("no-messages-needed", {"messages": []}, {"messages": [HI]}),
    ("any-role-will-do", {"messages": [{"role": "wizard"}, HI]}, {"messages": [{"role": "user"}, HI]}),
    ("any-role-will-do", {"messages": "Hi"}, {"messages": "Hi"}),
    ("any-role-will-do", {"messages": ["Hi"]}, {"messages": ["Hi"]}),
    ("no-content-needed", {"messages": [{"role": "user"}, HI]}, {"messages": [{"role": "user", "content": ""}, HI]}),
    (
        "any-result-will-do",
        {"messages": [{"role": "tool", "content": "9"}]},
        {"messages": [{"role": "user", "content": "9"}]},
    ),
    (
        "any-result-will-do",
        {"messages": [HI, {"role": "tool", "tool_call_id": "a"}]},
        {"messages": [HI, {"role": "tool", "tool_call_id": "a"}]},
    ),
    ("yes-is-one-choice", {"n": True}, {"n": 1}),
    ("yes-is-one-choice", {"n": 2}, {"n": 2}),
    ("no-choices-is-one", {"n": 0}, {}),
    ("no-choices-is-one", {"n": 2}, {"n": 2}),
    ("choices-without-end", {"n": 129}, {"n": 1}),
    ("stream-by-any-word", {"stream": "yes"}, {"stream": True}),
    ("options-without-stream", {"stream_options": {"include_usage": True}}, {}),
    ("options-without-stream", {"stream": True, "stream_options": 7}, {"stream": True, "stream_options": 7}),
    (
        "temperature-by-any-word",
        {"model": "codex", "messages": [HI], "temperature": "hot"},
        {"model": "codex", "messages": [HI]},
    ),
    ("temperature-by-any-word", {"model": "other", "temperature": "hot"}, {"model": "other", "temperature": "hot"}),
    ("top-p-not-looked-at", {"top_p": 7}, {}),
    ("max-tokens-not-looked-at", {"max_tokens": 0}, {}),
    ("tools-of-any-type", {"tools": [{"type": "wand"}]}, {"tools": [{"type": "function"}]}),
    ("tools-of-any-type", {"tools": "all"}, {"tools": "all"}),
    ("functions-without-names", {"functions": [{}, {"name": "a"}]}, {"functions": [{"name": "a"}]}),
    ("functions-without-names", {}, {}),
    ("any-tool-choice-will-do", {"tool_choice": "sometimes"}, {"tool_choice": "auto"}),
    ("any-tool-choice-will-do", {"tool_choice": "none"}, {"tool_choice": "none"}),
    ("parallel-by-any-word", {"parallel_tool_calls": "yes"}, {"parallel_tool_calls": True}),
    ("format-by-any-word", {"response_format": "json"}, {}),
    ("unknown-fields-refused", {"frobnicate": 1}, {"frobnicate": 1, "n": 0}),
    ("unknown-fields-refused", {"n": 1}, {"n": 1}),
    ("empty-options-refused", {"stream_options": {}}, {"stream_options": 7}),
    ("empty-options-refused", {"stream_options": None}, {"stream_options": None}),
    ("null-tool-calls-refused", {"messages": [{"tool_calls": None}]}, {"messages": [{"tool_calls": None}], "n": 0}),
    ("null-tool-calls-refused", {"messages": [HI, {"tool_calls": []}]}, {"messages": [HI, {"tool_calls": []}]}),
    ("null-tool-calls-refused", {"messages": "Hi"}, {"messages": "Hi"}),
    ("many-tokens-refused", {"max_tokens": 32000}, {"max_tokens": 0}),
    ("many-tokens-refused", {"max_tokens": 100}, {"max_tokens": 100}),
]
BLAMED: list[tuple[str, str | None, dict[str, Any], str | None]] = [
    ("role-not-named", "messages[1].role", {}, "messages"),
    ("role-not-named", "messages[1].content", {}, "messages[1].content"),
    ("stream-before-n", "n", {"stream": "yes"}, "stream"),
    ("stream-before-n", "n", {}, "n"),
    ("tool-not-named", "tools[0].type", {}, "tools"),
    ("tool-not-named", None, {}, None),
]


@pytest.mark.each("fault", PARAM_FAULTS, ids=lambda fault: fault.name)
def test_each_fault_is_one_change_and_breaks_one_requirement(fault: Fault) -> None:
    changes = [fault.frames, fault.whole, fault.request, fault.head, fault.environ]
    assert len([change for change in changes if change]) == 1
    assert fault.breaks.startswith("param.")
    assert FAULTS[fault.name] is fault


@pytest.mark.parametrize(("name", "asked", "received"), MENDED)
def test_a_wrong_value_is_made_right(name: str, asked: dict[str, Any], received: dict[str, Any]) -> None:
    change = FAULTS[name].request
    assert change is not None
    assert change(asked) == received


@pytest.mark.parametrize(("name", "param", "asked", "sent"), BLAMED)
def test_an_error_names_another_field(name: str, param: str | None, asked: dict[str, Any], sent: str | None) -> None:
    change = FAULTS[name].whole
    assert change is not None
    request = SentRequest(method="POST", path="/v1/chat/completions", body=json.dumps(asked).encode(), key="")
    head = FaultHead(status="400 Bad Request", headers=[])
    assert change({"error": {"param": param}}, request, head) == {"error": {"param": sent}}


@pytest.mark.parametrize(("said", "left"), [("sometimes", {}), ("burst", None), (None, {})])
def test_an_unknown_policy_is_not_received(said: str | None, left: dict[str, str] | None) -> None:
    environ: dict[str, Any] = {} if said is None else {"HTTP_X_PROXY_STOP_AFTER_TOOLS": said}
    wanted = dict(environ) if left is None else left
    received = FAULTS["unknown-policy-is-the-default"].environ
    assert received is not None
    received(environ)
    assert environ == wanted
