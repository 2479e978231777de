"""The tools of a request as part of the developer text, for backends that take no tools of a client. Pure.

The text asks the model to call a tool by a sentinel block (`sentinel`), which the proxy takes out of the text again.
The block follows the client's own instructions, and the backend's base instructions stay what they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof_surfaces.tools.declared_tools import DeclaredTools
from wireproof_surfaces.tools.sentinel import CLOSE, OPEN

if TYPE_CHECKING:
    from wireproof_surfaces.conversation import Conversation

BLOCK = f"""\
# Tools

You can call the tools that are declared below, one JSON object each. To call a tool, write this on a line of its own:

{OPEN}{{"type":"tool_call","id":"ID","name":"NAME","arguments":"ARGUMENTS"}}{CLOSE}

- ID is an id of your choice that no call had before, such as call_1.
- NAME is the name of a declared tool, exactly as it is spelled there.
- ARGUMENTS is a string that holds one JSON object; the object matches the tool's `parameters`, a JSON Schema.
- The line begins with {OPEN} and is not in a code block. It holds exactly one JSON object and nothing else.
- Several calls stand on several lines. Write nothing after the last of them: the results come with the next message.
- The result of a call is told as: [tool:ID] OUTPUT

Declared tools:
"""


def in_text(conversation: Conversation) -> Conversation:
    """The conversation with its tools declared in the developer text; unchanged when it has none.

    Raises:
        ValueError: when names are not acceptable, which requests are checked for before.
    """
    if not conversation.tools:
        return conversation
    block = BLOCK + DeclaredTools(conversation.tools).schema
    # Never into the base instructions, which are the backend's own (turn.system-prompt).
    texts = [conversation.developer, block] if conversation.developer else [block]
    return replace(conversation, developer="\n\n".join(texts), tools_in_text=True)
