"""Scripts whose text contains `<tool_call>` blocks, or something that looks like one."""

from __future__ import annotations

from wireproof_scripts.library.written import part, parts
from wireproof_scripts.steps import Say, Script

# Odd spacing: a proxy that parses and rewrites the arguments changes it and is found out.
_ARGUMENTS = r'"{ \"query\" :  \"caf\\u00e9 \ud83d\ude00\", \"n\":1.50 }"'
_CALL = '<tool_call>{"id": "call_sentinel", "name": "localSearch", "arguments": ' + _ARGUMENTS + "}</tool_call>"
_OBJECT = (
    '<tool_call>{"call_id":"call_object","name":"readNote",'  # `call_id` is as good as `id`, an object as good as text
    '"arguments":{ "notePath" : "a b.md", "chunkIndex" : 2 }}</tool_call>'
)
_TAGGED = (
    '<tool_call>{"id": "call_tagged", "name": "localSearch", "arguments": '
    r'"{\"query\": \"what does </tool_call> end? <tool_call>\"}"}</tool_call>'
)
_FENCED = f"```json\n{_CALL}\n```\n"

SENTINEL: tuple[Script, ...] = (
    part(
        "sentinel/plain",
        "Text, a block on its own line, and text after it, each in one piece.",
        Say(("Let me look.\n", _CALL, "\nI have called the tool.")),
    ),
    part(
        "sentinel/any-cut",
        "The same, one character a delta.",
        Say(tuple(f"Let me look.\n{_CALL}\nI have called the tool.")),
    ),
    # 11 is the length of the opening tag, which is sent in two halves; 7 characters are left of the closing one.
    part(
        "sentinel/halves",
        "A block whose tags are cut in halves, the rest of each in the next delta.",
        Say(("Let me look.\n<tool", f"_call>{_CALL[11:-7]}", _CALL[-7:])),
    ),
    # responses.sentinel.own-line, from here to `nested-fence`: what is no block is text, whole and in order.
    part(
        "sentinel/false-start",
        "Lines that begin like a block, and never are one.",
        Say(("<", "tool\n<tool_", "calls>\n<tool_cal", "\n < tool_call>\n<", "tool")),
    ),
    part(
        "sentinel/within-line",
        "A block in the midst of a line, and JSON without a sentinel, are text.",
        Say(("The block is ", _CALL, ".\n", '{"type": "tool_call", "id": "c", "name": "localSearch"}\n')),
    ),
    part(
        "sentinel/fenced",
        "A block in a code fence is text; one after the fence is a call.",
        Say((f"This is how:\n{_FENCED}And now:\n", _CALL)),
    ),
    part(
        "sentinel/fences",
        "Blocks in code fences of every kind, and nothing else.",
        Say((f"{_FENCED}~~~\n{_CALL}\n~~~\n````\n", f"{_CALL}\n````")),
    ),
    part(
        "sentinel/indented",
        "A block behind blanks is not at the start of its line.",
        Say(("Look:\n  ", _CALL, "\n\t", f"{_CALL}\nDone.")),
    ),
    part(
        "sentinel/nested-fence",
        "A block in a code fence of four, which a fence of three does not close.",
        Say(("````\n```\n", f"{_CALL}\n```\n", f"{_CALL}\n````\nDone.")),
    ),
    # responses.sentinel.invalid, from here to `undeclared`: such a block stays in the text.
    part(
        "sentinel/no-json",
        "A block that holds no JSON.",
        Say(("Look:\n<tool_call>", "{'id': 'call_1', name: ", "localSearch}</tool_call>\nDone.")),
    ),
    part(
        "sentinel/no-id",
        "A block without an id.",
        Say(('Look:\n<tool_call>{"name": "localSearch", "arguments": "{}"}</tool_call>\nDone.',)),
    ),
    part(
        "sentinel/no-name",
        "A block without a name.",
        Say(('Look:\n<tool_call>{"id": "call_1", "arguments": "{}"}</tool_call>\nDone.',)),
    ),
    part(
        "sentinel/unterminated",
        "A block that never closes.",
        Say(("Look:\n<tool_call>", '{"id": "call_1", "name": "localSearch"', "\nand so on.")),
    ),
    # Unlike these it is a call: the backend may call what was not declared, and the proxy passes it on.
    part(
        "sentinel/undeclared",
        "A block that names a tool which the request does not declare.",
        Say(('<tool_call>{"id": "call_odd", "name": "oddTool", "arguments": "{}"}</tool_call>',)),
    ),
    # responses.sentinel.arguments: the first closing tag is not always the end.
    part(
        "sentinel/tagged",
        "A block with tags within a string of its JSON, one character a delta.",
        Say(tuple(f"Let me see.\n{_TAGGED}\nDone.")),
    ),
    part(
        "sentinel/several",
        "Two blocks with text between: arguments as a string, and as an object; id, and call_id.",
        Say(("First this:\n", _CALL, "\nThen that:\n", _OBJECT, "\n")),
    ),
    parts(
        "sentinel/then-text",
        "A block, and after its result the final text.",
        (Say((_CALL,)),),
        (Say(("Three notes", " were found.")),),
    ),
)
