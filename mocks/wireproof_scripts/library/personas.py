"""What a model says to the personas, the emulated clients: calls of their tools, step after step, then text.

Where no text ends a script, the model repeats the last result (`default_answer`), or, where results come without ids,
all that it received: so the client sees that what it sent has arrived. Not to the client that reads blocks from text:
it would take those that it is shown for calls.
"""

from __future__ import annotations

from wireproof_scripts.library.written import parts
from wireproof_scripts.steps import Call, Reflect, Say, Script

PERSONA_TOOLS = ("localSearch", "readNote", "searchVault", "vault_search", "file_read", "read", "write")
"""The tools that the personas declare and these scripts call."""

# Cut within the tags, as a model's tokens cut them. The values are raw, as the model of such a client writes them: `&`
# and `<` stand for themselves.
_SEARCH_BLOCK = (
    "Let me look.\n<use_", "tool>\n  <name>localSearch</na", "me>\n  <query>R&D: costs < 10 %</query>\n",
    '  <salientTerms>["R&D", "costs"]</sal', "ientTerms>\n</use_t", "ool>",
)  # fmt: skip
_READ_BLOCK = ("<use_tool>\n  <name>readNote</name>\n", "  <notePath>R&D/Costs.md</notePath>\n</use_tool>")
_SEARCH = Call(id="call_vault_search", name="vault_search", arguments='{"query": "release", "limit": 5}')
_RECEIVED = Reflect("received")


PERSONAS: tuple[Script, ...] = (
    parts(
        "persona/obsidian-copilot-xml",
        "Two <use_tool> blocks in the text, one a turn, their values raw; then text.",
        (Say(_SEARCH_BLOCK),),
        (Say(_READ_BLOCK),),
        (Say(("The costs of R&D", " stay below", " 10 %.")),),
    ),
    parts(
        "persona/obsidian-copilot",
        "A search, then a note, then the result.",
        (Call(id="call_search", name="localSearch", arguments='{"query": "R&D costs", "salientTerms": ["costs"]}'),),
        (Say(("One", " moment.\n")), Call(id="call_read", name="readNote", arguments='{"notePath": "R&D/Costs.md"}')),
    ),
    parts(
        "persona/obsidian-copilot-functions",
        "A search of the vault, then the result.",
        (Call(id="call_vault", name="searchVault", arguments='{\n"query": "X"\n}'),),
        (_RECEIVED,),
    ),
    parts(
        "persona/chatgpt-md",
        # Two calls first and not later: with the first alone, as some proxies pass it on, the script still goes on.
        "Two searches at once, then files are read, then the result.",
        (
            Say(("Let me", " search.\n")),
            _SEARCH,
            Call(id="call_second_search", name="vault_search", arguments='{"query": "TypeScript"}'),
        ),
        (
            Call(
                id="call_file_read",
                name="file_read",
                arguments='{"filePaths": ["Projects/Release plan.md", "Daily/2026-11-20.md"]}',
            ),
        ),
    ),
    parts(
        "persona/chatgpt-md-without-tools",
        "Text for a client whose tools are switched off.",
        (Say(("I cannot", " see your notes.")),),
    ),
    parts(
        "persona/chatgpt-md-today",
        "A search; its result comes back as text, without tools; then the result.",
        (_SEARCH,),
        (_RECEIVED,),
    ),
    parts(
        "persona/chatgpt-md-declined",
        "A search that is never answered; the next message of the user gets text.",
        (_SEARCH,),
        (Say(("Then", " without", " your notes.")),),
    ),
    parts(
        "persona/opencode",
        "A file is read, then written, then the result.",
        (Call(id="call_read", name="read", arguments='{"filePath": "README.md"}'),),
        (
            Call(
                id="call_write",
                name="write",
                arguments='{"filePath": "README.md", "content": "# Readme\\n\\nOne line more — ✓\\n"}',
            ),
        ),
    ),
)
