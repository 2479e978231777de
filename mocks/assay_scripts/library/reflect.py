"""Scripts that report what the backend knows, and one that opens a gate for another turn."""

from __future__ import annotations

from assay_scripts.steps import Open, Reflect, Say, Script

REFLECT: tuple[Script, ...] = (
    Script(
        name="probe",
        title="Text by which a client recognises the scripted backend.",
        parts=((Say(("Assay: ", "the scripted backend ", "is here.")),),),
    ),
    Script(
        name="open/gate",
        title="Opens the gate for the turns under the same nonce.",
        parts=((Open("gate"), Say(("opened",))),),
    ),
    Script(name="reflect/received", title="JSON of what this turn received.", parts=((Reflect("received"),),)),
    Script(
        name="reflect/turns", title="JSON of how the other turns under the nonce ended.", parts=((Reflect("turns"),),)
    ),
)
