"""Each persona against the reference proxy, and against a proxy with one fault that its client cannot live with."""

from __future__ import annotations

import io
import secrets
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from wireproof.targets.launch import executable, launch
from wireproof_cursor.serving import serving
from wireproof_endpoint.journal.requests import SeenRequests
from wireproof_endpoint.serving import endpoint_of, running
from wireproof_endpoint.settings import EndpointSettings
from wireproof_mocks.personas import PERSONAS
from wireproof_mocks.personas.approval.asking import never
from wireproof_mocks.personas.conversation import PersonaConversation
from wireproof_mocks.personas.endpoint import EndpointAddress, UnreachableError
from wireproof_mocks.personas.line import Line, LineKind
from wireproof_mocks.personas.persona import Wishes
from wireproof_mocks.personas.running import PersonaRun, run
from wireproof_scripts.files.json_form import script_from_json
from wireproof_scripts.library import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_mocks.personas.conversation import ConversationOutcome
    from wireproof_mocks.personas.persona import Persona

KEY = "key of the tests"
SETTINGS = {
    "PROXY_OUTPUT_MODE": "openai-json",
    "PROXY_STOP_AFTER_TOOLS_MODE": "burst",
    "PROXY_API_KEY": KEY,
}
NONE = "none"
"""The miniature without a fault: the reference proxy."""


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    """The address below which every miniature is served under its name."""
    with launch([sys.executable, "-m", "wireproof_mocks.miniatures"], env=SETTINGS, without="PROXY_") as served:
        yield served.base_url.removesuffix("/v1")


@pytest.fixture(scope="module", params=["run", "run-sse"])
def cursor(request: pytest.FixtureRequest) -> Iterator[str]:
    """The base URL of the reference proxy in front of the mock of Cursor's agent service, by each transport."""
    with serving(LIBRARY) as service:
        agent = {"CURSOR_BASE_URL": service.url, "CURSOR_TOKEN": "any", "CURSOR_TRANSPORT": request.param}
        env = {**SETTINGS, **agent, "PROXY_BACKEND": "cursor", "PROXY_MODELS": "codex"}
        with launch([executable("wireproof-proxy")], env=env, without="PROXY_") as served:
            yield served.base_url


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The base URL of the mock endpoint, which plays the scripts without a proxy."""
    with launch([sys.executable, "-m", "wireproof_endpoint", "--port", "{port}", "--api-key", KEY], env={}) as served:
        yield served.base_url


def hold(
    root: str, persona: Persona, fault: str = NONE, lines: list[Line] | None = None, **wanted: str | bool
) -> ConversationOutcome:
    """Hold the persona's conversation with a miniature."""
    return hold_at(f"{root}/{fault}/v1", persona, lines=lines, **wanted)


def hold_at(
    url: str, persona: Persona, *, lines: list[Line] | None = None, **wanted: str | bool
) -> ConversationOutcome:
    """Hold the persona's conversation at a base URL."""
    said: list[Line] = [] if lines is None else lines
    endpoint = EndpointAddress(
        url=url, model="codex", key=KEY, timeout=20, headers={"x-proxy-output-mode": persona.mode}
    )
    asked = PersonaRun(**{"approve": "always", **wanted})  # type: ignore[arg-type]
    return run(persona, endpoint, asked, said.append, Console(file=io.StringIO()))


@pytest.mark.parametrize("whole", [False, True], ids=["stream", "whole"])
@pytest.mark.parametrize("persona", PERSONAS.values(), ids=PERSONAS)
def test_the_reference_proxy_serves_it(root: str, persona: Persona, *, whole: bool) -> None:
    outcome = hold(root, persona, whole=whole)
    assert outcome.served, outcome.why
    parts = len(LIBRARY[persona.script].parts)
    assert outcome.requests in {parts, parts + 1}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("whole", [False, True], ids=["stream", "whole"])
@pytest.mark.parametrize("persona", PERSONAS.values(), ids=PERSONAS)
def test_the_reference_proxy_serves_it_in_front_of_a_cursor_agent(
    cursor: str, persona: Persona, *, whole: bool
) -> None:
    outcome = hold_at(cursor, persona, whole=whole)
    assert outcome.served, outcome.why


@pytest.mark.parametrize("persona", PERSONAS.values(), ids=PERSONAS)
def test_the_mock_endpoint_serves_it(endpoint: str, persona: Persona) -> None:
    outcome = hold_at(endpoint, persona)
    assert outcome.served, outcome.why


def test_what_stops_it_is_said_without_what_a_terminal_would_obey() -> None:
    call = {"id": "c", "name": "\x1b[31mred", "arguments": "{"}
    script = script_from_json({"name": "odd", "when": "go", "parts": [[{"call": call}]]})
    with running(endpoint_of(EndpointSettings(), lambda: {"odd": script})) as url:
        outcome = hold_at(url, PERSONAS["opencode"], say="go")
    assert outcome.why == r"the arguments of \x1b[31mred are no JSON: {"


def test_half_a_character_goes_back_as_it_came() -> None:
    call = {"id": "c", "name": "read", "arguments": {"filePath": "README.md"}}
    half = r'{"choices": [{"index": 0, "delta": {"content": "cut: \ud83d"}}]}'
    parts = [[{"frame": half}, {"call": call}], [{"say": "done"}]]
    script = script_from_json({"name": "half", "when": "go", "parts": parts})
    with running(endpoint := endpoint_of(EndpointSettings(), lambda: {"half": script})) as url:
        outcome = hold_at(url, PERSONAS["opencode"], say="go")
    assert (outcome.why, outcome.text) == ("the conversation came to its end after 2 requests", "done")
    [_, again] = SeenRequests(endpoint.journal.entries)
    assert again.body["messages"][-2]["content"] == "cut: \ud83d"


