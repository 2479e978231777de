"""Server-sent events: bytes in, frames out, cut anywhere.

A stream is blocks of lines, each block closed by a blank line; a line ends with CR, LF or CRLF. A line is
`name: value`, without one space after the colon, or a comment (`: …`). The `data` lines of a block, joined by LF, are
its data. All of this is legal and no violation: any of the line ends, several data lines, comments anywhere, a byte
order mark at the start, additional blank lines.

Nothing is lost: a frame keeps the exact bytes of its block, with the blank lines before it, so the frames' bytes and
`Reader.rest` together are the body. What comes out does not depend on how the bytes are cut. Hence one subtlety: a CR
at the end of the bytes so far may be half a CRLF, so the reader waits for the next byte. But where the line before
ended with a bare CR, the CR of a blank line is taken for a line end of its own and closes the block at once (an LF
after it begins the next block with a blank line). Otherwise streams with bare CRs would always be one frame late.

Specification: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.quoting import quoted
from wireproof.wire.violation import Place, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BLOCK = 16 * 1024 * 1024
"""The largest block that is read, in bytes. Without a limit a proxy that never sends a blank line fills the memory."""
FIELDS = frozenset({"data", "event", "id", "retry"})
"""The fields that the specification knows. Browsers ignore others; here another name is a line that went wrong."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_TEXT_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class SseFrame:
    """One block of the stream."""

    number: int
    """Its number in the body, counted from 0."""
    offset: int
    """The offset of its first byte in the body."""
    raw: bytes
    """Its exact bytes: blank lines before it, its lines, the blank line that closes it."""
    data: str | None
    """The values of its `data` lines joined by LF; None if it has none."""
    event: str | None
    """The value of its last `event` line; None if it has none."""
    comments: tuple[str, ...]
    """Its comments, without the colon and one space."""
    fields: tuple[str, ...] = ()
    """The names of its lines other than comments, in order, known or not."""

    @property
    def place(self) -> Place:
        """All of the frame, for a violation."""
        return Place(offset=self.offset, length=len(self.raw), frame=self.number)


