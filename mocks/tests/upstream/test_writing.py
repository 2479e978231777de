"""Every event is what the published schema of the API says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from wireproof_mocks.upstream.failing import FAILURES, HttpRefusal
from wireproof_mocks.upstream.playable import LIMITS
from wireproof_mocks.upstream.writing import counts, frame
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Call, Fail, Finish, Say, Script, Think, Usage, WebSearch

Make = Callable[..., Any]

SCHEMAS = Path(__file__).parents[3] / "schemas" / "openai"


def _validator(name: str) -> Draft202012Validator:
    schemas = [json.loads(path.read_text(encoding="utf-8")) for path in SCHEMAS.glob("*.json")]
    known: Registry[Any] = Registry().with_resources(
        [(schema["$id"], Resource.from_contents(schema)) for schema in schemas]
    )
    (schema,) = (schema for schema in schemas if schema["title"] == name)
    return Draft202012Validator(schema, registry=known)


EVENT = _validator("response.stream")
PLAYED = [script for script in LIBRARY.values() if not LIMITS.why_unplayable(script) and script.name != "text/long"]


@pytest.mark.each("script", PLAYED, ids=[script.name for script in PLAYED])
def test_every_script_is_sent_in_valid_events(model: Any, script: Script) -> None:
    events = model.play(f"[[wireproof:{script.name}#n]]").events
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [error for event in events for error in EVENT.iter_errors(_published(event))] == []


@pytest.mark.parametrize("cause", [cause for cause, way in FAILURES.items() if not isinstance(way, HttpRefusal)])
def test_failures_are_sent_in_valid_events(make_model: Make, cause: str) -> None:
    events = make_model(Say(("a",)), Fail(cause)).play("[[wireproof:s#n]]").events
    assert [error for event in events for error in EVENT.iter_errors(_published(event))] == []


def _published(event: dict[str, Any]) -> dict[str, Any]:
    """The event with a published code: Codex knows codes of its own service, which the API does not publish."""
    match event:
        case {"response": {"error": {"code": str()} as error} as response}:
            return {**event, "response": {**response, "error": {**error, "code": "server_error"}}}
    return event


def test_a_text(make_model: Make) -> None:
    sent = make_model(Say(("Hel", "lo")), Usage(input=3, cached=1, output=2, reasoning=1)).play("[[wireproof:s#n]]")
    assert sent.types == [
        "created", "in_progress", "output_item.added", "content_part.added", "output_text.delta", "output_text.delta",
        "output_text.done", "content_part.done", "output_item.done", "completed",
    ]  # fmt: skip
    assert sent.over
    (message,) = sent.last["output"]
    assert message["content"][0]["text"] == sent.text == "Hello"
    assert sent.last["usage"] == counts(Usage(input=3, cached=1, output=2, reasoning=1))
    assert sent.last["usage"]["total_tokens"] == 5


def test_a_text_without_deltas_and_counts(make_model: Make) -> None:
    sent = make_model(Say(("a",)), Say(("Hel", "lo"), whole=True), Usage(unknown=True)).play("[[wireproof:s#n]]")
    assert [item["content"][0]["text"] for item in sent.last["output"]] == ["a", "Hello"]
    assert sent.types[-2:] == ["output_item.done", "completed"]
    assert (sent.text, sent.last["usage"]) == ("a", None)
    assert [error for event in sent.events for error in EVENT.iter_errors(event)] == []


def test_a_search_is_an_item_that_the_service_completes_itself(make_model: Make) -> None:
    sent = make_model(Say(("a",)), WebSearch(id="ws_1", query="herons"), Say(("b",))).play("[[wireproof:s#n]]")
    assert [item["type"] for item in sent.last["output"]] == ["message", "web_search_call", "message"]
    search = sent.last["output"][1]
    assert (search["id"], search["status"], search["action"]["query"]) == ("ws_1", "completed", "herons")
    assert [kind for kind in sent.types if kind.startswith("web_search_call")] == [
        "web_search_call.in_progress",
        "web_search_call.searching",
        "web_search_call.completed",
    ]
    assert [error for event in sent.events for error in EVENT.iter_errors(event)] == []


@pytest.mark.parametrize("space", ["mcp__mini__", "mcp__mini"])
def test_a_tool_of_a_server_is_called_as_the_request_declares_it(make_model: Make, space: str) -> None:
    call = Call(id="c", name="mcp__mini__echo", arguments="{}")
    tools = [{"type": "namespace", "name": space, "tools": [{"type": "function", "name": "echo"}]}]
    (called,) = make_model(call).play("[[wireproof:s#n]]", tools=tools).last["output"]
    assert (called["name"], called["namespace"]) == ("echo", space)
    (called,) = make_model(call).play("[[wireproof:s#n]]").last["output"]
    assert (called["name"], called.get("namespace")) == ("mcp__mini__echo", None)


def test_thoughts_and_calls_are_items_of_their_own(make_model: Make) -> None:
    call = Call(id="c", name="n", arguments='{"a": 1}', pieces=('{"a"', ": 1}"))
    sent = make_model(Say(("a",)), Think("hm"), Say(("b",)), call, Say(("c",))).play("[[wireproof:s#n]]")
    kinds = [item["type"] for item in sent.last["output"]]
    assert kinds == ["message", "reasoning", "message", "function_call", "message"]
    places = [event["output_index"] for event in sent.events if event["type"] == "response.output_item.done"]
    assert places == [0, 1, 2, 3, 4]
    deltas = [event["delta"] for event in sent.events if event["type"] == "response.function_call_arguments.delta"]
    assert deltas == ['{"a"', ": 1}"]
    assert sent.last["output"][3]["arguments"] == '{"a": 1}'
    assert sent.last["output"][3]["call_id"] == "c"


def test_thoughts_come_in_pieces_and_as_themselves(make_model: Make) -> None:
    sent = make_model(Think("hm, so", ("hm, ", "so"), ("a", "b"), "e")).play("[[wireproof:s#n]]")
    deltas = [(event["type"], event["delta"]) for event in sent.events if "delta" in event]
    assert deltas == [
        ("response.reasoning_summary_text.delta", "hm, "),
        ("response.reasoning_summary_text.delta", "so"),
        ("response.reasoning_text.delta", "a"),
        ("response.reasoning_text.delta", "b"),
    ]
    (item,) = sent.last["output"]
    assert item["content"] == [{"type": "reasoning_text", "text": "ab"}]
    assert item["encrypted_content"] == "e"


@pytest.mark.parametrize(("reason", "sent_as"), [("length", "max_output_tokens"), ("content_filter", "content_filter")])
def test_an_answer_that_is_cut_off(make_model: Make, reason: Any, sent_as: str) -> None:
    sent = make_model(Say(("a",)), Finish(reason)).play("[[wireproof:s#n]]")
    assert sent.types[-2:] == ["output_item.done", "incomplete"]
    assert sent.last["incomplete_details"] == {"reason": sent_as}


def test_a_frame() -> None:
    assert frame({"type": "t", "x": "ü\u2028"}) == 'event: t\ndata: {"type": "t", "x": "ü\u2028"}\n\n'.encode()
