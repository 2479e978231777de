"""Scripts that call tools. Their clients must declare the tools that are called (`TOOLS_NAMED`)."""

from __future__ import annotations

from wireproof_scripts.library.written import part, parts
from wireproof_scripts.steps import Call, Finish, Say, Script

# Spacing, 1.50, an escaped and a raw accent, an escaped slash, the order of keys: a JSON writer changes each of these,
# so a proxy that parses and rewrites arguments is found out.
ODD_SPELLING = (
    '{ "query" :  "caf\\u00e9 und caf\u00e9 \U0001f600 a\\/b" , "n":1.50, "big": 10000000000000000001,'
    '\n  "a":[ ],"Z" : {"k" :null}}'
)
_CONTENT = 'Zeile \u2014 \u65e5\u672c \U0001f600 \\"zitiert\\" \\n'
# chat.stream.arguments-verbatim: whatever their length.
LARGE = '{"path": "notes/large.md", "content": "' + _CONTENT * 2048 + '"}'
MEGABYTE = '{"path": "notes/megabyte.md", "content": "' + "0123456789abcde\u00e9" * 65_536 + '"}'
"""A little more than 1 MiB."""

_SEARCH = Call(id="call_search", name="localSearch", arguments='{"query": "release notes"}')
_READ = Call(id="call_read", name="readNote", arguments='{"notePath": "notes/release.md"}')

# Tools of Obsidian Copilot, whose parameters xml.order knows.
TOOLS_NAMED = (
    "localSearch", "readNote", "getFileTree", "writeToFile",
    "replaceInFile", "webSearch", "getTagList", "convertTimeBetweenTimezones",
)  # fmt: skip

CALLS: tuple[Script, ...] = (
    part(
        "call/one",
        "One call with arguments that no JSON writer spells like this.",
        Call(id="call_one", name="localSearch", arguments=ODD_SPELLING),
    ),
    part(
        "call/empty-arguments", "A call without parameters.", Call(id="call_empty", name="getFileTree", arguments="{}")
    ),
    # Not native: Codex asks for no call whose arguments are no JSON.
    part(
        "call/bare",
        "A call with empty text as arguments.",
        Call(id="call_bare", name="getFileTree", arguments="", shape="delta-tool-calls"),
    ),
    part(
        "call/large",
        "A call with more than 64 KiB of arguments in multi-byte text.",
        Call(id="call_large", name="writeToFile", arguments=LARGE),
    ),
    part(
        "call/megabyte",
        "A call with a mebibyte of arguments.",
        Call(id="call_megabyte", name="writeToFile", arguments=MEGABYTE),
    ),
    # Not native, as those of call/bare. A JSON repairer closes the string and the object.
    part(
        "call/broken",
        "A call whose arguments break off: no JSON, and the model's own.",
        Call(
            id="call_broken",
            name="localSearch",
            arguments='{"query": "half a wo',
            shape="delta-tool-calls",
            pieces=('{"query": ', '"half a wo'),
        ),
        notifications="story",
    ),
    # chat.stream.stop-after-first and burst-all part here.
    part("call/two", "Two calls of different tools.", _SEARCH, _READ),
    # What a gateway loses that takes the delta with a call's name for one without arguments.
    part(
        "call/beside-name",
        "Two calls, the first of whose arguments a server sends beside the name.",
        Call(
            id="call_search",
            name="localSearch",
            arguments='{"query": "release notes"}',
            pieces=('{"query": "rel', 'ease notes"}'),
            beside=True,
        ),
        Call(id="call_read", name="readNote", arguments='{"notePath": "notes/release.md"}', beside=True),
    ),
    part(
        "call/three",
        "Three calls of different tools.",
        _SEARCH,
        _READ,
        Call(id="call_tree", name="getFileTree", arguments="{}"),
    ),
    # What a proxy that knows calls by their content takes for one.
    part(
        "call/same-twice",
        "The same tool with the same arguments twice: two calls, two ids.",
        Call(id="call_same_1", name="localSearch", arguments='{"query": "twice"}'),
        Call(id="call_same_2", name="localSearch", arguments='{"query": "twice"}'),
    ),
    part("call/after-text", "Text, then a call.", Say(("Let me", " look.")), _SEARCH),
    # chat.stream.tail-suppressed, chat.whole.tail-dropped.
    part(
        "call/tail", "Text after a call in the same answer of the model.", _SEARCH, Say(("This tail", " is dropped."))
    ),
    # chat.stream.nothing-after-finish.
    part(
        "call/late",
        "A call that comes after the model's answer was complete.",
        _SEARCH,
        Finish(),
        Call(id="call_late", name="readNote", arguments='{"notePath": "late.md"}'),
    ),
    # turn.follow-up-without-tools.
    parts(
        "call/then-text", "A call; with its result in the history, text.", (_SEARCH,), (Say(("All", " clear", ".")),)
    ),
    parts(
        "call/steps",
        "A call, a second call, then text: one step per result.",
        (_SEARCH,),
        (_READ,),
        (Say(("Both", " steps", " done.")),),
    ),
    # chat.stream.finish-reason, chat.whole.finish.
    part("text/length-call", "A call in an answer that was cut off: the call wins.", _SEARCH, Finish("length")),
    # turn.multi-step: tools stripped after the first result would end it early.
    parts(
        "turn/many-steps",
        "A call, a second call of what the first one found, then text.",
        (Call(id="call_find", name="localSearch", arguments='{"query": "many steps"}'),),
        (Say(("One more", " look.")), Call(id="call_open", name="readNote", arguments='{"notePath": "steps.md"}')),
        (Say(("After", " two", " steps", ".")),),
    ),
)
