"""What the parts of one turn share, and the results of its calls, as the model gets them.

They come in the order of the calls, once the answer is over.
"""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_codex.notifications import raw_items

if TYPE_CHECKING:
    from wireproof_codex.context import ServerContext
    from wireproof_codex.notifications.notifier import Notifier
    from wireproof_codex.notifications.sender import NotificationSender
    from wireproof_codex.threads.thread import Running, Thread

Output = str | list[dict[str, Any]]


@dataclass(kw_only=True, slots=True)
class _Result:
    """The result of a call, or of a program."""

    call_id: str
    program: bool
    output: Output | None = None
    """None before there is a result."""


class Results:
    """Puts results into the thread's history and sends them raw."""

    def __init__(self, sender: NotificationSender) -> None:
        self._sender = sender
        self._expected: deque[_Result] = deque()
        # From the start: a quick client may answer before the model has said all of its calls.
        self._held = True

    def expect(self, call_id: str, *, program: bool = False) -> None:
        """Keep a place for the result of a call, or of a program."""
        self._expected.append(_Result(call_id=call_id, program=program))

    def add(self, call_id: str, output: Output) -> None:
        """Take a result; one that was dropped changes nothing.

        A script may call twice by one id: then the first call without a result gets it.
        """
        # A result without a place belongs to an answer that failed meanwhile (`drop`).
        waiting = (result for result in self._expected if result.call_id == call_id and result.output is None)
        for result in itertools.islice(waiting, 1):
            result.output = output
        self._send()

    def hold(self) -> None:
        """Keep results back: the model begins another answer."""
        self._held = True

    def release(self) -> None:
        """Send results as they come: the model's answer is over."""
        self._held = False
        self._send()

    def drop(self) -> None:
        """Forget the results: the turn failed, and the model never gets them."""
        self._expected.clear()

    def _send(self) -> None:
        context = self._sender.context
        # Only from the front: a result waits for those of the calls before it.
        while not self._held and self._expected and (output := self._expected[0].output) is not None:
            result, identity = self._expected.popleft(), context.uuid()
            if result.program:
                raw = raw_items.printed(f"ctco_{identity}", result.call_id, output)
            else:
                raw = raw_items.output_of(f"fco_{identity}", result.call_id, output)
            self._sender.raw(raw, {"create_time": context.now})


@dataclass(frozen=True, kw_only=True, slots=True)
class Shared:
    """The turn and what it is made of, for those of its parts that send something."""

    turn: Running
    """Takes the client's answers to what the parts request."""
    context: ServerContext
    thread: Thread
    notifier: Notifier
    """The turn's own; a compaction has another one."""
    results: Results
