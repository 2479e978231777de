from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex.turns.compaction import PROMPT
from wireproof_codex.versions.version import NEWEST
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.steps import (
    Call,
    Command,
    Fail,
    Finish,
    Hang,
    Library,
    Pause,
    Say,
    Script,
    Template,
    Usage,
)

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import MakeClient

SEARCH = Call(id="call_1", name="search", arguments="{}")
FULL = Fail("context-window")
RAW = {"experimentalRawEvents": True}
ON = (Say(("On",)),)


def _library(*parts: Any, notifications: Any = "v2") -> Library:
    scripts = [
        Script(name="a", title="", parts=parts, notifications=notifications),
        Script(name="b", title="", parts=((Say(("Hello",)),), (Say(("Again",)),))),
    ]
    return {script.name: script for script in scripts}


def items(received: Any, method: str = "item/started") -> list[str]:
    return [params["item"]["type"] for params in received.params_of(method)]


def counts(received: Any) -> list[tuple[int, int]]:
    """Total and last, as they were sent."""
    usages = [params["tokenUsage"] for params in received.params_of("thread/tokenUsage/updated")]
    return [(one["total"]["totalTokens"], one["last"]["totalTokens"]) for one in usages]


def full(make_client: MakeClient, *parts: Any, version: Any = NEWEST.number, **params: Any) -> Any:
    """A client, and its thread whose context is full."""
    client = make_client(_library((FULL,), *parts), version=version)
    thread = client.start_thread("search", **params)
    client.start_turn(thread, "[[wireproof:a#1]]")
    return client, thread


def test_a_turn_after_a_full_context_begins_with_a_summary(make_client: MakeClient) -> None:
    client, thread = full(make_client, (Say(("Sum", "mary")), Usage(input=40, output=5)), **RAW)
    _, received = client.start_turn(thread, "[[wireproof:b#1]]")
    assert items(received) == ["contextCompaction", "userMessage", "agentMessage"]
    assert items(received, "item/completed")[0] == "contextCompaction"
    assert received.text_deltas == ["Hello"]
    assert counts(received)[:2] == [(258_400, 258_400), (258_445, 45)]
    assert counts(received)[2] == (258_445, 5949 + 4 + 103)
    assert received.raw[0]["content"][0]["text"] == "Summary"
    assert received.params_of("thread/compacted") == received.params_of("warning") == []
    history = client.thread(thread).history
    assert [item["role"] for item in history[:3]] == ["user", "user", "user"]
    assert history[1]["content"][0]["text"].endswith("\nSummary")
    _, received = client.start_turn(thread, "[[wireproof:b#1]]")
    assert items(received) == ["userMessage", "agentMessage"]


@pytest.mark.parametrize(("used", "summed"), [(244_799, False), (244_800, True)])
def test_so_does_one_after_a_long_answer(make_client: MakeClient, used: int, summed: bool) -> None:  # noqa: FBT001
    client = make_client(_library((Say(("a",)), Usage(input=used, output=0)), ON))
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:a#1]]")
    _, received = client.start_turn(thread, "[[wireproof:b#1]]")
    assert ("contextCompaction" in items(received)) is summed


def test_a_turn_is_interrupted_for_a_summary_when_its_calls_are_answered(make_client: MakeClient) -> None:
    client = make_client(_library((SEARCH, Usage(input=300_000)), (Say(("Sum",)),), ON))
    client.play("[[wireproof:a#1]]", "search")
    received = client.answer(0)
    assert items(received) == ["contextCompaction", "agentMessage"]
    assert received.text_deltas == ["On"]
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "completed"


def test_templates_read_the_summary_as_what_the_user_said_last(make_client: MakeClient) -> None:
    template = Template("{user_text} Tool: {tool_result}.")
    client = make_client(_library((SEARCH, Usage(input=300_000)), (Say(("Sum",)),), (template,)))
    client.play("[[wireproof:a#1]]", "search")
    assert "".join(client.answer(0, "42").text_deltas).endswith("\nSum Tool: .")


def test_where_no_part_is_left_the_default_answer_is_the_summary(make_client: MakeClient) -> None:
    client = make_client(_library((SEARCH, Usage(input=300_000))))
    thread = client.start_thread("search")
    client.start_turn(thread, "[[wireproof:a#1]]")
    received = client.answer(0, "42 degrees")
    assert items(received, "item/completed") == ["dynamicToolCall", "contextCompaction"]
    assert "42 degrees" in client.thread(thread).history[1]["content"][0]["text"]


