"""Scripts of one call in every shape, and of what goes wrong with each: ids, fragments, calls that are sent twice."""

from __future__ import annotations

from dataclasses import replace

from wireproof_scripts.calls.blocks import BLOCKS
from wireproof_scripts.library.written import part
from wireproof_scripts.steps import Call, Say, Script

# 1.50: parsed and written again, 1.5.
_CALL = Call(id="call_shape", name="localSearch", arguments='{"query": "same bytes", "limit": 1.50}')
_FRAGMENTS = ('{"query": "sa', "me byt", 'es", "limit": 1.', "50}")


def _tenths(text: str) -> tuple[str, ...]:
    """The text in about ten pieces, so that tags and values are cut."""
    size = -(-len(text) // 10)
    return tuple(text[start : start + size] for start in range(0, len(text), size))


SHAPES: tuple[Script, ...] = (
    # The letters are those of the requirements, shapes.a to shapes.h.
    part(
        "shapes/a",
        "A call as tool_calls fragments in agentMessageDelta.",
        replace(_CALL, shape="delta-tool-calls", pieces=_FRAGMENTS),
        notifications="story",
    ),
    # As codex/event has it: what a notification says is one member of its params.
    part(
        "shapes/nested",
        "A call as tool_calls fragments in agentMessageDelta, all of it inside params.msg.",
        replace(_CALL, shape="delta-tool-calls", pieces=_FRAGMENTS),
        notifications="nested",
    ),
    part(
        "shapes/b",
        "A call as function_call fragments in agentMessageDelta.",
        replace(_CALL, shape="delta-function-call", pieces=_FRAGMENTS),
        notifications="story",
    ),
    part(
        "shapes/c",
        "A call as events of the Responses API in agentMessageDelta.",
        replace(_CALL, shape="responses-events", pieces=_FRAGMENTS),
        notifications="story",
    ),
    part(
        "shapes/d",
        # No pieces: a whole message has no fragments.
        "A call as tool_calls of a whole agentMessage.",
        replace(_CALL, shape="message-tool-calls"),
        notifications="story",
    ),
    part(
        "shapes/d-function",
        "A call as function_call of a whole agentMessage.",
        replace(_CALL, shape="message-function-call"),
        notifications="story",
    ),
    # No pieces: Codex sends the arguments whole, and parsed.
    part("shapes/e", "A call as Codex itself requests it: item/tool/call.", _CALL),
    # As versions up to 0.114 do it; a proxy must count one family alone.
    part(
        "shapes/f",
        "Text and a call, every event sent twice, as codex/event and as a typed notification.",
        Say(("Let me", " look.")),
        _CALL,
        notifications="double",
    ),
    part(
        "shapes/g",
        "A call as a <tool_call> sentinel in the text, cut anywhere.",
        replace(_CALL, shape="sentinel", pieces=_tenths(BLOCKS["sentinel"](_CALL))),
    ),
    part(
        "shapes/h",
        "A call as a <use_tool> block in the text, cut anywhere.",
        replace(_CALL, shape="use-tool", pieces=_tenths(BLOCKS["use-tool"](_CALL))),
    ),
    # An id that comes late belongs to the call that it follows.
    part(
        "shapes/late-id",
        "A call whose id comes with its last fragment.",
        replace(_CALL, shape="delta-tool-calls", pieces=_FRAGMENTS, late_id=True),
        notifications="story",
    ),
    part(
        "shapes/late-id-done",
        "A call as events of the Responses API, whose id comes when it is done.",
        replace(_CALL, shape="responses-events", pieces=_FRAGMENTS, late_id=True),
        notifications="story",
    ),
    # The proxy makes up an id, and keeps to it.
    part(
        "shapes/no-id",
        "A call without any id.",
        replace(_CALL, id="", shape="delta-tool-calls", pieces=_FRAGMENTS),
        notifications="story",
    ),
    # "1" and then "1" is "11": fragments are never taken for repetitions.
    part(
        "shapes/repeated-fragment",
        "A call with two equal fragments after each other: both count.",
        Call(
            id="call_repeated",
            name="localSearch",
            arguments='{"n": 11}',
            shape="delta-tool-calls",
            pieces=('{"n": 1', "1", "}"),
        ),
        notifications="story",
    ),
    # Which repetitions are the model's own shows only by the family (chat.stream.text).
    part(
        "shapes/double-telling",
        "Text sent twice, as codex/event and as a typed notification, with repetitions of the model's own.",
        Say(("Told", " twice", " twice", ",", " said", " once", ".")),
        notifications="double",
    ),
    # One call: tool_calls wins.
    part(
        "shapes/both",
        "One call in three shapes: tool_calls, function_call and text.",
        replace(_CALL, shape="delta-tool-calls", also=("delta-function-call", "use-tool")),
        notifications="story",
    ),
)
