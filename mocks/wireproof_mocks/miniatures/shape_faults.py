"""Faults of understanding the backend: shapes of calls, calls in its text, and repetitions.

Most stand for a proxy that knows one shape less. They act only where the request asks for a script of that shape: there
the proxy is made to take no call at all, so the answer is that of a proxy which does not know the shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.block_faults import in_stream, in_whole
from wireproof_mocks.miniatures.chunk_faults import last_text_lost
from wireproof_mocks.miniatures.chunks import (
    CALLS,
    WHOLE_CALLS,
    arguments_of,
    call_of,
    delta_of,
    each,
    finish_of,
    text_of,
    with_delta,
)
from wireproof_mocks.miniatures.fault import OBSIDIAN_XML, OPENAI_JSON, Fault
from wireproof_mocks.miniatures.rewriting import at, in_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof_mocks.miniatures.fault import Frame, Json, SentRequest

WITH_IDS = (OPENAI_JSON, OBSIDIAN_XML)
"""Dialects whose calls have ids."""


def _takes_no_call(asked: Json) -> Json:
    # With "none" the reference proxy forwards no call: the answer of a proxy that sees none.
    return {**asked, ("function_call" if "functions" in asked else "tool_choice"): "none"}


def _fault(name: str, breaks: str, script: str, **how: Any) -> Fault:  # noqa: ANN401 (the fields of Fault)
    return Fault(name=name, breaks=breaks, scripts=(script,), **how)


def _blind(name: str, breaks: str, script: str) -> Fault:
    """A fault by which no call is understood where the backend plays this script."""
    return _fault(name, breaks, script, request=_takes_no_call)


def _spaces_tidied(text: str) -> str:
    # Spaces only: a block stays a block, and its values stay readable.
    return " ".join(text.split(" ")).replace("\t", "  ").replace("   ", " ")


def _cut_by_its_id(calls: list[Json]) -> list[Json]:
    """What came before the id is one call, what came with it another."""

    def part(call: Json, call_id: str, arguments: str) -> Json:
        return {**call, "id": call_id, "function": {**call["function"], "arguments": arguments}}

    (call,) = calls  # the scripts have one call
    text = call["function"]["arguments"]
    return [part(call, "call_0", text[:4]), part(call, call["id"], text[4:])]


def _made_up(call: Json) -> Json:
    """The call under an id of the proxy's own, the same in stream and whole answer."""
    return {**call, "id": f"call_of_{call['function']['name']}"} if call.get("id") else call


def _text_lost(chunk: Json) -> Frame | Iterable[Frame]:
    rest = {name: value for name, value in delta_of(chunk).items() if name != "content"}
    if not text_of(chunk):
        return chunk
    # What another fault has put beside a text is not lost with it.
    return with_delta(chunk, rest, finish_of(chunk)) if rest or finish_of(chunk) else ()


def _with_a_tail(message: Json) -> Json:
    return {**message, "content": f"{message['content'] or ''} and then some more words."}


def _unclosed_swallowed(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    swallowing = False
    for frame in frames:
        text = delta_of(frame).get("content") or ""
        # For good: the script's block never closes.
        swallowing = swallowing or "<use_tool>" in text
        if not (swallowing and text):
            yield frame


def _call_again(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """Before the finish, each call is sent once more, under an id of its own."""
    sent: list[Json] = []
    for frame in frames:
        sent += [frame] if call_of(frame) else []
        # Before the finish, since behind it nothing may come.
        if finish_of(frame):
            yield from map(at(CALLS, _another), sent)
            sent = []
        yield frame


def _again(call: Json) -> Json:
    return {**call, "id": f"{call['id']}_again"} if "id" in call else call


def _another(call: Json) -> Json:
    return {**_again(call), "index": call["index"] + 1}


def _second_fragment_lost(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """A fragment that equals the end of what came before is taken for a repetition."""
    last = ""
    for frame in frames:
        text = arguments_of(frame)
        # Not `==`: in the script the fragment before is longer, and only ends in the same way.
        if not (text and last.endswith(text)):
            yield frame
        last = text or last


SHAPE_FAULTS: tuple[Fault, ...] = (
    _blind("fragments-of-tools-unknown", "shapes.a", "shapes/a"),
    _blind("fragments-inside-msg-unknown", "shapes.a", "shapes/nested"),
    _blind("fragments-of-functions-unknown", "shapes.b", "shapes/b"),
    _blind("responses-events-unknown", "shapes.c", "shapes/c"),
    _blind("whole-messages-unknown", "shapes.d", "shapes/d"),
    _blind("whole-messages-of-functions-unknown", "shapes.d", "shapes/d-function"),
    _blind("requests-of-tools-unknown", "shapes.e", "shapes/e"),
    # Both directions count their requests from the same numbers, so the backend's request has an id that the proxy has
    # used: who looks it up before the method sees a second answer to a request of long ago, and drops it.
    _blind("requests-taken-for-answers", "shapes.e", "shapes/e"),
    _blind("codex-events-unknown", "shapes.f", "shapes/f"),
    _blind("sentinel-left-in-text", "shapes.g", "shapes/g"),
    _blind("block-left-in-text", "shapes.h", "shapes/h"),
    _fault("late-id-opens-a-call", "shapes.late-id", "shapes/late-id", dialects=WITH_IDS,
           whole=in_body(at(WHOLE_CALLS, _cut_by_its_id))),
    _fault("late-id-made-up", "shapes.late-id", "shapes/late-id", dialects=WITH_IDS,
           frames=each(at(CALLS, _made_up)), whole=in_body(at(f"{WHOLE_CALLS}[]", _made_up))),
    _blind("call-needs-an-id", "shapes.no-id", "shapes/no-id"),
    _fault("equal-fragment-lost", "shapes.repeated-fragment", "shapes/repeated-fragment",
           # obsidian-xml repeats all so far in each delta, so a fragment that is lost there would come with the next.
           dialects=(OPENAI_JSON,), frames=_second_fragment_lost),
    _fault("both-families-forwarded", "shapes.double-telling", "shapes/double-telling",
           frames=each(lambda chunk: (chunk, chunk) if text_of(chunk) else chunk)),
    _fault("blocks-tidied", "textual.verbatim", "textual/verbatim",
           dialects=(OBSIDIAN_XML,), frames=in_stream(_spaces_tidied), whole=in_whole(_spaces_tidied)),
    _blind("tag-sought-in-each-delta", "textual.any-cut", "textual/any-cut"),
    _fault("text-before-block-lost", "textual.prefix-kept", "textual/prefix", frames=each(_text_lost)),
    _fault("text-after-block-sent", "textual.tail-dropped", "textual/tail",
           whole=in_body(at("choices[].message", _with_a_tail))),
    _fault("held-back-text-lost", "textual.false-start", "textual/false-start", frames=last_text_lost),
    _fault("unclosed-block-swallowed", "textual.unterminated", "textual/unterminated", frames=_unclosed_swallowed),
    _fault("call-sent-twice", "textual.structured-wins", "textual/structured-wins",
           dialects=(OPENAI_JSON,), frames=_call_again,
           whole=in_body(at(WHOLE_CALLS, lambda calls: [*calls, *map(_again, calls)]))),
)  # fmt: skip
"""Each is the reference proxy with one thing of the backend's language unknown."""
