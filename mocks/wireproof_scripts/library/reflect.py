"""Scripts that report what the backend knows, and one that opens a gate for another turn."""

from __future__ import annotations

from wireproof_scripts.library.written import part
from wireproof_scripts.steps import Open, Reflect, Say, Script

REFLECT: tuple[Script, ...] = (
    part(
        "probe",
        "Text by which a client recognises the scripted backend.",
        Say(("Wireproof: ", "the scripted backend ", "is here.")),
    ),
    # For text/gate: a client that plays this once it has the first piece shows that nothing was held back.
    part("open/gate", "Opens the gate for the turns under the same nonce.", Open("gate"), Say(("opened",))),
    # The other side of a proxy: the requirements turn.* are read off what reached the backend.
    part("reflect/received", "JSON of what this turn received.", Reflect("received")),
    # What an older Codex cannot do, no proxy in front of it can show: a client must know which one is played.
    part("reflect/backend", "JSON of the version and the protocol of the Codex that is played.", Reflect("backend")),
    # chat.stream.disconnect: whether the turn of a client that left was interrupted.
    part("reflect/turns", "JSON of how the other turns under the nonce ended.", Reflect("turns")),
)
