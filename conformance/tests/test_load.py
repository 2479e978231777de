"""The verdict on a target does not depend on what runs beside: jobs, another run on its backend, a busy machine.

Of the scenarios that may show a difference a sample is driven: what is about time, simultaneous requests, or state that
runs could share. With `--whole`, as the nightly run does, all of them are.
"""

from __future__ import annotations

BUSY = "while True: pass"
"""What a process does that takes all the time that it can get."""
TIMES = 4
"""How many such processes there are for each processor."""
KEPT = frozenset({
    "text-hello", "flush", "silence", "concurrent", "disconnect", "disconnect-first", "call-one", "tool-loop",
    "many-steps", "history", "fresh-session", "fail-first", "fail-after-text", "n-two", "request-ids", "stored-delete",
})  # fmt: skip