class Reader:
    """Feed it the pieces of a body; it gives the frames that each piece completes.

    `violations` holds the first thing that is not well-formed: bytes that are not UTF-8, a line that is no field, a
    block that the end of the body cuts off, a block of more than `limit` bytes. After the last of these nothing more is
    read; after the others the reader goes on, without further violations.

    Args:
        requirement: The id that its violations name; "" where nothing but frames is looked for.
        unclosed: The id for a block that the end of the body cuts off; None: the same.
        limit: The largest block, in bytes; also the most that is ever held.
    """

    def __init__(self, requirement: str = "", limit: int = MAX_BLOCK, *, unclosed: str | None = None) -> None:
        self.violations: list[Violation] = []
        self._requirement = requirement
        self._unclosed = requirement if unclosed is None else unclosed
        self._limit = limit
        self._held = bytearray()
        self._offset = 0  # of the first held byte in the body
        self._number = 0
        self._line = 0  # where the current line starts in what is held
        self._searched = 0  # no line ends before this
        self._filled = False  # the block has a line that is not blank
        self._bare = False  # the line before ended with a CR alone
        self._full = False  # a block went beyond the limit
        self._ended = False

    @property
    def offset(self) -> int:
        """How many bytes of the body have been read."""
        return self._offset + len(self._held)

    @property
    def rest(self) -> bytes:
        """The bytes after the last frame."""
        return bytes(self._held)

    def feed(self, piece: bytes) -> list[SseFrame]:
        """Read the next bytes of the body, as many or few as there are.

        Raises:
            ValueError: `end` was called before.
        """
        if self._ended:
            raise ValueError("bytes were fed after the end of the body")
        # Nothing more is kept, so memory stays bounded however long the proxy goes on.
        if self._full:
            return []
        self._held += piece
        return list(self._frames(final=False))

    def end(self) -> list[SseFrame]:
        """The body has ended; a block that was cut off becomes the last frame."""
        if self._ended:
            return []
        self._ended = True
        frames = [] if self._full else list(self._frames(final=True))
        last = None if self._full else self._unfinished()
        return [*frames, last] if last else frames

    def _frames(self, *, final: bool) -> Iterator[SseFrame]:
        start = 0
        for end in self._block_ends(final=final):
            # It is not released, so the reader gives up on it below.
            if end - start > self._limit:
                break
            frame = self._frame(bytes(self._held[start:end]), self._offset + start)
            self._judge(frame)
            yield frame
            start = end
        self._release(start)
        if len(self._held) > self._limit:
            self._give_up()

    def _block_ends(self, *, final: bool) -> Iterator[int]:
        # From where the last search stopped: a long line in small pieces is not searched from its start each time.
        while match := _LINE_END.search(self._held, self._searched):
            blank, end = match.start() == self._line, match.end()
            # See the head of this file for both: a CR that is a line end of its own, and one that may be half a CRLF.
            if blank and self._bare:
                end = match.start() + 1
            elif end == len(self._held) and self._held[-1:] == b"\r" and not final:
                self._searched = match.start()  # the CR again, with the byte after it
                return
            self._bare = self._held[match.start() : end] == b"\r"
            self._line = self._searched = end
            # Only where there is something to close: additional blank lines are legal.
            closes = blank and self._filled
            self._filled = not blank
            if closes:
                self._bare = False
                yield end
        self._searched = len(self._held)

    def _release(self, count: int) -> None:
        del self._held[:count]
        self._offset += count
        self._line -= count
        self._searched -= count

    def _unfinished(self) -> SseFrame | None:
        # The specification drops such a block. Here it is a frame, since nothing of the body may be lost.
        frame = self._frame(self.rest, self._offset)
        if not frame.fields and not frame.comments:
            return None
        # Nothing of an answer is lost with a comment that is cut off.
        if frame.fields:
            seen = "the body ends inside this block: no blank line closes it"
            self._violation(seen, frame.place, UNTOUCHED, self._unclosed)
        self._judge(frame)
        self._release(len(self._held))
        return frame

    def _frame(self, raw: bytes, offset: int) -> SseFrame:
        text = raw.decode("utf-8", errors="replace")  # what is not UTF-8 is named in `_judge`
        # A byte order mark is one only at the start of the body; elsewhere it is a character of its line.
        lines = _TEXT_LINE_END.split(text.removeprefix("\ufeff") if offset == 0 else text)
        pairs = [(name, value.removeprefix(" ")) for name, _, value in (line.partition(":") for line in lines if line)]
        data = [value for name, value in pairs if name == "data"]
        names = [value for name, value in pairs if name == "event"]
        frame = SseFrame(
            number=self._number,
            offset=offset,
            raw=raw,
            data="\n".join(data) if data else None,
            event=names[-1] if names else None,
            comments=tuple(value for name, value in pairs if not name),
            fields=tuple(name for name, _ in pairs if name),
        )
        self._number += 1
        return frame

    def _judge(self, frame: SseFrame) -> None:
        try:
            frame.raw.decode("utf-8")
        except UnicodeDecodeError as error:
            place = Place(offset=frame.offset + error.start, length=error.end - error.start, frame=frame.number)
            self._violation(
                f"bytes that are not UTF-8 ({error.reason})", place, frozenset({Facet.TEXT, Facet.ARGUMENTS})
            )
        strange = next((name for name in frame.fields if name not in FIELDS), None)
        if strange is not None:
            seen = f"a line that is neither a field nor a comment: {quoted(strange, 60)}"
            self._violation(seen, frame.place, UNTOUCHED)

    def _give_up(self) -> None:
        place = Place(offset=self._offset, length=self._limit, frame=self._number)
        self._violation(f"a block of more than {self._limit} bytes; nothing after this was read", place, UNTOUCHED)
        del self._held[self._limit :]
        self._full = True

    def _violation(self, seen: str, place: Place, spoils: frozenset[Facet], requirement: str | None = None) -> None:
        if not self.violations:
            broken = self._requirement if requirement is None else requirement
            self.violations.append(Violation(requirement=broken, seen=seen, place=place, spoils=spoils))
