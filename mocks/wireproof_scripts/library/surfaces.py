"""Scripts that are played on every surface, to be compared: they are asked for by no other scenario."""

from __future__ import annotations

from wireproof_scripts.library.written import part
from wireproof_scripts.steps import Call, Finish, Say, Script, Usage

SURFACES: tuple[Script, ...] = (
    part(
        "surfaces/text",
        "A text with characters of several bytes, in pieces.",
        Say(("Three bïrds ", "(auk, smew, 🦆)\n", "  and no more.")),
        Usage(input=23, output=11),
    ),
    part(
        "surfaces/calls",
        "Two calls of different tools.",
        Call(id="call_auk", name="localSearch", arguments='{"query":"auk","limit":2}'),
        Call(id="call_smew", name="readNote", arguments='{"notePath":"smew.md"}'),
        Usage(input=29, output=17),
    ),
    part(
        "surfaces/length",
        "A text that is cut at its limit.",
        Say(("One auk, two auks, ", "three")),
        Usage(input=19, output=5),
        Finish("length"),
    ),
)
