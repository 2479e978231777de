from __future__ import annotations

import pytest

from assay_proxy.backends.abilities import Abilities, abilities
from assay_proxy.conversation import Call, Conversation, TextPart, Tool

TOOL = Tool(name="f", description="", parameters={})
ASKED = Conversation(
    history=(Call(id="c", name="f", arguments="{}"),),
    input=(TextPart("hi"),),
    tools=(TOOL,),
)


@pytest.mark.parametrize(
    ("version", "tools", "history"),
    [
        ("0.89.0", False, False),
        ("0.91.9", False, False),
        ("0.92.0", True, False),
        ("0.124.0", True, False),
        ("0.125.0", True, True),
        ("0.169.0-alpha.1", True, True),
        ("1.0.0", True, True),
    ],
)
def test_abilities_came_with_versions(version: str, tools: bool, history: bool) -> None:  # noqa: FBT001 - a case
    user_agent = f"assay-proxy/{version} (Debian 12.0.0; x86_64) xterm (assay-proxy; 0.1.0)"
    assert abilities(user_agent, "v2") == Abilities(tools=tools, history=history)
    assert abilities(user_agent, "v1") == Abilities(tools=False, history=False)


def test_a_backend_that_tells_no_version_can_do_all() -> None:
    assert abilities("fake", "v2") == Abilities()
    assert abilities("", "v1") == Abilities(tools=False, history=False)


def test_a_conversation_that_can_be_given_stays() -> None:
    assert Abilities().fit(ASKED) is ASKED


def test_what_cannot_be_given_is_told_in_text() -> None:
    told = Abilities(tools=False, history=False).fit(ASKED)
    assert (told.tools_in_text, told.history) == (True, ())
    assert [part.text for part in told.input if isinstance(part, TextPart)] == ["[assistant called f:c] {}", "hi"]
    assert Abilities(history=False).fit(ASKED).developer is None
