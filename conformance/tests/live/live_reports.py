"""Endpoints with a bug that users of a real server or gateway reported, one each, with the thread that reports it.

Each is the report's gist, planted in an endpoint of our own. What was reported and stands in the tables of
`live_defects` already (an `index` that is always 0, a `finish_reason` that is "", no `sequence_number`, an `output`
that is empty at the end, …) is not planted twice.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from live_defects import (
    CALLS,
    ENVELOPE,
    FORCED,
    ITEMS,
    MESSAGE,
    OPENING,
    SUMS,
    TERMINAL,
    Defect,
    always,
    arguments,
    before_done,
    calls,
    delta_texts,
    each,
    finish_chunk,
    fragments,
    heads,
    is_usage,
    not_,
    numbered,
    of_type,
    only,
    texts,
    with_,
    without,
    without_role,
)
from live_endpoint import Endpoint, Events, RefusedError
from live_goods import THOUGHT, thinking, thoughtful

if TYPE_CHECKING:
    from live_model import Json, Prompt, Said


@dataclass(frozen=True, kw_only=True)
class Report(Defect):
    thread: str
    """Repository and number, at GitHub; or `SEVERAL`."""


def report(name: str, thread: str, *names: str, **changes: Any) -> Report:
    return Report(endpoint=Endpoint(name=name, **changes), names=names, thread=thread)


# changes

TEXT, WHOLE_TEXT, ARGUMENTS = "chat.stream.text", "chat.whole.text", "chat.stream.arguments-verbatim"
FINISH, SCHEMA, ORDER = "chat.stream.finish-once", "chat.stream.schema", "responses.stream.order"
SHIP = "the ship left the "


def last_brace_lost(pieces: list[str]) -> list[str]:
    *kept, last = pieces
    return [*kept, last.removesuffix("}")] if pieces else pieces


def null_at_stop(one: Json) -> Json:
    return with_("choices", "*", "finish_reason", value=lambda old: None if old == "stop" else old)(one)


def unnamed_finish(one: Json) -> Json:
    """A chunk in the middle does not name its finish_reason, which is null."""
    for choice in one.get("choices", ()):
        if choice["finish_reason"] is None:
            del choice["finish_reason"]
    return one


def last_choice_finishes(events: Events) -> Events:
    """Of several choices the last alone gets its finish_reason."""
    ends = [one for one in events if finish_chunk(one)]
    return [one for one in events if one not in ends[:-1]]


def each_with_own_id(events: Events) -> Events:
    """Each fragment of a call opens it again, under an id of its own and without its name."""
    numbers = itertools.count()

    def change(call: Json) -> Json:
        if "id" in call:
            return call
        call |= {"id": f"call_again{next(numbers)}", "type": "function"}
        call["function"] |= {"name": ""}
        return call

    return calls(change)(events)


def name_each(events: Events) -> Events:
    """Each fragment of a call repeats its name."""
    names: dict[int, str] = {}

    def change(call: Json) -> Json:
        names[call["index"]] = call["function"].get("name") or names[call["index"]]
        call["function"]["name"] = names[call["index"]]
        return call

    return calls(change)(events)


def one_call_bare(one: Json) -> Json:
    """The calls of a delta, an object instead of a list."""
    for choice in one.get("choices", ()):
        if choice["delta"].get("tool_calls"):
            (choice["delta"]["tool_calls"],) = choice["delta"]["tool_calls"]
    return one


def finish_beside_calls(one: Json) -> Json:
    for choice in one.get("choices", ()):
        if choice["delta"].get("tool_calls"):
            choice["finish_reason"] = "stop"
    return one


def finish_at_each(one: Json) -> Json:
    return with_("choices", "*", "finish_reason", value=lambda old: old or "stop")(one)


def written_before(events: Events) -> Events:
    """The words of the model that make a call, as text before the call."""
    first = next((n for n, one in enumerate(events) if isinstance(one, dict) and _opens(one)), None)
    if first is None:
        return events
    call = events[first]["choices"][0]["delta"]["tool_calls"][0]
    head = {**events[first]["choices"][0], "delta": {"content": f"<tool_call>\n<function={call['function']['name']}>"}}
    return [*events[:first], {**events[first], "choices": [head]}, *events[first:]]


def _opens(one: Json) -> bool:
    return any("id" in call for choice in one.get("choices", ()) for call in choice["delta"].get("tool_calls") or ())


def noted_behind(events: Events) -> Events:
    """What a filter found, in a chunk behind the last one whose choice has no delta."""
    note: Json = {"index": 0, "finish_reason": None, "content_filter_results": {}, "content_filter_offsets": {}}
    return before_done({"id": "", "object": "", "created": 0, "model": "", "choices": [note]})(events)


def failing_midway(events: Events) -> Events:
    """An error beside the choices of a chunk in mid-stream, which ends the choice."""
    first = next((one for one in events if isinstance(one, dict) and one["choices"]), None)
    if first is None or len(events) < 8:
        return events
    end = {**first["choices"][0], "delta": {"content": ""}, "finish_reason": "error"}
    error = {"code": 502, "message": "Provider disconnected"}
    return [*events[:4], {**first, "choices": [end], "error": error}, events[-1]]


def named_choice_refused(body: Json) -> Json:
    if isinstance(body.get("tool_choice"), dict):
        said = "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"
        raise RefusedError(400, said, "tool_choice")
    return body


def whole_broken(body: Json) -> Json:
    if not body.get("stream"):
        raise RefusedError(500, "'Server' object has no attribute 'generate'")
    return body


def new_limit_dropped(body: Json) -> Json:
    body.pop("max_completion_tokens", None)
    return body


def first_part(body: Json) -> Json:
    """Of a content of several parts the first alone."""
    for message in body.get("messages", ()):
        if isinstance(message.get("content"), list):
            message["content"] = message["content"][:1]
    return body


def first_result(body: Json) -> Json:
    """Of several results the first alone."""
    results = [one for one in body.get("messages", ()) if one["role"] == "tool"]
    if results:
        body["messages"] = [one for one in body["messages"] if one not in results[1:]]
    return body


def without_images(body: Json) -> Json:
    for message in body.get("messages", ()):
        if isinstance(message.get("content"), list):
            message["content"] = [part for part in message["content"] if part["type"] == "text"]
    return body


def unopened(events: Events) -> Events:
    """Before the first call a message is closed that was never opened."""
    first = next((n for n, one in enumerate(events) if of_type("response.output_item.added")(one)), 0)
    if events[first].get("item", {}).get("type") != "function_call":
        return events
    at = {"output_index": 0, "item_id": "chatcmpl-1", "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    item = {"type": "message", "id": "chatcmpl-1", "role": "assistant", "status": "completed", "content": [part]}
    closing = [
        {"type": "response.output_text.done", **at, "text": "", "logprobs": []},
        {"type": "response.content_part.done", **at, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
    ]
    return [*events[:first], *closing, *events[first:]]


def other_item_id(events: Events) -> Events:
    """A message that is done has another id than it had when it was added."""
    return [
        {**one, "item": {**one["item"], "id": f"{one['item']['id']}-done"}}
        if of_type("response.output_item.done")(one)
        else one
        for one in events
    ]


def zero_sequence(one: Json) -> Json:
    deltas = of_type("response.output_text.delta", "response.function_call_arguments.delta")
    return {**one, "sequence_number": 0} if deltas(one) else one


def bare_end(one: Json) -> Json:
    """A terminal event whose response has neither id, object nor model."""
    if not of_type("response.completed", "response.incomplete")(one):
        return one
    return {**one, "response": {k: v for k, v in one["response"].items() if k not in {"id", "object", "model"}}}


def legacy_end(one: Json) -> Json:
    return {**one, "type": "response.done"} if of_type("response.completed", "response.incomplete")(one) else one


def emoji_torn(text: str) -> str:
    return "".join(letter if ord(letter) < 0x10000 else "\ufffd\ufffd" for letter in text)


def hidden(said: list[Said]) -> list[Said]:
    return [dataclasses.replace(one, hidden=3) for one in said]


def short(prompt: Prompt) -> Prompt:
    """A window of context that is smaller than the prompt: its beginning is dropped without a word."""
    return dataclasses.replace(prompt, messages=prompt.messages[-1:] if prompt.tokens > 90 else prompt.messages)


def showing_thought(body: Json) -> Json:
    return with_("choices", "*", "message", "reasoning_content", value=THOUGHT)(body)


def thought_refused(body: Json) -> Json:
    if any("reasoning_content" in message for message in body.get("messages", ())):
        raise RefusedError(400, "property 'reasoning_content' is unsupported", "messages")
    return body


def with_thought_item(body: Json) -> Json:
    """A response with an item of reasoning before what it says."""
    part = {"type": "summary_text", "text": THOUGHT}
    return {**body, "output": [{"type": "reasoning", "id": f"rs_{body['id']}", "summary": [part]}, *body["output"]]}


def thought_item_refused(body: Json) -> Json:
    items = body.get("input")
    if isinstance(items, list) and any(one.get("type") == "reasoning" for one in items):
        raise RefusedError(400, "input: 4 validation errors for ResponseInput", "input")
    return body


def null_arguments_first(call: Json) -> None:
    call["function"]["arguments"] = None


def nulls_later(call: Json) -> Json:
    """Each fragment of a call has its id, type and name as null."""
    if "id" not in call:
        call |= {"id": None, "type": None}
        call["function"]["name"] = None
    return call


def name_last(events: Events) -> Events:
    """The name of a call comes with its last fragment."""
    name, made = "", []
    for one in json.loads(json.dumps(events)):
        for choice in one.get("choices", ()) if isinstance(one, dict) else ():
            for call in choice["delta"].get("tool_calls") or ():
                name = call["function"].pop("name", "") or name
                if call["function"]["arguments"].endswith("}"):
                    call["function"]["name"] = name
        made.append(one)
    return made


def name_in_pieces(events: Events) -> Events:
    """The name of a call comes in two deltas."""
    made: Events = []
    for one in events:
        if isinstance(one, dict) and one.get("choices") and _opens(one):
            head, rest = json.loads(json.dumps(one)), json.loads(json.dumps(one))
            (first,), (second,) = (each["choices"][0]["delta"]["tool_calls"] for each in (head, rest))
            name = first["function"]["name"]
            first["function"]["name"] = name[:4]
            rest["choices"][0]["delta"]["tool_calls"] = [
                {"index": second["index"], "function": {"name": name[4:], "arguments": ""}}
            ]
            made += [head, rest]
        else:
            made.append(one)
    return made


def second_head_under_first(events: Events) -> Events:
    """The head of a second call has the index of the first, and its arguments their own."""

    def change(call: Json) -> Json:
        if "id" in call:
            call["index"] = 0
        return call

    return calls(change)(events)


def typeless_later(call: Json) -> Json:
    call["type"] = ""
    return call


def wrapped(text: str) -> str:
    return json.dumps({"arguments": json.loads(text)})


def nested_as_text(text: str) -> str:
    """Arguments that are JSON in a string of JSON."""
    return json.dumps({name: json.dumps(value) for name, value in json.loads(text).items()})


SEVERAL = "several servers"
"""Instead of a thread: a kind of bug that is known from several servers, of which no report was looked up."""

REPORTED: tuple[Report, ...] = (
    # of requests, what does not reach the model
    report("parts-only-first", SEVERAL, "turn.history-reaches-backend", request=first_part),
    report("developer-dropped", SEVERAL, "turn.system-prompt", prompt=without_role("developer")),
    report("results-all-but-first-dropped", SEVERAL, "turn.follow-up-without-tools", request=first_result),
    report("images-dropped", SEVERAL, "turn.images", request=without_images),
    report("window-too-small", SEVERAL, "turn.system-prompt", "turn.history-reaches-backend", prompt=short),
    report("new-limit-dropped", SEVERAL, "chat.whole.finish", "chat.stream.finish-reason", request=new_limit_dropped),
    report("stop-ignored", "Blaizzy/mlx-vlm#1044", WHOLE_TEXT, TEXT, prompt=always(stop=[])),
    report("stop-kept", "huggingface/text-generation-inference#1724", WHOLE_TEXT, TEXT,
           said=texts(lambda text: f"{text}harbour" if text == SHIP else text)),
    report("stop-cut-in-two", "jundot/omlx#2386", WHOLE_TEXT, TEXT,
           said=texts(lambda text: f"{text}harb" if text == SHIP else text)),
    report("named-choice-refused", "antropia-studio/linguito#21", FORCED, request=named_choice_refused),
    report("unknown-model-answered", "lmstudio-ai/lmstudio-bug-tracker#619", "http.models.unknown", any_model=True),
    report("previous-unnamed", SEVERAL, "responses.previous-id", only_whole=with_("previous_response_id", value=None)),
    report("browser-refused", SEVERAL, "http.cors.preflight", allows={}),
    report("answers-swapped", "inferencerlabs/inferencer-feedback#127", "turn.concurrent-isolation", swaps=True),
    report("listed-not-found", SEVERAL, "http.models.get", finds_listed=False),
    report("thought-refused", SEVERAL, "target.answers", CALLS, whole=showing_thought, thinks=thinking,
           chunks=thoughtful, request=thought_refused),
    report("thought-item-refused", "BerriAI/litellm#13420", "target.answers", ITEMS, only_whole=with_thought_item,
           thinks=thinking, request=thought_item_refused),
    report("arguments-wrapped", "AstrBotDevs/AstrBot#10076", "chat.whole.arguments-verbatim", ARGUMENTS,
           said=arguments(wrapped)),
    report("arguments-nested-as-text", "MoonshotAI/kimi-cli#2513", "chat.whole.arguments-verbatim", ARGUMENTS,
           said=arguments(nested_as_text)),
    # chat completions, whole
    report("whole-broken", "oobabooga/textgen#6851", "chat.whole.envelope", "chat.whole.backend-error",
           "target.answers", request=whole_broken),
    report("bare-tool-null-arguments", SEVERAL, CALLS, "chat.whole.envelope", whole=with_(
        *MESSAGE, "tool_calls", "*", "function", "arguments", value=lambda old: None if old == "{}" else old)),
    report("whole-end-of-text", "ModelTC/LightLLM#130", WHOLE_TEXT, TEXT,
           said=texts(lambda text: f"{text}<|im_end|>")),
    report("whole-emoji-torn", "tenstorrent/tt-inference-server#2586", WHOLE_TEXT,
           whole=with_(*MESSAGE, "content", value=lambda old: old and emoji_torn(old))),
    report("whole-created-float", SEVERAL, "chat.whole.envelope", whole=with_("created", value=lambda old: old + 0.25)),
    # chat completions, streamed
    report("two-framings", SEVERAL, "http.one-framing", headers=lambda headers: {**headers, "Content-Length": "99"}),
    report("logprobs-lost-in-streams", SEVERAL, "chat.stream.logprobs", chunks=each(
        with_("choices", "*", "logprobs", value=None))),
    report("stream-details-lost", SEVERAL, "chat.stream.usage-details", thinks=hidden,
           chunks=each(without("usage", "completion_tokens_details"))),
    report("stream-choices-null", SEVERAL, SCHEMA, chunks=each(
        lambda one: {**one, "choices": None} if is_usage(one) else one)),
    report("stream-last-brace-lost", "vllm-project/vllm#32152", ARGUMENTS, chunks=fragments(last_brace_lost)),
    report("stream-null-at-stop", "waybarrios/vllm-mlx#628", FINISH, chunks=each(null_at_stop)),
    report("stream-finish-unnamed", "vllm-project/vllm#19662", SCHEMA, chunks=each(unnamed_finish)),
    report("stream-last-choice-finishes", "sgl-project/sglang#8417", FINISH, chunks=last_choice_finishes),
    report("stream-finish-at-each", "BerriAI/litellm#2195", FINISH, "chat.stream.nothing-after-finish",
           chunks=each(finish_at_each)),
    report("stream-finish-beside-calls", "BerriAI/litellm#31634", FINISH, "chat.stream.nothing-after-finish",
           chunks=each(finish_beside_calls)),
    report("stream-call-id-at-each", "BerriAI/litellm#40040", OPENING, chunks=each_with_own_id),
    report("stream-call-name-at-each", "ggml-org/llama.cpp#12379", OPENING, chunks=name_each),
    report("stream-call-bare", "huggingface/text-generation-inference#2949", SCHEMA, OPENING,
           chunks=each(one_call_bare)),
    report("stream-call-written-too", "inferencerlabs/inferencer-feedback#295", TEXT, FORCED,
           "chat.stream.call-opening", "chat.stream.parity", chunks=written_before),
    report("stream-newlines-lost", "paiml/aprender#2367", TEXT, chunks=delta_texts(
        lambda pieces: [one.replace("\n", "") for one in pieces])),
    report("stream-emoji-torn", "Blaizzy/mlx-vlm#1076", "chat.stream.utf8", TEXT, chunks=delta_texts(
        lambda pieces: [emoji_torn(one) for one in pieces])),
    report("stream-noted-behind", "langchain-ai/langchain#18977", SCHEMA, "chat.stream.stable-id",
           "chat.stream.nothing-after-finish", chunks=noted_behind),
    report("stream-failing-midway", "damianvtran/local-operator#223", ARGUMENTS, FINISH, "chat.stream.error-after-text",
           chunks=failing_midway),
    report("stream-ping-object", SEVERAL, "chat.stream.keepalive-is-comment", SCHEMA,
           chunks=lambda events: [*events[:2], {"type": "ping"}, *events[2:]]),
    report("stream-created-float", SEVERAL, SCHEMA, chunks=each(with_("created", value=lambda old: old + 0.25))),
    report("stream-arguments-null-first", "open-webui/open-webui#27194", OPENING, SCHEMA,
           chunks=heads(null_arguments_first)),
    report("stream-nulls-later", SEVERAL, OPENING, SCHEMA, chunks=calls(nulls_later)),
    report("stream-name-last", "vercel/ai#15879", OPENING, chunks=name_last),
    report("stream-name-in-pieces", SEVERAL, OPENING, FORCED, chunks=name_in_pieces),
    report("stream-second-head-first", "agno-agi/agno#8880", OPENING, chunks=second_head_under_first),
    report("stream-call-typeless", "vercel/ai#12939", OPENING, SCHEMA, chunks=calls(typeless_later)),
    # Responses
    report("response-no-model", SEVERAL, ENVELOPE, only_whole=without("model")),
    report("events-no-text-done", "ogx-ai/ogx#5309", ORDER,
           events=numbered(only(not_(of_type("response.output_text.done"))))),
    report("events-delta-first", "BerriAI/litellm#22102", ORDER, events=numbered(only(not_(of_type(
        "response.created", "response.in_progress", "response.output_item.added", "response.content_part.added"))))),
    report("events-never-opened", "BerriAI/litellm#37852", ORDER, events=numbered(unopened)),
    report("events-never-closed", "vllm-project/vllm#37071", ORDER, events=numbered(only(not_(of_type(
        "response.output_text.done", "response.content_part.done", "response.output_item.done"))))),
    report("events-end-bare", "Oaklight/llm-rosetta#56", TERMINAL, "responses.stream.schema", events=each(bare_end)),
    report("events-delta-nowhere", "Oaklight/llm-rosetta#56", "responses.stream.indexes", "responses.stream.schema",
           events=each(lambda one: {k: v for k, v in one.items() if k not in {"output_index", "content_index"}})),
    report("events-sequence-zero", "BerriAI/litellm#28899", "responses.stream.sequence", events=each(zero_sequence)),
    report("events-blanks-lost", "ltmoerdani/opencode-copilot-chat#192", SUMS, events=each(
        lambda one: {**one, "delta": one["delta"].strip()} if of_type("response.output_text.delta")(one) else one)),
    report("events-item-id-changes", SEVERAL, "responses.stream.indexes", SUMS, ORDER, events=other_item_id),
    report("events-old-end", SEVERAL, TERMINAL, "responses.stream.schema", events=each(legacy_end)),
)  # fmt: skip
