"""Server-sent events: bytes in, frames out, cut anywhere.

A stream is blocks of lines, each block closed by a blank line; a line ends with CR, LF or CRLF. A line is
`name: value`, one space after the colon not counting, or a comment (`: …`). A block's `data` lines, joined by
LF, are what it says. All of this is legal and taken without a word: any of the line ends, several data lines,
comments anywhere, a byte order mark at the start, blank lines to spare.

Nothing is lost on the way: a frame keeps the exact bytes of its block, blank lines that precede it included,
so the frames' bytes and `Reader.rest` together are the body. What comes out does not depend on how the bytes
were cut. Hence one subtlety: a CR that ends the bytes so far may be half a CRLF, so the reader waits for the next
byte; but where the line before ended with a bare CR, a blank line's CR stands alone and closes the block at once
(an LF after it opens the next block as a blank line), so streams with bare CRs are not held back.

Specification: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.wire.violation import Place, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BLOCK = 16 * 1024 * 1024
FIELDS = frozenset({"data", "event", "id", "retry"})

_LINE_END = re.compile(rb"\r\n|\r|\n")
_TEXT_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """One block of the stream.

    Attributes:
        number: Counts the frames of a body from 0.
        offset: Where its first byte stands in the body.
        raw: Its exact bytes: blank lines before it, its lines, the blank line that closes it.
        data: The values of its `data` lines joined by LF; None if it has none.
        event: The value of its last `event` line; None if it has none.
        comments: Its comments, without the colon and one space.
        fields: The names of its lines other than comments, in order, known or not.
    """

    number: int
    offset: int
    raw: bytes
    data: str | None
    event: str | None
    comments: tuple[str, ...]
    fields: tuple[str, ...] = ()

    @property
    def place(self) -> Place:
        """All of the frame, as a violation points at it."""
        return Place(offset=self.offset, length=len(self.raw), frame=self.number)


class Reader:
    """Feed it the pieces of a body; it gives the frames that each piece completes.

    `violations` holds the first thing that is not well-formed (then the reader goes on, but is silent): bytes
    that are not UTF-8, a line that is no field, a block that the end of the body cuts off, a block of more than
    `limit` bytes. After the last of these nothing more is read.

    Args:
        requirement: The id that its violations name.
        limit: The largest block, in bytes; also the most that is ever held.
    """

    def __init__(self, requirement: str = "chat.stream.frames", limit: int = MAX_BLOCK) -> None:
        self.violations: list[Violation] = []
        self._requirement = requirement
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

    def feed(self, piece: bytes) -> list[Frame]:
        """Read the next bytes of the body, as many or few as there are.

        Raises:
            ValueError: The body was said to have ended.
        """
        if self._ended:
            raise ValueError("bytes were fed after the end of the body")
        if self._full:
            return []
        self._held += piece
        return list(self._frames(final=False))

    def end(self) -> list[Frame]:
        """Say that the body has ended; a block that was cut off becomes the last frame."""
        if self._ended:
            return []
        self._ended = True
        frames = [] if self._full else list(self._frames(final=True))
        last = None if self._full else self._unfinished()
        return [*frames, last] if last else frames

    def _frames(self, *, final: bool) -> Iterator[Frame]:
        start = 0
        for end in self._block_ends(final=final):
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
        while match := _LINE_END.search(self._held, self._searched):
            blank, end = match.start() == self._line, match.end()
            if blank and self._bare:
                end = match.start() + 1
            elif end == len(self._held) and self._held[-1:] == b"\r" and not final:
                self._searched = match.start()
                return
            self._bare = self._held[match.start() : end] == b"\r"
            self._line = self._searched = end
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

    def _unfinished(self) -> Frame | None:
        frame = self._frame(self.rest, self._offset)
        if not frame.fields and not frame.comments:
            return None
        if frame.fields:
            self._tell("the body ends inside this block: no blank line closes it", frame.place)
        self._judge(frame)
        self._release(len(self._held))
        return frame

    def _frame(self, raw: bytes, offset: int) -> Frame:
        text = raw.decode("utf-8", errors="replace")
        lines = _TEXT_LINE_END.split(text.removeprefix("\ufeff") if offset == 0 else text)
        pairs = [(name, value.removeprefix(" ")) for name, _, value in (line.partition(":") for line in lines if line)]
        data = [value for name, value in pairs if name == "data"]
        names = [value for name, value in pairs if name == "event"]
        frame = Frame(
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

    def _judge(self, frame: Frame) -> None:
        try:
            frame.raw.decode("utf-8")
        except UnicodeDecodeError as error:
            place = Place(offset=frame.offset + error.start, length=error.end - error.start, frame=frame.number)
            self._tell(f"bytes that are not UTF-8 ({error.reason})", place)
        strange = next((name for name in frame.fields if name not in FIELDS), None)
        if strange is not None:
            self._tell(f"a line that is neither a field nor a comment: {strange[:60]!r}", frame.place)

    def _give_up(self) -> None:
        place = Place(offset=self._offset, length=self._limit, frame=self._number)
        self._tell(f"a block of more than {self._limit} bytes; nothing after this was read", place)
        del self._held[self._limit :]
        self._full = True

    def _tell(self, seen: str, place: Place) -> None:
        if not self.violations:
            self.violations.append(Violation(requirement=self._requirement, seen=seen, place=place))
