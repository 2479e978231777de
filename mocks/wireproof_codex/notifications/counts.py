"""Sends what a turn used: token counts and rate limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_codex.legacy import codex_events
from wireproof_codex.notifications import item_messages
from wireproof_scripts.steps import Usage

if TYPE_CHECKING:
    from wireproof_codex.notifications.sender import NotificationSender


class CountSender:
    """Counts the tokens of a thread's responses and sends them."""

    def __init__(self, sender: NotificationSender) -> None:
        self._sender = sender
        self._thread = sender.thread
        self._version = sender.context.version

    def response(self, used: Usage, *, failed: bool = False) -> None:
        """Add the tokens of a response to the thread's and send them; unknown ones leave the rate limits alone.

        `failed`: the response counts, but the last one stays the one before it.
        """
        if used.unknown:
            self.rate_limits()
            return
        last, estimated = self._thread.last or Usage(input=0, output=0), self._thread.estimated
        self._thread.spend(used)
        if failed:
            self._thread.last, self._thread.estimated = last, estimated
        self._send()

    def so_far(self) -> None:
        """Send the counts as they are: when the model begins to answer, or its answer breaks off."""
        # The first answer of a thread: there is nothing to count yet (0.89.0 sends old totals from turn 2 on).
        if self._thread.last is None and self._thread.estimated is None:
            self.rate_limits()
        else:
            self._send()

    def full_context(self, *, began: bool) -> None:
        """Send the count of a full context window; versions that know no window send the rate limits alone.

        `began`: the model had begun to answer. Then rate limits come before the count, and after it as well, as on
        every thread that has had a count.
        """
        window = self._version.counts.context_window
        if window is None:
            self.rate_limits()
            return
        # Versions with early counts have sent the limits when the answer began.
        if began and not self._version.counts.early:
            self.rate_limits()
        self._thread.fill(window)
        self._token_usage()
        if began or self._thread.last is not None:
            self._updated_rate_limits()

    def rolled_back(self, turns: int) -> None:
        """Send the count after thread/rollback; no response says how long the rest is, so it is estimated."""
        # Four characters a token, as for summaries; an accepted difference (docs/fidelity.md).
        self._thread.estimated = len(str(self._thread.history)) // 4
        self._send()
        self._sender.legacy({"type": "thread_rolled_back", "num_turns": turns})

    def rate_limits(self) -> None:
        """Send the rate limits without counts."""
        self._sender.legacy(codex_events.token_count(None))
        self._updated_rate_limits()

    def _send(self) -> None:
        self._token_usage()
        self._updated_rate_limits()

    def _token_usage(self) -> None:
        thread = self._thread
        total, last = item_messages.usage(thread.total), item_messages.usage(thread.last or thread.total)
        # What filled the window counts in the total alone: no response has used it as input or output.
        total["totalTokens"] += thread.filled
        if thread.estimated is not None:
            last = item_messages.estimated(thread.estimated)
        params = item_messages.token_usage(self._sender.place, total, last, self._version.counts.context_window)
        self._sender.legacy(codex_events.token_count(params["tokenUsage"]))
        self._sender.notify("thread/tokenUsage/updated", params)

    def _updated_rate_limits(self) -> None:
        self._sender.notify("account/rateLimits/updated", item_messages.RATE_LIMITS)
