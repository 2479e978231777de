"""What a backend does besides speaking: commands and files to be approved of, answers that it tries again."""

from __future__ import annotations

from assay_scripts.steps import Command, Overload, Patch, Retry, Say, Script

_DONE = (Say(("Do", "ne.")),)

ACTING: tuple[Script, ...] = (
    Script(
        name="act/command",
        title="A command that the client must approve of, whatever the thread's policy; then text.",
        parts=((Command(id="call_act_0001", command="ls", output="a.txt\n", asks="always"),), _DONE),
    ),
    Script(
        name="act/patch",
        title="A file whose adding the client must approve of, whatever the thread's policy; then text.",
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
                Say(("Once ", "upon ")),
                Retry(attempt=1, attempts=2),
                Say(("Once ", "upon ")),
                Retry(attempt=2, attempts=2),
                Say(("Once ", "upon ", "a time.")),
            ),
        ),
    ),
)
