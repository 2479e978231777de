from __future__ import annotations

import json

from wireproof_surfaces.assembly.separator import Separator
from wireproof_surfaces.conversation import Conversation, TextPart, Tool
from wireproof_surfaces.tools.sentinel import BLOCK, in_text

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


def test_each_tool_is_a_line_of_json() -> None:
    described = Tool(name="b", description="é\nü", parameters={"type": "object"})
    sent = in_text(Conversation(tools=(described, *TOOLS))).developer
    assert sent is not None
    first, second, _ = sent.removeprefix(BLOCK).split("\n")
    assert json.loads(first) == {"name": "b", "description": "é\nü", "parameters": {"type": "object"}}
    assert json.loads(second) == {"name": "g", "parameters": {"type": "object"}}
    assert "é" in first


def test_the_example_of_the_block_is_one_that_is_read() -> None:
    (line,) = (line for line in BLOCK.split("\n") if line.startswith("<tool_call>"))
    (sent,) = Separator().feed(line)
    assert not isinstance(sent, str)
    assert (sent.id, sent.name, sent.arguments) == ("ID", "NAME", "ARGUMENTS")
