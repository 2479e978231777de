"""Faults of what a Messages request says: parts of it that are refused, lost, or changed on their way to the backend.

A refusal is worded as those that users of real gateways reported.
"""

from __future__ import annotations

import itertools
import re
from functools import partial
from typing import TYPE_CHECKING

from wireproof_mocks.miniatures.fault import MESSAGES, Fault, fault_below, json_reply
from wireproof_mocks.miniatures.messages_rewriting import in_error
from wireproof_mocks.miniatures.rewriting import (
    at,
    having,
    in_body,
    in_list,
    of_type,
    where_streamed,
    with_members,
    without,
)
from wireproof_mocks.miniatures.turn_faults import last_of_a_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_mocks.miniatures.fault import FaultHead, FaultReply, Json, SentRequest
    from wireproof_mocks.miniatures.rewriting import Change

    When = Callable[[Json, SentRequest], object]

USER, ASSISTANT, SYSTEM = "user", "assistant", "system"
TOOL_RESULT = "tool_result"
BAD_REQUEST = 400
MANY_TOKENS = 8192
HELD = re.compile("msg_[0-9a-f]{24}")
"""The ids of the reference proxy's answers."""


def refused(message: str, when: When) -> Callable[[SentRequest, int], FaultReply | None]:
    """A 400 in the right form answers requests of some kind."""

    def instead(request: SentRequest, _: int) -> FaultReply | None:
        asked = _asked(request)
        # What is no request for an answer is refused as it should be.
        if "messages" not in asked or not when(asked, request):
            return None
        error = {"type": "invalid_request_error", "message": message}
        body = {"type": "error", "error": error, "request_id": "req_refused"}
        return json_reply("400 Bad Request", body, ("request-id", "req_refused"))

    return instead


def _asked(request: SentRequest) -> Json:
    """The request's JSON object; {} when it is none, or one that no fault can read."""
    asked = request.json
    readable = isinstance(asked, dict) and isinstance(asked.get("messages"), list)
    return asked if readable and all(isinstance(one, dict) for one in asked["messages"]) else {}


def _blocks(message: Json) -> list[Json]:
    """The blocks of a message; none where its content is a text."""
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _has(*kinds: str) -> When:
    """Whether a request has blocks of these types."""
    return lambda asked, _: any(block.get("type") in kinds for m in asked["messages"] for block in _blocks(m))


def _in_blocks(change: Callable[[Json], Json | None]) -> Change:
    """Blocks of messages are changed; None takes one out."""

    def changed(blocks: list[Json]) -> list[Json]:
        return [made for made in map(change, blocks) if made is not None]

    return at("messages[].content", in_list(changed))


# system, messages, results


def _role_of_system(asked: Json, _: SentRequest) -> bool:
    return any(message.get("role") == SYSTEM for message in asked["messages"])


def _in_a_row(asked: Json, _: SentRequest) -> bool:
    # Of the assistant: of the user they are in conversations of several subjects, whose refusals would be one cause.
    roles = [message.get("role") for message in asked["messages"]]
    return any(one == other == ASSISTANT for one, other in itertools.pairwise(roles))


def _text_beside_results(asked: Json, _: SentRequest) -> bool:
    return any(
        {TOOL_RESULT, "text"} <= {block.get("type") for block in _blocks(message)} for message in asked["messages"]
    )


def _results_without_content(asked: Json, _: SentRequest) -> bool:
    results = [block for m in asked["messages"] for block in _blocks(m) if block.get("type") == TOOL_RESULT]
    return any(not result.get("content") for result in results)


def _swapped(said: list[Json]) -> list[Json]:
    """Each result goes to the call of the next one."""
    ids = [block["tool_use_id"] for m in said for block in _blocks(m) if block["type"] == TOOL_RESULT]
    turned = iter([*ids[1:], *ids[:1]])
    return list(map(at("content[]", of_type(TOOL_RESULT, at("tool_use_id", lambda _: next(turned)))), said))


