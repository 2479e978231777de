"""The journal of a service: every message, and what clients did wrong, as one JSON object a line.

`{"at": epoch seconds, "pid": process, "rpc", "request_id", …}` and one of: `"direction"` with `"message"` (a message),
`"headers"` (the request for a stream) or `"end"` (how the response ended); `"fault"`, what the client did wrong;
`"remark"`, what it left out and may leave out. Lines are appended whole, so processes may share a file.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@contextmanager
def journal(path: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A function that appends an entry to the file."""
    with path.open("ab", buffering=0) as file:  # one write appends a whole line, also beside other processes

        def note(entry: dict[str, Any]) -> None:
            message = entry.get("message")
            if isinstance(message, Message):
                entry = {**entry, "message": MessageToDict(message, preserving_proto_field_name=True)}
            line = {"at": round(time.time(), 6), "pid": os.getpid(), **entry}
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")

        yield note