def test_input_that_came_meanwhile_is_received_after_the_summary(make_client: MakeClient) -> None:
    client = make_client(_library((SEARCH, Usage(input=300_000)), (Pause(1.0), Say(("Sum",))), ON))
    thread = client.start_thread("search")
    client.start_turn(thread, "[[wireproof:a#1]]")
    client.answer(0)
    _, received = client.start_turn(thread, "[[wireproof:b#1]]")
    assert received.methods == ["response"]
    received = client.wait(1.5)
    assert items(received) == ["userMessage", "agentMessage"]
    assert received.text_deltas == ["Hello"]


def test_so_is_input_that_came_before_a_turn_had_begun(make_client: MakeClient) -> None:
    client, thread = full(make_client, (Pause(1.0), Say(("Sum",))))
    client.start_turn(thread, "[[wireproof:b#1]]")
    client.start_turn(thread, "[[wireproof:b#2]]")
    received = client.wait(1.5)
    assert items(received) == ["userMessage", "userMessage", "agentMessage"]


def test_the_oldest_items_are_left_out_while_the_summary_is_too_long_itself(make_client: MakeClient) -> None:
    client, thread = full(make_client, *((FULL,) for _ in range(9)))
    _, received = client.start_turn(thread, "[[wireproof:b#1]]")
    assert counts(received)[:4] == [(258_400, 258_400)] * 4
    assert received.text_deltas == ["Hello"]


def test_a_script_for_summaries_plays_its_parts_in_turn(make_client: MakeClient) -> None:
    summing = Script(name="s", title="", when=PROMPT, parts=((FULL,), (Say(("Sum",)), Usage(input=1, output=1))))
    client = make_client({**_library((FULL,)), "s": summing})
    thread = client.start_thread()
    client.ask("thread/inject_items", {"threadId": thread, "items": []})
    client.start_turn(thread, "plain")
    _, received = client.ask("thread/compact/start", {"threadId": thread})
    assert counts(received) == [(18, 18), (18, 18), (20, 2), (20, 5949 + 2 + 101)]


def test_a_summary_that_is_too_long_without_any_item_fails_the_turn(make_client: MakeClient) -> None:
    summing = Script(name="s", title="", when=PROMPT, parts=((Fail("http-400-context"),),))
    client = make_client({"s": summing})
    thread = client.start_thread()
    _, received = client.ask("thread/compact/start", {"threadId": thread})
    assert received.params_of("error")[0]["error"]["codexErrorInfo"] == "contextWindowExceeded"
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "failed"


def test_a_turn_whose_summary_fails_fails_when_its_input_was_sent(make_client: MakeClient) -> None:
    client, thread = full(make_client, (Fail("http-500"),))
    _, received = client.start_turn(thread, "[[wireproof:b#1]]")
    assert items(received) == ["contextCompaction", "userMessage"]
    assert items(received, "item/completed") == ["userMessage"]
    assert received.methods[-1] == "turn/completed"
    assert counts(received) == []


def test_older_versions_do_not_tell_that_input(make_client: MakeClient) -> None:
    client, thread = full(make_client, (Fail("http-500"),), version="0.150.0")
    _, received = client.start_turn(thread, "[[wireproof:b#1]]")
    assert items(received) == ["contextCompaction"]


def test_a_summary_that_is_cut_off_was_paid_for(make_client: MakeClient) -> None:
    client, thread = full(make_client, (Say(("Sum",)), Usage(input=3, output=2), Finish("length")), **RAW)
    _, received = client.start_turn(thread, "[[wireproof:b#1]]")
    assert counts(received) == [(258_400, 258_400), (258_405, 258_400)]
    assert [item["role"] for item in received.raw] == ["user"]


def test_a_summary_can_be_asked_for(make_client: MakeClient) -> None:
    client = make_client(_library(ON, (Say(("Sum",)), Usage(input=1, output=1))))
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:a#1]]")
    result, received = client.ask("thread/compact/start", {"threadId": thread})
    assert result == {}
    assert [method for method in received.methods if not method.startswith(("thread/token", "account"))] == [
        "response",
        "thread/status/changed",
        "turn/started",
        "item/started",
        "item/completed",
        "thread/status/changed",
        "turn/completed",
    ]
    _, received = client.start_turn(thread, "[[wireproof:b#1]]")
    assert received.text_deltas == ["Hello"]


