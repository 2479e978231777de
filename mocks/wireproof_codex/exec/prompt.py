"""The text of a run: the argument, standard input, or both."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_READS_PROMPT = "Reading prompt from stdin..."
_READS_MORE = "Reading additional input from stdin..."
_NONE = "No prompt provided via stdin."
_NEEDED = "No prompt provided. Either specify one as an argument or pipe the prompt into stdin."
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Byte order marks, the longest of those that begin alike first."""


class NoPromptError(Exception):
    """There is no text; the message is codex's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Input:
    """Standard input of the process."""

    is_terminal: bool
    read: Callable[[], bytes]
    """All of it, up to its end."""


def find_prompt(argument: str | None, given: Input, say: Callable[[str], None], *, appends: bool) -> str:
    """The text of the run; `say` writes a line to stderr, `appends`: stdin is read beside an argument, too.

    Raises:
        NoPromptError: there is none, or it cannot be read.
    """
    if argument is not None and argument != "-":
        return _appended(argument, given, say) if appends and not given.is_terminal else argument
    if argument is None:
        if given.is_terminal:
            raise NoPromptError(_NEEDED)
        say(_READS_PROMPT)
    text = _decoded(given.read())
    if not text.strip():
        raise NoPromptError(_NONE)
    return text


def _appended(argument: str, given: Input, say: Callable[[str], None]) -> str:
    say(_READS_MORE)
    text = _decoded(given.read())
    if not text.strip():
        return argument
    end = "" if text.endswith("\n") else "\n"
    return f"{argument}\n\n<stdin>\n{text}{end}</stdin>"


def _decoded(data: bytes) -> str:
    mark = next((mark for mark in _MARKS if data.startswith(mark)), b"")
    try:
        return data.removeprefix(mark).decode(_MARKS.get(mark, "utf-8"))
    except UnicodeDecodeError as error:
        why = f"input is not valid UTF-8 (invalid byte at offset {error.start})"
        advice = "Convert it to UTF-8 and retry (e.g., `iconv -f <ENC> -t UTF-8 prompt.txt`)."
        raise NoPromptError(f"Failed to read prompt from stdin: {why}. {advice}") from error
