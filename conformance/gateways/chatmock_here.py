"""Starts ChatMock, whose service has a fixed address, with another: `python chatmock_here.py BASE_URL ARGUMENTS…`."""  # noqa: INP001 - a program, no package

import sys

import chatmock.cli
from chatmock.config import CHATGPT_CODEX_BASE_URL

here = sys.argv.pop(1)
# The modules have copies of the address, and of those that are made of it.
for name, module in list(sys.modules.items()):
    for key, value in list(vars(module).items()) if name.startswith("chatmock") else ():
        if isinstance(value, str) and value.startswith(CHATGPT_CODEX_BASE_URL):
            setattr(module, key, here + value.removeprefix(CHATGPT_CODEX_BASE_URL))
sys.exit(chatmock.cli.main())
