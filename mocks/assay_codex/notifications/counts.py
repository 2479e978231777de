"""How one turn tells what it cost: tokens and limits, when the version tells them."""

from __future__ import annotations

from assay_codex.notifications import item_messages, legacy
from assay_codex.notifications.sender import Notifying
from assay_scripts.steps import Usage


class Counting(Notifying):
    """Tells the counts of a turn."""

    def usage(self, used: Usage, now: float, *, kept: bool = False) -> None:
        """Add the tokens of a response to the thread's; `kept`: the last response was another one."""
        if used.unknown:
            self.rate_limits(now)
            return
        last, estimated = self._thread.last or Usage(input=0, output=0), self._thread.estimated
        self._thread.spend(used)
        if kept:
            self._thread.last, self._thread.estimated = last, estimated
        self._counts(now)

    def counts_before(self, now: float) -> None:
        """What was counted up to now: where the model begins to answer, or its answer is broken off."""
        if self._thread.last is None and self._thread.estimated is None:
            self.rate_limits(now)
        else:
            self._counts(now)

    def full_context(self, now: float, *, began: bool) -> None:
        """The token count that is told when the context window is exceeded; without a window the limits alone.

        `began`: the model had begun to answer, so that there are limits before it, and after it as on every thread that
        knows some.
        """
        window = self._context.version.counts.context_window
        if window is None:
            self.rate_limits(now)
            return
        if began and not self._context.version.counts.early:
            self.rate_limits(now)
        self._thread.fill(window)
        self._token_usage(now)
        if began or self._thread.last is not None:
            self._rate_limits(now)

    def rolled_back(self, turns: int, now: float) -> None:
        """Turns are gone from the thread's end; what is left is estimated, in the place of the last answer's tokens."""
        self._thread.estimated = len(str(self._thread.history)) // 4
        self._counts(now)
        self.older({"type": "thread_rolled_back", "num_turns": turns}, now)

    def _counts(self, now: float) -> None:
        self._token_usage(now)
        self._rate_limits(now)

    def _token_usage(self, now: float) -> None:
        thread = self._thread
        total, last = item_messages.usage(thread.total), item_messages.usage(thread.last or thread.total)
        total["totalTokens"] += thread.filled
        if thread.estimated is not None:
            last = item_messages.estimated(thread.estimated)
        params = item_messages.token_usage(self.place, total, last, self._context.version.counts.context_window)
        self.older(legacy.token_count(params["tokenUsage"]), now)
        self.notify("thread/tokenUsage/updated", params, now)

    def rate_limits(self, now: float) -> None:
        """The limits alone, without counts."""
        self.older(legacy.token_count(None), now)
        self._rate_limits(now)

    def _rate_limits(self, now: float) -> None:
        """account/rateLimits/updated, of which nothing is known."""
        self.notify("account/rateLimits/updated", item_messages.RATE_LIMITS, now)
