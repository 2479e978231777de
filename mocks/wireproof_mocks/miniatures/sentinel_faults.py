"""Faults of what responses say and are asked: calls in text, blocks, input, and what is stored."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING

from wireproof_mocks.miniatures.fault import MODE_HEADER, OBSIDIAN_XML, RESPONSES, Fault, fault_below
from wireproof_mocks.miniatures.responses_rewriting import (
    CALL,
    MESSAGE,
    Output,
    each_event,
    in_response,
    in_stream,
    in_whole,
    respelled,
)
from wireproof_mocks.miniatures.rewriting import at, having, in_list, with_members, without

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_mocks.miniatures.fault import FaultHead, Json, SentRequest
    from wireproof_mocks.miniatures.rewriting import Change

SENTINEL = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)


def _message_of(text: str) -> Json:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"type": MESSAGE, "id": "msg_sent_again", "status": "completed", "role": "assistant", "content": [part]}


def _text_of(output: Output) -> str:
    return "".join(part["text"] for item in output if item["type"] == MESSAGE for part in item["content"])


def _blocks_left(output: Output, _: SentRequest) -> Output:
    """Calls stay in the text."""
    calls = [item for item in output if item["type"] == CALL]
    # Spelt by us: the backend's own spelling is gone by now.
    fields = [{"id": one["call_id"], "name": one["name"], "arguments": one["arguments"]} for one in calls]
    return [_message_of(_text_of(output) + "".join(f"<tool_call>{json.dumps(one)}</tool_call>" for one in fields))]


def _blocks_everywhere(output: Output, _: SentRequest) -> Output:
    """A block is a call wherever it stands."""
    text = _text_of(output)
    found = SENTINEL.search(text)
    if found is None:
        return output
    block = json.loads(found[1])
    names = {"call_id": block["id"], "name": block["name"], "arguments": block["arguments"]}
    call = {"type": CALL, "id": "fc_sent_again", **names, "status": "completed"}
    # What follows the block is dropped, as behind any call.
    return [_message_of(text[: found.start()]), call]


def _blocks_dropped(output: Output, _: SentRequest) -> Output:
    """Blocks that are not valid are lost."""
    return [_message_of(SENTINEL.sub("", _text_of(output)))]


def _only_declared(output: Output, request: SentRequest) -> Output:
    """Calls of other tools are lost."""
    declared = {tool.get("name") for tool in json.loads(request.body).get("tools", ())}
    kept = [item for item in output if item["type"] != CALL or item["name"] in declared]
    # An empty message, since a response without any output would break other rows.
    return kept or [_message_of("")]


def _both(output: Output, request: SentRequest) -> Output:
    """A call is in the text and also an item."""
    # The same script is played in other scenarios, where an item is right.
    if request.headers.get(MODE_HEADER) != OBSIDIAN_XML:
        return output
    names = {"call_id": "call_both", "name": "localSearch", "arguments": "{}"}
    return [*output, {"type": CALL, "id": "fc_both", **names, "status": "completed"}]


def _output(name: str, breaks: str, change: Callable[[Output, SentRequest], Output], *scripts: str) -> Fault:
    """A fault of what is said, in streams and whole answers alike."""
    frames, whole = in_stream(change), in_whole(change)
    return Fault(name=name, breaks=breaks, frames=frames, whole=whole, dialects=(RESPONSES,), scripts=scripts)


# input, and what is kept


def _outputs(change: Change) -> Change:
    """A change of results in parts."""
    return at("input[]", at("output", in_list(change)))


def _untyped_answers_refused(asked: Json) -> Json:
    items = asked.get("input")
    untyped = isinstance(items, list) and any(
        "type" not in item and item.get("role") == "assistant" and isinstance(item["content"], list) for item in items
    )
    # An empty input is the proxy's own way to a 400.
    return {**asked, "input": []} if untyped else asked


def _functions_only(asked: Json) -> Json:
    """A tool that is no function is refused."""
    tools = asked.get("tools")
    kinds = {tool.get("type") for tool in tools} if isinstance(tools, list) else set()
    return {**asked, "tools": "none of these"} if kinds - {"function"} else asked


def _hello_if_empty(asked: Json) -> Json:
    return {**asked, "input": "Hello."} if not asked.get("input") else asked


def _previous_instead_of_instructions(asked: Json) -> Json:
    return without("instructions")(asked) if asked.get("previous_response_id") else asked


def _output_not_kept(body: Json, request: SentRequest, _: FaultHead) -> Json:
    """What is looked up has no output any more."""
    found = request.method == "GET" and body.get("object") == "response"
    # Only where it is looked up: the answer itself was right.
    return {**body, "output": []} if found else body


_fault = partial(fault_below, "responses.", dialects=(RESPONSES,))


SENTINEL_FAULTS: tuple[Fault, ...] = (
    _output("halves-of-tags-are-text", "responses.sentinel.any-cut", _blocks_left, "sentinel/halves"),
    _output("fences-not-seen", "responses.sentinel.own-line", _blocks_everywhere, "sentinel/fences"),
    _output("blocks-within-lines", "responses.sentinel.own-line", _blocks_everywhere, "sentinel/within-line"),
    _output("blocks-behind-blanks", "responses.sentinel.own-line", _blocks_everywhere, "sentinel/indented"),
    _output("any-fence-closes", "responses.sentinel.own-line", _blocks_everywhere, "sentinel/nested-fence"),
    _output("invalid-blocks-dropped", "responses.sentinel.invalid", _blocks_dropped, "sentinel/no-json",
            "sentinel/no-id", "sentinel/no-name"),
    _output("undeclared-tools-dropped", "responses.sentinel.invalid", _only_declared, "sentinel/undeclared"),
    _output("sentinel-arguments-respelled", "responses.sentinel.arguments",
            lambda output, _: list(map(respelled, output)), "sentinel/several"),
    _output("any-closing-tag-ends", "responses.sentinel.arguments", _blocks_left, "sentinel/tagged"),
    _output("block-and-item", "responses.xml", _both, "call/after-text"),
    _fault("output-parts-lost", "input.items",
           # A result in parts becomes an empty one.
           request=_outputs(lambda _: "")),
    _fault("first-part-of-outputs-only", "input.items", request=_outputs(lambda parts: parts[:1])),
    _fault("instructions-beside-items-lost", "input.items",
           request=lambda asked: without("instructions")(asked) if isinstance(asked.get("input"), list) else asked),
    _fault("first-part-of-messages-only", "input.items",
           request=at("input[]", having(at("content", in_list(lambda parts: parts[:1])), role="user"))),
    _fault("untyped-answers-refused", "input.replayed", request=_untyped_answers_refused),
    _fault("tools-of-codex-refused", "input.real-clients", request=_functions_only),
    _fault("references-taken-for-words", "input.items",
           request=at("input[]", having(lambda _: {"role": "user", "content": "Hello."}, type="item_reference"))),
    _fault("previous-response-forgotten", "previous-id", request=without("previous_response_id")),
    _fault("previous-response-not-named", "previous-id", whole=in_response(with_members(previous_response_id=None))),
    _fault("instructions-lost-when-continued", "previous-id", request=_previous_instead_of_instructions),
    # Streams have ids under which nothing is kept; in all events alike, so that the id is stable.
    _fault("streams-not-kept", "previous-id",
           frames=each_event(at("response.id", lambda id_: f"{id_}0")), scripts=("text/hello",)),
    _fault("response-kept-without-output", "previous-id", whole=_output_not_kept),
    Fault(name="empty-input-is-a-greeting", breaks="param.input", request=_hello_if_empty, dialects=(RESPONSES,)),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in what its responses say or read."""
