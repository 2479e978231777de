"""Calls whose arguments are hard to write as a `<use_tool>` block."""

from __future__ import annotations

from wireproof_scripts.library.written import part
from wireproof_scripts.steps import Call, Script

# Every kind of value; the markup and quotes that need care, a line break, and characters of several planes.
VALUES = (  # 1.50e3 and 0.10: xml.values keeps the spelling of numbers
    '{"query": "a & b <c> \\"d\\" \'e\'\\nZeile \u2014 \u65e5\u672c \U0001f600", "count": 12, "ratio": -1.50e3, '
    '"yes": true, "no": false, "nothing": null, "empty": "", "list": [1, "<two>", [], null], '
    '"object": {"k": "v & w", "n": {"deep": 0.10}}, "entity": "&amp; &lt;"}'
)


# Each tool of several parameters, its arguments in another order than the parameters.
_TURNED = (  # xml.order: the block follows the tool's parameters
    ("localSearch", '{"timeRange": null, "salientTerms": ["order"], "query": "order"}'),
    ("webSearch", '{"chatHistory": [], "query": "order"}'),
    ("convertTimeBetweenTimezones", '{"toOffset": "+2", "fromOffset": "+1", "time": "6pm"}'),
    ("readNote", '{"chunkIndex": 1, "notePath": "order.md"}'),
    ("getTagList", '{"maxEntries": 5, "includeInline": true}'),
    ("replaceInFile", '{"diff": "order", "path": "order.md"}'),
)


XML: tuple[Script, ...] = (
    part(
        "xml/values",
        "Arguments with every kind of value, and with everything that XML escapes.",
        Call(id="call_values", name="localSearch", arguments=VALUES),
    ),
    part(
        "xml/order",
        # xml.order: the tool's parameters first, the rest in the order in which it came.
        "Arguments in another order than the tool's parameters, and one that is no parameter.",
        Call(
            id="call_order",
            name="writeToFile",
            arguments='{"extra": "last", "content": "second", "path": "first.md"}',
        ),
    ),
    part(
        "xml/orders",
        "Calls of each tool of several parameters, with the arguments in another order.",
        *(
            Call(id=f"call_{number}", name=name, arguments=arguments)
            for number, (name, arguments) in enumerate(_TURNED)
        ),
    ),
    part(
        "xml/no-object",
        # xml.values: what is no object is put into `<args>`, whole.
        "Arguments that are JSON, but no object.",
        Call(id="call_list", name="localSearch", arguments="[1, 2]"),
    ),
    part(
        "xml/broken",
        "Arguments that are no JSON.",
        # Not native: Codex does not ask for it.
        Call(id="call_broken", name="localSearch", arguments='{"query": ', shape="delta-tool-calls"),
    ),
    part(
        "xml/no-arguments",
        # xml.no-arguments.
        "A call without arguments.",
        Call(id="call_none", name="getFileTree", arguments="{}"),
    ),
    part(
        "xml/odd-key",
        "Arguments with keys that are no XML names.",
        Call(id="call_odd", name="localSearch", arguments='{"query": "odd", "two words": 1, "2nd": [true]}'),
    ),
)
