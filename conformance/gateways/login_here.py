"""Starts a gateway whose service behind a ChatGPT login has a fixed address, with another one.

`python login_here.py BASE_URL PROGRAM ARGUMENTS…`, with the name of a program that is installed for this Python. Its
files stay as they are: what is compiled of them has the other address.
"""  # noqa: INP001 - a program, no package

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType

FIXED = b"https://chatgpt.com/backend-api/codex"
_compiled = SourceFileLoader.get_code


def _with_the_other_address(self: SourceFileLoader, fullname: str) -> CodeType | None:
    path = self.get_filename(fullname)
    source = self.get_data(path)
    if FIXED not in source:
        return _compiled(self, fullname)
    return self.source_to_code(source.replace(FIXED, here.encode()), path)


here, program, *arguments = sys.argv[1:]
SourceFileLoader.get_code = _with_the_other_address  # type: ignore[assignment, method-assign]  # for every import
sys.argv = [program, *arguments]
[script] = entry_points(group="console_scripts", name=program)
sys.exit(script.load()())