def _results_made_up(said: list[Json]) -> list[Json]:
    """Calls without results get empty ones; results of no call are dropped."""
    mended: list[Json] = []
    calls: list[str] = []
    for message in said:
        blocks = _blocks(message)
        if message.get("role") == USER:
            there = [block["tool_use_id"] for block in blocks if block.get("type") == TOOL_RESULT]
            made = [{"type": TOOL_RESULT, "tool_use_id": one, "content": ""} for one in calls if one not in there]
            kept = [block for block in blocks if block.get("type") != TOOL_RESULT or block["tool_use_id"] in calls]
            as_blocks = [{"type": "text", "text": message["content"]}] if isinstance(message["content"], str) else kept
            foreign = len(kept) < len(blocks)
            rest = as_blocks or [{"type": "text", "text": "(no result)"}]
            mended.append({**message, "content": [*made, *rest]} if made or foreign else message)
        else:
            mended.append(message)
        calls = [block["id"] for block in blocks if block.get("type") == "tool_use"]
    return mended


def _image_lost(block: Json) -> Json | None:
    if block.get("type") == TOOL_RESULT:
        kept: Json = at("content", in_list(lambda parts: [one for one in parts if one.get("type") != "image"]))(block)
        return kept
    return None if block.get("type") == "image" else block


# parameters


def _asks_for_many(asked: Json, _: SentRequest) -> bool:
    most = asked.get("max_tokens")
    return isinstance(most, int) and most > MANY_TOKENS


def _max_tokens_given(asked: Json) -> Json:
    return {"max_tokens": 4096, **asked} if {"model", "messages"} <= asked.keys() else asked


def _unnamed(body: Json, _: SentRequest, head: FaultHead) -> Json:
    # What is refused since it is not served is named: that is an absence, and another row's.
    if head.code != BAD_REQUEST or "Field required" not in body["error"]["message"]:
        return body
    return {**body, "error": {**body["error"], "message": "Invalid request."}}


def _without_details(error: Json) -> Json:
    """What is not supported is refused as any unknown member is: the tool runners then give up."""
    unknown = {**without("details")(error), "message": "thread: Extra inputs are not permitted"}
    return unknown if "details" in error else error


def _begun_anew(asked: Json) -> Json:
    """What is known to be held is not looked up: the backend gets what is new alone."""
    previous = (asked.get("thread") or {}).get("previous_message_id", "")
    return without("thread")(asked) if HELD.fullmatch(previous) else asked


# what backends get in streams alone, whose requests other code often writes: rows of Messages ask for whole answers


def _system_said_by_the_user(asked: Json) -> Json:
    if not asked.get("system"):
        return asked
    return {**without("system")(asked), "messages": [{"role": USER, "content": asked["system"]}, *asked["messages"]]}


def _auto_for(kind: str) -> Change:
    return at("tool_choice", having(lambda _: {"type": "auto"}, type=kind))


_fault = partial(fault_below, "", dialects=(MESSAGES,))


def _request(name: str, breaks: str, change: Change, *scripts: str) -> Fault:
    return _fault(name, f"messages.{breaks}", in_turns=True, request=change, scripts=scripts)


def _in_turns(name: str, breaks: str, change: Change, *scripts: str) -> Fault:
    """A fault of what of a conversation reaches the backend."""
    return _fault(name, f"turn.{breaks}", in_turns=True, request=change, scripts=scripts)


def _refusing(name: str, breaks: str, message: str, when: When) -> Fault:
    return _fault(name, f"messages.{breaks}", instead=refused(message, _of_others(when)))


def _of_others(when: When) -> When:
    """In what Claude Code does not send: its requests have a row of their own."""
    return lambda asked, request: (
        "claude-code-" not in request.headers.get("anthropic-beta", "") and when(asked, request)
    )


def _sends(*names: str) -> When:
    return lambda asked, _: any(name in asked for name in names)


