from __future__ import annotations

from dataclasses import replace

import pytest

from wireproof_proxy.backends.codex.abilities import Abilities, abilities
from wireproof_surfaces.conversation import AssistantCall, Conversation, Message, TextPart, Tool

TOOL = Tool(name="f", description="", parameters={})
ASKED = Conversation(
    history=(AssistantCall(id="c", name="f", arguments="{}"),),
    input=(TextPart("hi"),),
    tools=(TOOL,),
)


@pytest.mark.parametrize(
    ("version", "had"),
    [
        ("0.89.0", {"resumed"}),
        ("0.90.0", {"ephemeral", "resumed"}),
        ("0.91.9", {"ephemeral", "resumed"}),
        ("0.92.0", {"ephemeral", "tools", "resumed"}),
        ("0.124.0", {"ephemeral", "tools", "resumed"}),
        ("0.125.0", {"ephemeral", "tools", "injected"}),
        ("0.169.0-alpha.1", {"ephemeral", "tools", "injected"}),
        ("1.0.0", {"ephemeral", "tools", "injected"}),
    ],
)
def test_abilities_came_with_versions(version: str, had: set[str]) -> None:
    user_agent = f"wireproof-proxy/{version} (Debian 12.0.0; x86_64) xterm (wireproof-proxy; 0.1.0)"
    sent = abilities(user_agent, "v2")
    assert {name for name in ("tools", "ephemeral") if getattr(sent, name)} | {sent.history} == had
    old = abilities(user_agent, "v1")
    assert (old.tools, old.history, old.ephemeral) == (False, "text", False)


def test_versions_that_send_no_end_before_calls_are_answered_are_known() -> None:
    versions = ("0.92.0", "0.130.0", "0.131.0", "0.144.6", "0.145.0", "0.169.0")
    sent = [abilities(f"x/{version} (y)", "v2").silent_ends for version in versions]
    assert sent == [False, False, True, True, False, False]


def test_a_turn_without_input_is_known_to_ask_the_model() -> None:
    versions = ("0.89.0", "0.125.0", "0.132.0", "0.133.0", "0.169.0")
    assert [abilities(f"x/{version} (y)", "v2").no_input for version in versions] == [False, False, False, True, True]
    asked = replace(ASKED, input=())
    assert Abilities().fit(asked) is asked
    sent = Abilities(no_input=False).fit(asked)
    assert (sent.history, sent.input, sent.tools) == ((), (TextPart("[assistant called f:c] {}"),), (TOOL,))
    assert Abilities(no_input=False).fit(ASKED) is ASKED


def test_agents_are_switched_off_where_that_is_known() -> None:
    assert [dict(abilities(f"x/{version} (y)", "v2").config) for version in ("0.142.0", "0.150.0")] == [
        {},
        {"agents.enabled": False},
    ]


def test_a_backend_that_names_no_version_can_do_all() -> None:
    assert abilities("fake", "v2") == Abilities()
    assert abilities("", "v1") == Abilities(tools=False, history="text", ephemeral=False)


def test_a_conversation_that_can_be_given_stays() -> None:
    assert Abilities().fit(ASKED) is ASKED


def test_what_cannot_be_given_is_sent_in_text() -> None:
    sent = Abilities(tools=False, history="text").fit(ASKED)
    assert (sent.tools_in_text, sent.history) == (True, ())
    assert [part.text for part in sent.input if isinstance(part, TextPart)] == ["[assistant called f:c] {}", "hi"]
    assert Abilities(history="text").fit(ASKED).developer is None


def test_a_thread_is_resumed_with_messages() -> None:
    sent = Abilities(tools=False, history="resumed").fit(ASKED)
    assert sent.tools_in_text
    assert sent.history == (Message(role="user", parts=(TextPart("[assistant called f:c] {}"),)),)
    assert sent.input == (TextPart("hi"),)


def test_a_thread_that_is_given_tools_cannot_be_resumed() -> None:
    sent = Abilities(history="resumed").fit(ASKED)
    assert (sent.tools, sent.history, len(sent.input)) == ((TOOL,), (), 2)