FAILS = {
    ("obsidian-copilot-xml", "quotes-escaped"): """salientTerms='[&quot;R&D&quot;, &quot;costs&quot;]')""",
    ("obsidian-copilot-xml", "stream-without-blocks"): "this client looks for <use_tool> in the content",
    ("obsidian-copilot", "no-role"): "no role came before the calls: this client drops them",
    ("obsidian-copilot", "call-without-index"): "a fragment of a call has no index",
    (
        "obsidian-copilot-functions",
        "functions-called-as-tools",
    ): "no function_call with the finish_reason 'function_call'",
    ("chatgpt-md", "cumulative-arguments"): "the arguments of vault_search are no JSON",
    ("chatgpt-md", "call-without-id"): "call 0 opens without its id: its result could not be sent back",
    ("chatgpt-md-today", "done-with-empty-arguments"): "the client got vault_search()",
    ("chatgpt-md-today", "no-terminal-event"): "the stream ended without response.completed",
    ("chatgpt-md-declined", "last-of-the-user-only"): "the client got 'You said: No. Answer without my notes.'",
    ("opencode", "tools-stripped-after-result"): "the model made write(filePath='README.md'",
    ("opencode", "finish-lost"): "the stream ended without a finish_reason",
}
"""Persona and miniature → what the persona says of it."""


@pytest.mark.parametrize(("name", "fault"), FAILS)
def test_a_proxy_with_a_fault_does_not_serve_it(root: str, name: str, fault: str) -> None:
    outcome = hold(root, PERSONAS[name], fault)
    assert not outcome.served
    assert FAILS[name, fault] in outcome.why


def test_every_persona_fails_at_a_miniature() -> None:
    assert {name for name, _ in FAILS} == set(PERSONAS)


def test_several_calls_run_in_order_and_the_conversation_goes_on(root: str) -> None:
    lines: list[Line] = []
    assert hold(root, PERSONAS["chatgpt-md"], lines=lines).served
    ran = [line.text.partition(" ")[0] for line in lines if line.kind is LineKind.TOOL]
    assert ran == ["vault_search", "vault_search", "file_read"]
    assert [line.kind for line in lines if line.kind in {LineKind.SENT, LineKind.UNDERSTOOD}] == [
        LineKind.SENT, LineKind.UNDERSTOOD,
    ] * 3  # fmt: skip


def test_the_first_of_several_calls_is_enough(root: str) -> None:
    outcome = hold(root, PERSONAS["chatgpt-md"], "policy-ignored-burst")
    assert outcome.served, outcome.why


@pytest.mark.parametrize("name", ["chatgpt-md", "chatgpt-md-today"])
def test_a_user_who_cancels_is_served_too(root: str, name: str) -> None:
    lines: list[Line] = []
    outcome = hold(root, PERSONAS[name], lines=lines, approve="never")
    assert outcome.served, outcome.why
    assert "User cancelled tool execution" in outcome.text
    assert any(line.text == "Tool execution cancelled: vault_search" for line in lines)


def test_with_its_tools_switched_off_none_is_declared(root: str) -> None:
    lines: list[Line] = []
    outcome = hold(root, PERSONAS["chatgpt-md"], lines=lines, tools=False)
    assert (outcome.served, outcome.text) == (True, "I cannot see your notes.")
    assert [line.text.rpartition("; ")[2] for line in lines if line.kind is LineKind.SENT] == ["no tools"]


def test_of_a_model_only_the_loop_is_judged(root: str) -> None:
    lines: list[Line] = []
    outcome = hold(root, PERSONAS["opencode"], lines=lines, say="Please use the read tool.")
    assert outcome.served, outcome.why
    assert any("call bash(" in line.text or "call read(" in line.text for line in lines)


@pytest.mark.parametrize("name", PERSONAS)
def test_a_model_that_calls_nothing_is_served_too(root: str, name: str) -> None:
    outcome = hold(root, PERSONAS[name], say="Good morning!")
    assert (outcome.served, outcome.requests) == (True, 1), outcome.why
    assert "Good morning!" in outcome.text


def test_an_answer_that_fails_is_logged_as_the_client_logs_it(root: str) -> None:
    lines: list[Line] = []
    outcome = hold(root, PERSONAS["chatgpt-md"], "finish-lost", lines=lines)
    assert lines[-1] == Line(LineKind.LOG, f"[ChatGPT MD] Stream error: {outcome.why}")


def test_an_endless_loop_is_ended(root: str) -> None:
    lines: list[Line] = []
    toolbox = PERSONAS["obsidian-copilot"].toolbox(Wishes(vault=Path(), ask=never), lines.append)
    # It forgets what it has done, so the model asks for the same again.
    forgetful = replace(PERSONAS["obsidian-copilot"], goes_on=lambda _, __: [])
    conversation = PersonaConversation(
        persona=forgetful, toolbox=toolbox, print=lines.append, say=f"[[wireproof:call/one#{secrets.token_hex(8)}]]"
    )
    outcome = conversation.hold(EndpointAddress(url=f"{root}/{NONE}/v1", model="codex", key=KEY))
    assert not outcome.served
    assert outcome.why == "after 12 requests it still asks for tools: the client is in a loop"


def test_where_nobody_listens_it_is_no_fault_of_a_proxy() -> None:
    with pytest.raises(UnreachableError, match="cannot be reached"):
        hold("http://127.0.0.1:9", PERSONAS["opencode"])
