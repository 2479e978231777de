"""Scripts for clients that leave: each says so much, tells a turn beside it by a gate, and then hangs."""

from __future__ import annotations

from assay_scripts.steps import Call, Gate, Hang, Open, Say, Script

TOLD = "told"

_BEGUN = Call(
    id="call_left",
    name="localSearch",
    arguments='{"query": "never complete"}',
    shape="delta-tool-calls",
    pieces=('{"query": ', '"never', ' complete"}'),
    unfinished=True,
)

LEAVING: tuple[Script, ...] = (
    Script(name="leave/first", title="Nothing at all.", parts=((Open(TOLD), Hang()),)),
    Script(
        name="leave/arguments",
        title="Half of a call.",
        parts=((_BEGUN, Open(TOLD), Hang()),),
        notifications="story",
    ),
    Script(
        name="leave/call",
        title="A complete call, and no end.",
        parts=((Call(id="call_kept", name="localSearch", arguments='{"query": "complete"}'), Open(TOLD), Hang()),),
    ),
    Script(
        name="leave/told",
        title="A word, as soon as the turn beside it has said all that it says.",
        parts=((Gate(TOLD, timeout=3.0), Say(("told",))),),
    ),
)
