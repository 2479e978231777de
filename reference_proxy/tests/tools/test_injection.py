from __future__ import annotations

import pytest

from wireproof_surfaces.assembly.separator import Separator
from wireproof_surfaces.conversation import Conversation, TextPart, Tool
from wireproof_surfaces.tools.injection import BLOCK, in_text

TOOLS = tuple(Tool(name=name, description="", parameters={"type": "object"}) for name in ("g", "f"))


def test_tools_are_sent_behind_the_clients_own_instructions() -> None:
    sent = in_text(Conversation(developer="Be brief.", tools=TOOLS))
    assert sent.developer is not None
    assert sent.developer.startswith(f"Be brief.\n\n{BLOCK}")
    assert sent.developer.index('"name":"g"') < sent.developer.index('"name":"f"')
    assert (sent.tools, sent.tools_in_text) == (TOOLS, True)


def test_tools_need_no_instructions() -> None:
    sent = in_text(Conversation(tools=TOOLS))
    assert sent.developer is not None
    assert sent.developer.startswith(BLOCK)


def test_without_tools_nothing_is_sent() -> None:
    conversation = Conversation(developer="Be brief.", input=(TextPart("hi"),))
    assert in_text(conversation) is conversation


def test_the_same_tools_are_sent_in_the_same_words() -> None:
    assert in_text(Conversation(tools=TOOLS)) == in_text(Conversation(tools=TOOLS))


def test_names_that_are_not_acceptable_are_never_sent() -> None:
    with pytest.raises(ValueError, match="is not 1 to 64"):
        in_text(Conversation(tools=(Tool(name="a b", description="", parameters={}),)))


def test_the_example_of_the_block_is_one_that_is_read() -> None:
    (line,) = (line for line in BLOCK.split("\n") if line.startswith("<tool_call>"))
    (sent,) = Separator().feed(line)
    assert not isinstance(sent, str)
    assert (sent.id, sent.name, sent.arguments) == ("ID", "NAME", "ARGUMENTS")
