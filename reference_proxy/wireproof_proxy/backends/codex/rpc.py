r"""JSON-RPC as `codex app-server` speaks it: one JSON object per line, no `jsonrpc` member.

Pure: bytes in, messages out, and back. A line that is too long, is not UTF-8 or is no message becomes `Garbled`,
which keeps the line's head so that the turn it belongs to can be found; it never stops the reader.
Lone surrogates are replaced on the way out: one unpaired byte on its stdin ends the real server.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wireproof_proxy.backends.untrusted_json import as_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

# Bytes. The longest line that was seen of a real Codex had 1.1 MB, the echo of a long input.
LINE_LIMIT = 64 * 2**20
# Enough for the thread's id, by which `Link` finds the turn.
HEAD = 4096

Id = int | str


@dataclass(frozen=True, slots=True)
class ResultReply:
    """The result of a request of ours."""

    id: Id
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """The error of a request of ours. `code` is None when the request timed out or the process died."""

    id: Id
    code: int | None
    message: str


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """A request of the server's, to be answered under its id, which shares nothing with ours."""

    id: Id
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Notice:
    """A notification."""

    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Garbled:
    """A line that is no message: why, and how it began."""

    reason: str
    head: str


Message = ResultReply | ErrorReply | ServerRequest | Notice | Garbled


@dataclass
class LineReader:
    """Bytes in any pieces → messages, in time linear in their number; a longer line than `limit` bytes is dropped."""

    limit: int = LINE_LIMIT
    _pieces: list[bytes] = field(default_factory=list)
    _held: int = 0

    def feed(self, data: bytes) -> list[Message]:
        """The messages that `data` completes; blank lines are skipped."""
        *ended, rest = data.split(b"\n")
        messages = []
        for piece in ended:
            if self._held or len(piece) > self.limit:
                self._hold(piece)
                message = self._line()
            else:  # the short way of nearly all lines, which come whole
                message = decode(piece) if piece.strip() else None
            if message:
                messages.append(message)
        self._hold(rest)
        return messages

    def _hold(self, piece: bytes) -> None:
        # Counted to its end, kept to the limit.
        room = max(self.limit - self._held, 0)
        self._held += len(piece)
        if piece[:room]:
            self._pieces.append(piece[:room])

    def _line(self) -> Message | None:
        line, length = b"".join(self._pieces), self._held
        self._pieces, self._held = [], 0
        if length > self.limit:
            return Garbled("line too long", line[:HEAD].decode(errors="replace"))
        return decode(line) if line.strip() else None


def decode(line: bytes) -> Message:
    """One line's message."""
    try:
        message = _message(_DECODER.decode(line.decode()))
    except UnicodeDecodeError:
        return Garbled("not UTF-8", line[:HEAD].decode(errors="replace"))
    except (ValueError, RecursionError):
        return Garbled("not JSON", line[:HEAD].decode(errors="replace"))
    return message or Garbled("not a message", line[:HEAD].decode(errors="replace"))


def _message(raw: object) -> Message | None:
    fields = as_mapping(raw)
    # The short way of nearly all messages of an answer.
    if "id" not in fields and isinstance(method := fields.get("method"), str):
        return Notice(method, as_mapping(fields.get("params")))
    match fields:
        # First: a request of the server's has an id too, from numbers of its own that collide with ours.
        case {"method": str(method), "id": int() | str() as id_}:
            return ServerRequest(id_, method, as_mapping(fields.get("params")))
        case {"method": str(method)}:
            return Notice(method, as_mapping(fields.get("params")))
        case {"error": {"code": int(code)} as error, "id": int() | str() as id_}:
            return ErrorReply(id_, code, str(error.get("message", "")))
        case {"result": result, "id": int() | str() as id_}:
            return ResultReply(id_, as_mapping(result))
        case _:
            return None


# One for all: `json.loads` looks at its options for each text.
_DECODER = json.JSONDecoder()


def encode(message: Mapping[str, Any]) -> bytes:
    """The message's line."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(errors="replace") + b"\n"