def test_what_a_model_calls_in_a_summary_is_sent_raw_and_nobody_is_asked(make_client: MakeClient) -> None:
    command = Command(id="call_2", command="ls")
    client = make_client(_library(ON, (SEARCH, command, Say(("Sum",)))))
    thread = client.start_thread("search", **RAW)
    client.start_turn(thread, "[[wireproof:a#1]]")
    _, received = client.ask("thread/compact/start", {"threadId": thread})
    assert received.tool_requests == []
    assert [item["type"] for item in received.raw] == ["function_call", "message"]
    assert items(received) == ["contextCompaction"]


def test_more_input_is_refused_while_a_summary_is_made_that_was_asked_for(make_client: MakeClient) -> None:
    client = make_client(_library(ON, (Hang(),)))
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:a#1]]")
    _, received = client.ask("thread/compact/start", {"threadId": thread})
    turn = received.params_of("turn/started")[0]["turn"]["id"]
    given = [{"type": "text", "text": "x"}]
    refused, _ = client.ask("turn/start", {"threadId": thread, "input": given})
    assert refused["code"] == -32603
    refused, _ = client.ask("turn/steer", {"threadId": thread, "expectedTurnId": turn, "input": given})
    assert refused["data"]["codexErrorInfo"] == {"activeTurnNotSteerable": {"turnKind": "compact"}}
    _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert received.methods == ["response", "thread/status/changed", "turn/completed"]
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "interrupted"


def test_a_turn_that_runs_makes_way_for_a_summary(make_client: MakeClient) -> None:
    client = make_client(_library((Say(("a",)), Hang()), (Say(("Sum",)),)))
    thread = client.start_thread(**RAW)
    client.start_turn(thread, "[[wireproof:a#1]]")
    _, received = client.ask("thread/compact/start", {"threadId": thread})
    assert [params["turn"]["status"] for params in received.params_of("turn/completed")] == ["interrupted", "completed"]
    assert "<turn_aborted>" not in str(received.raw)


def broken() -> ScriptError:
    return ScriptError("scripts.yaml", "line 1: what is this?")


def test_a_turn_without_input_begins_with_a_summary_too(make_client: MakeClient) -> None:
    client, thread = full(make_client, ON)
    _, received = client.start_turn(thread, None)
    assert items(received) == ["contextCompaction", "agentMessage"]


def test_scripts_that_cannot_be_read_any_more_are_played_on_after_a_summary(make_client: MakeClient) -> None:
    client = make_client(_library((SEARCH, Usage(input=300_000)), (Pause(1.0), Say(("Sum",)))))
    client.play("[[wireproof:a#1]]", "search")
    client.answer(0)
    client.context._library = broken
    assert client.wait(1.5).methods[-2:] == ["item/started", "item/tool/call"]


def test_scripts_that_cannot_be_read_fail_the_summary(make_client: MakeClient) -> None:
    client = make_client(_library(ON))
    thread = client.start_thread()
    client.context._library = broken
    _, received = client.ask("thread/compact/start", {"threadId": thread})
    assert "what is this?" in received.params_of("error")[0]["error"]["message"]


def test_older_versions_tell_and_warn_that_they_summed_up(make_client: MakeClient) -> None:
    client, thread = full(make_client, ON, version="0.107.0")
    _, received = client.start_turn(thread, "[[wireproof:b#1]]")
    assert received.events("item_completed")[0]["item"]["type"] == "ContextCompaction"
    assert received.events("context_compacted") == [{"type": "context_compacted"}]
    assert received.events("warning")[0]["message"].startswith("Heads up")
    assert len(received.params_of("thread/compacted")) == 1
    assert received.params_of("warning") == []
    assert counts(received)[-2][1] == counts(received)[-3][1]


def test_where_turn_start_reports_the_start_a_summary_that_was_asked_for_does_not(
    make_client: MakeClient,
) -> None:
    client = make_client(_library(ON), version="0.107.0")
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:a#1]]")
    _, received = client.ask("thread/compact/start", {"threadId": thread})
    assert received.params_of("turn/started") == []
    assert len(received.events("task_started")) == 1
    client, thread = full(make_client, (Hang(),), version="0.107.0")
    client.start_turn(thread, "[[wireproof:b#1]]")
    _, received = client.ask("thread/compact/start", {"threadId": thread})
    assert received.events("turn_aborted")[0]["reason"] == "replaced"


def test_a_story_is_summed_up_in_silence(make_client: MakeClient) -> None:
    client = make_client(_library((FULL,), ON, notifications="story"))
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:a#1]]")
    _, received = client.start_turn(thread, "[[wireproof:a#1]]")
    assert items(received)[0] == "contextCompaction"
    assert received.deltas == ["On"]
