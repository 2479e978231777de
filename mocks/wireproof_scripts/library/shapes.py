"""Scripts of one call in every shape, and of what goes wrong with each: ids, fragments, calls that are sent twice."""

from __future__ import annotations

from dataclasses import replace

from wireproof_scripts.blocks import BLOCKS
from wireproof_scripts.steps import Call, Say, Script

# 1.50: parsed and written again, 1.5.
_CALL = Call(id="call_shape", name="localSearch", arguments='{"query": "same bytes", "limit": 1.50}')
_FRAGMENTS = ('{"query": "sa', "me byt", 'es", "limit": 1.', "50}")


def _tenths(text: str) -> tuple[str, ...]:
    """The text in about ten pieces, so that tags and values are cut."""
    size = -(-len(text) // 10)
    return tuple(text[start : start + size] for start in range(0, len(text), size))


SHAPES: tuple[Script, ...] = (
    Script(
        # The letters are those of the requirements, shapes.a to shapes.h.
        name="shapes/a",
        title="A call as tool_calls fragments in agentMessageDelta.",
        parts=((replace(_CALL, shape="delta-tool-calls", pieces=_FRAGMENTS),),),
        notifications="story",
    ),
    Script(
        # As codex/event has it: what a notification says is one member of its params.
        name="shapes/nested",
        title="A call as tool_calls fragments in agentMessageDelta, all of it inside params.msg.",
        parts=((replace(_CALL, shape="delta-tool-calls", pieces=_FRAGMENTS),),),
        notifications="nested",
    ),
    Script(
        name="shapes/b",
        title="A call as function_call fragments in agentMessageDelta.",
        parts=((replace(_CALL, shape="delta-function-call", pieces=_FRAGMENTS),),),
        notifications="story",
    ),
    Script(
        name="shapes/c",
        title="A call as events of the Responses API in agentMessageDelta.",
        parts=((replace(_CALL, shape="responses-events", pieces=_FRAGMENTS),),),
        notifications="story",
    ),
    Script(
        name="shapes/d",
        # No pieces: a whole message has no fragments.
        title="A call as tool_calls of a whole agentMessage.",
        parts=((replace(_CALL, shape="message-tool-calls"),),),
        notifications="story",
    ),
    Script(
        name="shapes/d-function",
        title="A call as function_call of a whole agentMessage.",
        parts=((replace(_CALL, shape="message-function-call"),),),
        notifications="story",
    ),
    Script(
        # No pieces: Codex sends the arguments whole, and parsed.
        name="shapes/e",
        title="A call as Codex itself requests it: item/tool/call.",
        parts=((_CALL,),),
    ),
    Script(
        # As versions up to 0.114 do it; a proxy must count one family alone.
        name="shapes/f",
        title="Text and a call, every event sent twice, as codex/event and as a typed notification.",
        parts=((Say(("Let me", " look.")), _CALL),),
        notifications="double",
    ),
    Script(
        name="shapes/g",
        title="A call as a <tool_call> sentinel in the text, cut anywhere.",
        parts=((replace(_CALL, shape="sentinel", pieces=_tenths(BLOCKS["sentinel"](_CALL))),),),
    ),
    Script(
        name="shapes/h",
        title="A call as a <use_tool> block in the text, cut anywhere.",
        parts=((replace(_CALL, shape="use-tool", pieces=_tenths(BLOCKS["use-tool"](_CALL))),),),
    ),
    Script(
        # An id that comes late belongs to the call that it follows.
        name="shapes/late-id",
        title="A call whose id comes with its last fragment.",
        parts=((replace(_CALL, shape="delta-tool-calls", pieces=_FRAGMENTS, late_id=True),),),
        notifications="story",
    ),
    Script(
        name="shapes/late-id-done",
        title="A call as events of the Responses API, whose id comes when it is done.",
        parts=((replace(_CALL, shape="responses-events", pieces=_FRAGMENTS, late_id=True),),),
        notifications="story",
    ),
    Script(
        # The proxy makes up an id, and keeps to it.
        name="shapes/no-id",
        title="A call without any id.",
        parts=((replace(_CALL, id="", shape="delta-tool-calls", pieces=_FRAGMENTS),),),
        notifications="story",
    ),
    Script(
        # "1" and then "1" is "11": fragments are never taken for repetitions.
        name="shapes/repeated-fragment",
        title="A call with two equal fragments after each other: both count.",
        parts=(
            (
                Call(
                    id="call_repeated",
                    name="localSearch",
                    arguments='{"n": 11}',
                    shape="delta-tool-calls",
                    pieces=('{"n": 1', "1", "}"),
                ),
            ),
        ),
        notifications="story",
    ),
    Script(
        # Which repetitions are the model's own shows only by the family (chat.stream.text).
        name="shapes/double-telling",
        title="Text sent twice, as codex/event and as a typed notification, with repetitions of the model's own.",
        parts=((Say(("Told", " twice", " twice", ",", " said", " once", ".")),),),
        notifications="double",
    ),
    Script(
        # One call: tool_calls wins.
        name="shapes/both",
        title="One call in three shapes: tool_calls, function_call and text.",
        parts=((replace(_CALL, shape="delta-tool-calls", also=("delta-function-call", "use-tool")),),),
        notifications="story",
    ),
)
