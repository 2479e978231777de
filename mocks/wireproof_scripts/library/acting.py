"""Scripts of what a backend does besides text and calls: commands, patches, overload, retries."""

from __future__ import annotations

from wireproof_scripts.library.written import part, parts
from wireproof_scripts.steps import Command, Overload, Patch, Retry, Say, Script

_DONE = (Say(("Do", "ne.")),)

ACTING: tuple[Script, ...] = (
    parts(
        "act/command",
        "A command that the client must approve, whatever the thread's policy; then text.",
        # Always: proxies do well to start threads with the policy `never`, under which nothing else asks.
        (Command(id="call_act_0001", command="ls", output="a.txt\n", asks="always"),),
        _DONE,
    ),
    parts(
        "act/patch",
        "A new file that the client must approve, whatever the thread's policy; then text.",
        (Patch(id="call_act_0001", path="new.txt", content="new\n", asks="always"),),
        _DONE,
    ),
    part("act/overload", "A backend that is overloaded at the first try; then text.", Overload(), *_DONE),
    part(
        "act/retry",
        "An answer that breaks off twice and begins again, each time under a new id.",
        # As Codex reports stream retries: what was sent is never taken back, and the answer starts again.
        Say(("Once ", "upon ")),
        Retry(attempt=1, attempts=2),
        Say(("Once ", "upon ")),
        Retry(attempt=2, attempts=2),
        Say(("Once ", "upon ", "a time.")),
    ),
)
