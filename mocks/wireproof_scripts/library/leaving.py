"""Scripts for clients that disconnect: each sends something, opens a gate for a second turn, and then hangs."""

from __future__ import annotations

from dataclasses import replace

from wireproof_scripts.library.failures import HALF_A_CALL
from wireproof_scripts.library.written import part
from wireproof_scripts.steps import Call, Gate, Hang, Open, Say, Script

# A second turn waits at it, as the client of the first may have received nothing that shows how far the turn is.
SENT = "told"
"""The gate that is opened when the first turn has sent everything: its client may disconnect now."""

_BEGUN = replace(HALF_A_CALL, id="call_left")

LEAVING: tuple[Script, ...] = (
    # Each hangs, so that chat.stream.disconnect can see who interrupts the turn: it has no other end.
    part("leave/first", "Nothing at all.", Open(SENT), Hang()),
    part("leave/arguments", "Half of a call.", _BEGUN, Open(SENT), Hang(), notifications="story"),
    part(
        "leave/call",
        "A complete call, and no end.",
        Call(id="call_kept", name="localSearch", arguments='{"query": "complete"}'),
        Open(SENT),
        Hang(),
    ),
    part(
        "leave/told",
        "Text, as soon as the first turn under the nonce has sent everything.",
        Gate(SENT, timeout=3.0),
        Say(("told",)),
    ),
)
