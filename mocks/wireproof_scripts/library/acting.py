"""Scripts of what a backend does besides text and calls: commands, patches, overload, retries."""

from __future__ import annotations

from wireproof_scripts.steps import Command, Overload, Patch, Retry, Say, Script

_DONE = (Say(("Do", "ne.")),)

ACTING: tuple[Script, ...] = (
    Script(
        name="act/command",
        title="A command that the client must approve, whatever the thread's policy; then text.",
        # Always: proxies do well to start threads with the policy `never`, under which nothing else asks.
        parts=((Command(id="call_act_0001", command="ls", output="a.txt\n", asks="always"),), _DONE),
    ),
    Script(
        name="act/patch",
        title="A new file that the client must approve, whatever the thread's policy; then text.",
        parts=((Patch(id="call_act_0001", path="new.txt", content="new\n", asks="always"),), _DONE),
    ),
    Script(
        name="act/overload",
        title="A backend that is overloaded at the first try; then text.",
        parts=((Overload(), *_DONE),),
    ),
    Script(
        name="act/retry",
        title="An answer that breaks off twice and begins again, each time under a new id.",
        parts=(
            (
                # As Codex reports stream retries: what was sent is never taken back, and the answer starts again.
                Say(("Once ", "upon ")),
                Retry(attempt=1, attempts=2),
                Say(("Once ", "upon ")),
                Retry(attempt=2, attempts=2),
                Say(("Once ", "upon ", "a time.")),
            ),
        ),
    ),
)
