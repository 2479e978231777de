"""Scripts whose text contains a `<use_tool>` block, or something that looks like the beginning of one."""

from __future__ import annotations

from wireproof_scripts.library.written import part
from wireproof_scripts.steps import Call, Say, Script

# Odd spacing: a proxy that parses and rewrites the block changes it and is found out.
ODD_BLOCK = (
    "<use_tool>\n\n\t<name>localSearch</name>\n"
    ' <query>odd   spacing &amp; more\u2026</query>  <salientTerms>[ "a" ,\n"b" ]</salientTerms>\n  </use_tool>'
)
_BLOCK = "<use_tool>\n  <name>localSearch</name>\n  <query>cut anywhere</query>\n</use_tool>"

TEXTUAL: tuple[Script, ...] = (
    part("textual/verbatim", "Text and a block with odd spacing, in one piece.", Say((f"Let me look.\n{ODD_BLOCK}",))),
    part("textual/any-cut", "The same, one character a delta.", Say(tuple(f"Let me look.\n{ODD_BLOCK}"))),
    # 10 is the length of the opening tag, which is sent in two halves.
    part(
        "textual/prefix",
        "Text that comes right up to the block.",
        Say(("Words before", " the block, a < b,", " and then: <use", f"_tool>{_BLOCK[10:]}")),
    ),
    part(
        "textual/tail",
        "Text after the block, in the same piece and in later ones.",
        Say((f"{_BLOCK} and then", " some more", " words.")),
    ),
    # What was held back as the beginning of a tag must be sent after all, in order.
    part(
        "textual/false-start",
        "Text that begins like a block, again and again, and never is one.",
        Say(("a <", " b <use", "_tool", "s <", "use_", "too")),
    ),
    part(
        "textual/unterminated",
        "A block that is never closed is text.",
        Say(("Let me look. ", "<use_tool>\n  <name>localSearch</name>\n", "  <query>never", " closed</query>")),
    ),
    # The block first: when the native call comes, a proxy has already made a call of it.
    part(
        "textual/structured-wins",
        "A block, and then the same call natively: one call.",
        Call(
            id="call_wins",
            name="localSearch",
            arguments='{ "query": "told twice" }',
            shape="use-tool",
            also=("native",),
        ),
    ),
)
