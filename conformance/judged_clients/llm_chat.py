"""`llm` on chat: a conversation with a tool, streamed."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import os
import tempfile
from typing import Any

from talk import MODEL, look_up, talk

# It keeps its settings below the home of its user.
os.environ["LLM_USER_PATH"] = tempfile.gettempdir()

import llm
from llm.default_plugins.openai_models import Chat

# Neither has types.
MAKE: Any = Chat
TOOL: Any = llm.Tool
CHAT = MAKE(MODEL, model_name=MODEL, api_base=os.environ["OPENAI_BASE_URL"], supports_tools=True)
CONVERSATION = CHAT.conversation(tools=[TOOL.function(look_up)])

talk(lambda prompt: CONVERSATION.chain(prompt).text())
