"""Scripts that are played on every surface, to be compared: they are asked for by no other scenario."""

from __future__ import annotations

from wireproof_scripts.steps import Call, Finish, Say, Script, Usage

SURFACES: tuple[Script, ...] = (
    Script(
        name="surfaces/text",
        title="A text with characters of several bytes, in pieces.",
        parts=((Say(("Three bïrds ", "(auk, smew, 🦆)\n", "  and no more.")), Usage(input=23, output=11)),),
    ),
    Script(
        name="surfaces/calls",
        title="Two calls of different tools.",
        parts=(
            (
                Call(id="call_auk", name="localSearch", arguments='{"query":"auk","limit":2}'),
                Call(id="call_smew", name="readNote", arguments='{"notePath":"smew.md"}'),
                Usage(input=29, output=17),
            ),
        ),
    ),
    Script(
        name="surfaces/length",
        title="A text that is cut at its limit.",
        parts=((Say(("One auk, two auks, ", "three")), Usage(input=19, output=5), Finish("length")),),
    ),
)
