"""Scripts that call tools. Their clients must declare the tools that are called (`TOOLS_NAMED`)."""

from __future__ import annotations

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
    Script(
        name="call/one",
        title="One call with arguments that no JSON writer spells like this.",
        parts=((Call(id="call_one", name="localSearch", arguments=ODD_SPELLING),),),
    ),
    Script(
        name="call/empty-arguments",
        title="A call without parameters.",
        parts=((Call(id="call_empty", name="getFileTree", arguments="{}"),),),
    ),
    Script(
        # Not native: Codex asks for no call whose arguments are no JSON.
        name="call/bare",
        title="A call with empty text as arguments.",
        parts=((Call(id="call_bare", name="getFileTree", arguments="", shape="delta-tool-calls"),),),
    ),
    Script(
        name="call/large",
        title="A call with more than 64 KiB of arguments in multi-byte text.",
        parts=((Call(id="call_large", name="writeToFile", arguments=LARGE),),),
    ),
    Script(
        name="call/megabyte",
        title="A call with a mebibyte of arguments.",
        parts=((Call(id="call_megabyte", name="writeToFile", arguments=MEGABYTE),),),
    ),
    Script(
        # Not native, as those of call/bare. A JSON repairer closes the string and the object.
        name="call/broken",
        title="A call whose arguments break off: no JSON, and the model's own.",
        parts=(
            (
                Call(
                    id="call_broken",
                    name="localSearch",
                    arguments='{"query": "half a wo',
                    shape="delta-tool-calls",
                    pieces=('{"query": ', '"half a wo'),
                ),
            ),
        ),
        notifications="story",
    ),
    Script(
        # chat.stream.stop-after-first and burst-all part here.
        name="call/two",
        title="Two calls of different tools.",
        parts=((_SEARCH, _READ),),
    ),
    Script(
        name="call/three",
        title="Three calls of different tools.",
        parts=((_SEARCH, _READ, Call(id="call_tree", name="getFileTree", arguments="{}")),),
    ),
    Script(
        # What a proxy that knows calls by their content takes for one.
        name="call/same-twice",
        title="The same tool with the same arguments twice: two calls, two ids.",
        parts=(
            (
                Call(id="call_same_1", name="localSearch", arguments='{"query": "twice"}'),
                Call(id="call_same_2", name="localSearch", arguments='{"query": "twice"}'),
            ),
        ),
    ),
    Script(
        name="call/after-text",
        title="Text, then a call.",
        parts=((Say(("Let me", " look.")), _SEARCH),),
    ),
    Script(
        # chat.stream.tail-suppressed, chat.whole.tail-dropped.
        name="call/tail",
        title="Text after a call in the same answer of the model.",
        parts=((_SEARCH, Say(("This tail", " is dropped."))),),
    ),
    Script(
        # chat.stream.nothing-after-finish.
        name="call/late",
        title="A call that comes after the model's answer was complete.",
        parts=((_SEARCH, Finish(), Call(id="call_late", name="readNote", arguments='{"notePath": "late.md"}')),),
    ),
    Script(
        # turn.follow-up-without-tools.
        name="call/then-text",
        title="A call; with its result in the history, text.",
        parts=((_SEARCH,), (Say(("All", " clear", ".")),)),
    ),
    Script(
        name="call/steps",
        title="A call, a second call, then text: one step per result.",
        parts=((_SEARCH,), (_READ,), (Say(("Both", " steps", " done.")),)),
    ),
    Script(
        # chat.stream.finish-reason, chat.whole.finish.
        name="text/length-call",
        title="A call in an answer that was cut off: the call wins.",
        parts=((_SEARCH, Finish("length")),),
    ),
    Script(
        # turn.multi-step: tools stripped after the first result would end it early.
        name="turn/many-steps",
        title="A call, a second call of what the first one found, then text.",
        parts=(
            (Call(id="call_find", name="localSearch", arguments='{"query": "many steps"}'),),
            (Say(("One more", " look.")), Call(id="call_open", name="readNote", arguments='{"notePath": "steps.md"}')),
            (Say(("After", " two", " steps", ".")),),
        ),
    ),
)
