"""Scripts that report what the backend knows, and one that opens a gate for another turn."""

from __future__ import annotations

from wireproof_scripts.steps import Open, Reflect, Say, Script

REFLECT: tuple[Script, ...] = (
    Script(
        name="probe",
        title="Text by which a client recognises the scripted backend.",
        parts=((Say(("Wireproof: ", "the scripted backend ", "is here.")),),),
    ),
    Script(
        # For text/gate: a client that plays this once it has the first piece shows that nothing was held back.
        name="open/gate",
        title="Opens the gate for the turns under the same nonce.",
        parts=((Open("gate"), Say(("opened",))),),
    ),
    # The other side of a proxy: the requirements turn.* are read off what reached the backend.
    Script(name="reflect/received", title="JSON of what this turn received.", parts=((Reflect("received"),),)),
    # What an older Codex cannot do, no proxy in front of it can show: a client must know which one is played.
    Script(
        name="reflect/backend",
        title="JSON of the version and the protocol of the Codex that is played.",
        parts=((Reflect("backend"),),),
    ),
    # chat.stream.disconnect: whether the turn of a client that left was interrupted.
    Script(
        name="reflect/turns", title="JSON of how the other turns under the nonce ended.", parts=((Reflect("turns"),),)
    ),
)
