"""Separates text from the calls that are written in it, however the text is cut. Pure.

Outside a block text passes at once, but for an end that may yet become an opening tag. From an opening tag on
everything waits: for the closing tag, for a sign that no call will come of it, or for the end. What turns out to be no
call is text, in its place and unchanged.

    <use_tool>   anywhere; ends at `</use_tool>`; no call when it names no tool
    <tool_call>  at the start of a line outside code fences; no call when its JSON is broken or lacks something
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from wireproof_surfaces.tools import sentinel, use_tool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_surfaces.tools.use_tool import TextCall


KEPT = 64
"""Characters of a line that are looked at; a fence has fewer."""
# CommonMark's fences: at most three spaces, then three or more signs of one kind.
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
# Enough to know where strings begin and end; the rest is left to the parser.
_IN_JSON = re.compile(r'[\\"\n]')


@dataclass(slots=True)
class LinePosition:
    """Where a text stands: at the start of a line or not, inside a code fence or not."""

    _line: str = ""
    _fence: str = ""

    @property
    def fresh(self) -> bool:
        """At the start of a line that is in no code fence."""
        # responses.sentinel.own-line.
        return not self._line and not self._fence

    def take(self, text: str) -> None:
        """Go on by this text."""
        # The short way of most pieces.
        if "\n" not in text:
            if len(self._line) < KEPT:
                self._line += text[: KEPT - len(self._line)]
            return
        first, *more = text.split("\n")
        self._line += first[: KEPT - len(self._line)]
        for line in more:
            self._end()
            self._line = line[:KEPT]

    def _end(self) -> None:
        found = _FENCE.match(self._line)
        if not found:
            return
        ticks, rest = found.groups()
        if not self._fence:
            # With a backtick behind its backticks a line is code within text, not a fence (CommonMark).
            self._fence = "" if ticks[0] == "`" and "`" in rest else ticks
        # A fence is closed by its own sign, at least as many of them, and nothing behind.
        elif ticks.startswith(self._fence) and not rest.strip():
            self._fence = ""


class _Outcome(NamedTuple):
    """How a block ended: the call, or the text that it was after all; and what stood behind it."""

    content: TextCall | str
    rest: str


@dataclass
class _Block:
    """Pieces up to a closing tag, which may itself be cut; time is linear in their size."""

    open: str
    close: str
    pieces: list[str] = field(default_factory=list)
    tail: str = ""

    def take(self, text: str) -> tuple[bool, str]:
        """Whether the closing tag came, and what stands behind it."""
        window = self.tail + text
        at = window.find(self.close)
        if at < 0:
            self.pieces.append(text)
            # As much as may be the beginning of a closing tag.
            self.tail = window[1 - len(self.close) :]
            return False, ""
        # The tail is in `pieces` already.
        end = at + len(self.close) - len(self.tail)
        self.pieces.append(text[:end])
        self.tail = ""
        return True, text[end:]

    @property
    def said(self) -> str:
        """All of it, with its opening tag."""
        return self.open + "".join(self.pieces)


@dataclass
class _UseTool(_Block):
    open: str = use_tool.OPEN
    close: str = use_tool.CLOSE

    def feed(self, text: str) -> _Outcome | None:
        closed, rest = self.take(text)
        # The block stays as it was written (textual.verbatim); one that names no tool is text.
        return _Outcome(use_tool.read(self.said) or self.said, rest) if closed else None


@dataclass
class _Sentinel(_Block):
    """Given up as soon as it cannot be JSON any more: not an object, or a line's end within a string."""

    open: str = sentinel.OPEN
    close: str = sentinel.CLOSE
    begun: bool = False
    in_string: bool = False
    escaped: bool = False

    def feed(self, text: str) -> _Outcome | None:
        closed = True
        while closed:
            closed, rest = self.take(text)
            inside = text[: len(text) - len(rest)]
            broken = self._broken(inside)
            if broken is not None:
                kept = len(self.said) - len(inside) + broken
                return _Outcome(self.said[:kept], text[broken:])
            if closed and (content := self._content()):
                return _Outcome(content, rest)
            text = rest
        return None

    def _content(self) -> TextCall | str | None:
        """What ends at a closing tag; None when the tag is part of a string."""
        call = sentinel.read(self.said.removeprefix(self.open).removesuffix(self.close))
        # Arguments may quote the closing tag.
        return call or (None if self.in_string else self.said)

    def _broken(self, text: str) -> int | None:
        """Where the text ceases to be JSON that may go on; None when it does not."""
        start = 0
        if not self.begun:
            start = len(text) - len(text.lstrip())
            if start == len(text):
                return None
            if text[start] != "{":
                return start
            self.begun = True
        return self._string(text, start)

    def _string(self, text: str, start: int) -> int | None:
        if self.escaped and start < len(text):
            self.escaped, start = False, start + 1
        while found := _IN_JSON.search(text, start):
            start = found.end()
            if found[0] == '"':
                self.in_string = not self.in_string
            elif found[0] == "\n" and self.in_string:  # no JSON string holds a raw line end
                return found.start()
            elif found[0] == "\\" and self.in_string:
                self.escaped = start == len(text)  # the escaped character may come with the next piece
                start += 1
        return None


@dataclass(slots=True)
class Separator:
    """Separates the text and the calls of one choice."""

    _held: str = ""
    _block: _UseTool | _Sentinel | None = None
    _lines: LinePosition = field(default_factory=LinePosition)

    def feed(self, piece: str) -> Iterator[str | TextCall]:
        """The texts and calls that the piece completes, in order; no text is empty."""
        rest, self._held = self._held + piece, ""
        while rest:
            if self._block is None:
                text, rest = self._outside(rest)
                if text:
                    yield text
                continue
            outcome = self._block.feed(rest)
            if outcome is None:
                return
            self._block, rest = None, outcome.rest
            # A call leaves no trace in its line, so another one may follow there.
            if isinstance(outcome.content, str):
                self._lines.take(outcome.content)
            yield outcome.content

    def passes(self, piece: str) -> bool:
        """Whether the piece is text as it is, with nothing before it that waits; then it is taken."""
        if self._held or self._block is not None or "<" in piece:
            return False
        self._lines.take(piece)
        return True

    @property
    def holds(self) -> bool:
        """Whether it holds text that may yet be a block."""
        return bool(self._held) or self._block is not None

    def end(self) -> str:
        """The text that is left when no more comes."""
        if not self.holds:
            return ""
        # textual.unterminated: a block without an end is text.
        rest = self._held if self._block is None else self._block.said
        self._held, self._block = "", None
        self._lines.take(rest)
        return rest

    def _outside(self, text: str) -> tuple[str, str]:
        """The text before the next block, and the text in it; an opening tag that is cut is held."""
        start = 0
        while (at := text.find("<", start)) >= 0:
            self._lines.take(text[start:at])
            # `<use_tool>` counts anywhere; the sentinel on a line of its own only (responses.sentinel.own-line).
            for block in (_UseTool(), _Sentinel()) if self._lines.fresh else (_UseTool(),):
                if text.startswith(block.open, at):
                    self._block = block
                    return text[:at], text[at + len(block.open) :]
                # textual.any-cut: held until it is decided what it is.
                if block.open.startswith(text[at:]):
                    self._held = text[at:]
                    return text[:at], ""
            self._lines.take("<")
            start = at + 1
        self._lines.take(text[start:])
        return text, ""