MESSAGES_INPUT_FAULTS: tuple[Fault, ...] = (
    _fault("tokens-without-a-limit", "messages.param.required", request=_max_tokens_given),
    _fault("refusals-name-no-path", "messages.param.required", whole=in_error(_unnamed)),
    _refusing("context-management-refused", "param.unknown", "context_management: Extra inputs are not permitted",
              _sends("context_management")),
    _refusing("metadata-refused", "param.unknown", "metadata: Extra inputs are not permitted", _sends("metadata")),
    _refusing("adaptive-thinking-refused", "param.unknown",
              "thinking.type: Input should be 'enabled' or 'disabled'",
              lambda asked, _: isinstance(asked.get("thinking"), dict) and asked["thinking"].get("type") == "adaptive"),
    # Claude Code asks for as many.
    _fault("many-message-tokens-refused", "messages.param.real-clients",
           instead=refused("max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens",
                           _asks_for_many)),
    _fault("thread-ignored", "messages.param.thread", request=without("thread")),
    _fault("thread-continued-without-its-beginning", "messages.param.thread", request=_begun_anew),
    _fault("thread-refused-as-unknown", "messages.param.thread",
           whole=in_body(of_type("error", at("error", _without_details)))),
    _request("first-block-of-system-alone", "input.system", at("system", in_list(lambda blocks: blocks[:1]))),
    _refusing("system-among-messages-refused", "input.system",
              'messages: Unexpected role "system". Allowed roles are "user" or "assistant"', _role_of_system),
    _request("system-among-messages-lost", "input.system",
             at("messages", lambda said: [message for message in said if message["role"] != SYSTEM])),
    # What was converted to chat with the text before the results, which chat takes only after them.
    _refusing("text-put-before-results", "input.content",
              "An assistant message with 'tool_calls' must be followed by tool messages", _text_beside_results),
    # What begins an answer is passed on to a backend that takes it for a mistake.
    _refusing("prefill-refused-by-the-backend", "input.content",
              "The last message must be one of the user.",
              lambda asked, _: bool(asked["messages"]) and asked["messages"][-1].get("role") == ASSISTANT),
    _refusing("results-need-content", "input.content", "messages.2.content.0.tool_result.content: Field required",
              _results_without_content),
    _request("first-part-of-results-alone", "input.content",
             _in_blocks(of_type(TOOL_RESULT, at("content", in_list(lambda parts: parts[:1]))))),
    _request("message-results-swapped", "input.content", at("messages", _swapped), "reflect/received"),
    _request("inputs-of-earlier-calls-lost", "input.content", _in_blocks(of_type("tool_use", with_members(input={})))),
    _refusing("roles-in-a-row-refused", "input.merged",
              'messages: roles must alternate between "user" and "assistant"', _in_a_row),
    _request("last-of-a-row-alone", "input.merged",
             at("messages", lambda said: last_of_a_row(said, USER, ASSISTANT, SYSTEM))),
    _fault("results-made-up", "messages.input.results-paired", request=at("messages", _results_made_up)),
    _refusing("thoughts-need-a-known-signature", "input.thinking",
              "messages.1.content.0: Invalid `signature` in `thinking` block", _has("thinking")),
    _refusing("redacted-thoughts-refused", "input.thinking",
              "messages.1.content.0.type: Input should be 'text' or 'tool_use'", _has("redacted_thinking")),
    _request("images-of-messages-lost", "input.images", _in_blocks(_image_lost)),
    _request("any-tool-or-none", "tool-choice", _auto_for("any")),
    _request("any-tool-for-the-named-one", "tool-choice",
             at("tool_choice", having(lambda _: {"type": "any"}, type="tool"))),
    _request("no-tool-is-any-tool", "tool-choice", _auto_for("none")),
    _request("parallel-calls-all-the-same", "tool-choice", at("tool_choice", without("disable_parallel_tool_use"))),
    _in_turns("system-said-by-the-user", "system-prompt", _system_said_by_the_user),
    # Where several results come in one message: others would have no call before them, and be refused.
    _in_turns("results-swapped-in-streams", "tool-result", where_streamed(at("messages", _swapped)),
              "reflect/received"),
    _in_turns("images-lost-in-streams", "images", where_streamed(_in_blocks(_image_lost))),
    _in_turns("no-tool-is-any-tool-in-streams", "tool-choice-none", where_streamed(_auto_for("none"))),
    _in_turns("any-tool-or-none-in-streams", "tool-choice-forced", where_streamed(_auto_for("any"))),
    _in_turns("format-of-the-answer-dropped", "structured-output", without("output_config")),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in how it takes Messages requests."""
