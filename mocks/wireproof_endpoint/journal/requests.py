"""The requests of a test, as a list that can be asserted over: what is wrong is said with what came."""

from __future__ import annotations

from wireproof_endpoint.journal.calls import SentCall, calls_in
from wireproof_endpoint.journal.entry import JournalEntry

_SHOWN = 10


class SeenRequests(list[JournalEntry]):
    """What came so far, oldest first."""

    def where(self, **wanted: object) -> SeenRequests:
        """Those whose attributes are these: `script`, `part`, `path`, `method`, `status`, `ended`."""
        return SeenRequests(
            entry for entry in self if all(getattr(entry, name) == value for name, value in wanted.items())
        )

    def one(self, **wanted: object) -> JournalEntry:
        """The only one of these.

        Raises:
            AssertionError: there is none, or more than one.
        """
        found = self.where(**wanted)
        if len(found) == 1:
            return found[0]
        with_ = " with " + ", ".join(f"{name}={value!r}" for name, value in wanted.items()) if wanted else ""
        raise AssertionError(f"{len(found) or 'no'} requests{with_} came, not one; {self}")

    def calls(self, tool: str | None = None) -> list[SentCall]:
        """The calls of a tool that were sent, or of all tools, with what the client returned for each."""
        return [call for call in calls_in(self) if tool in {None, call.name}]

    def call(self, tool: str) -> SentCall:
        """The only call of a tool.

        Raises:
            AssertionError: there is none, or more than one.
        """
        found = self.calls(tool)
        if len(found) == 1:
            return found[0]
        others = ", ".join(call.name for call in self.calls()) or "none"
        raise AssertionError(f"{len(found) or 'no'} calls of {tool} were sent, not one; sent were: {others}; {self}")

    def __str__(self) -> str:
        """All of them, a line each."""
        if not self:
            return "no request came at all"
        more = len(self) - _SHOWN
        lines = [*map(_line, self[:_SHOWN]), *([f"  and {more} more"] if more > 0 else [])]
        return "\n".join(["what came:", *lines])


def _line(entry: JournalEntry) -> str:
    script = f", script {entry.script}, part {entry.part}" if entry.script is not None else ""
    error = f": {entry.error.get('message')}" if entry.error else ""
    return f"  {entry.number}. {entry.method} {entry.path}{script}, {entry.status} {entry.ended or 'under way'}{error}"
