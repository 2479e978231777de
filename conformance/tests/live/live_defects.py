"""Endpoints with exactly one defect each: what it is, the requirements that name it, and the change that makes it.

A defect is a change of one thing that a good endpoint does: of the request on its way to the model, of what the model
said on its way back, of a body, of the frames of a stream.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from live_endpoint import Endpoint, Events

if TYPE_CHECKING:
    from collections.abc import Callable

    from live_model import Json, Prompt, Said


@dataclass(frozen=True, kw_only=True)
class Defect:
    endpoint: Endpoint
    names: tuple[str, ...]
    """The requirements of which one must be found broken."""

    def __str__(self) -> str:
        return self.endpoint.name


def defect(name: str, *names: str, **changes: Any) -> Defect:
    return Defect(endpoint=Endpoint(name=name, **changes), names=names)


# changes


def without(*path: str | int) -> Callable[[Json], Json]:
    """Leaves a member out; where the path does not lead to one, nothing changes."""
    *steps, last = path

    def change(body: Json) -> Json:
        for inner in _at(body, steps):
            if isinstance(inner, dict):
                inner.pop(last, None)
        return body

    return change


def with_(*path: str | int, value: Any) -> Callable[[Json], Json]:
    """Sets a member; a function gets what stood there. Where the path does not lead to one, nothing changes."""
    *steps, last = path

    def change(body: Json) -> Json:
        for inner in _at(body, steps):
            if isinstance(inner, dict) and (last in inner or not callable(value)):
                inner[last] = value(inner[last]) if callable(value) else value
        return body

    return change


def _at(value: Any, steps: list[str | int]) -> list[Any]:
    """What a path leads to; `*` are all members of a list."""
    found = [value]
    for step in steps:
        if step == "*":
            found = [inner for one in found if isinstance(one, list) for inner in one]
        else:
            found = [one[step] for one in found if isinstance(one, dict) and one.get(step) is not None]
    return found


def usage(**counts: Callable[[Json], Any]) -> Callable[[Json], Json]:
    """Changes counts of a usage, which is found wherever it stands; `sums` makes the total follow."""

    def change(body: Json) -> Json:
        for one in (body.get("usage"), (body.get("response") or {}).get("usage")):
            if one:
                one.update({name: count(one) for name, count in counts.items()})
        return body

    return change


def each(change: Callable[[Json], Json]) -> Callable[[Events], Events]:
    """Changes each object of a stream."""
    return lambda events: [change(json.loads(json.dumps(one))) if isinstance(one, dict) else one for one in events]


def only(test: Callable[[Any], bool]) -> Callable[[Events], Events]:
    return lambda events: [one for one in events if test(one)]


def numbered(change: Callable[[Events], Events]) -> Callable[[Events], Events]:
    """A change of events after which they are numbered again, so that only what it is about is wrong."""

    def changed(events: Events) -> Events:
        found = change(events)
        return [{**one, "sequence_number": n} if isinstance(one, dict) else one for n, one in enumerate(found)]

    return changed


def of_type(*types: str) -> Callable[[Any], bool]:
    return lambda one: isinstance(one, dict) and one.get("type") in types


def not_(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda one: not test(one)


def texts(change: Callable[[str], str]) -> Callable[[list[Said]], list[Said]]:
    """Changes what the model said, in whole answers and streams alike."""
    return lambda said: [
        dataclasses.replace(one, text=change(one.text)) if one.text is not None else one for one in said
    ]


def arguments(change: Callable[[str], str]) -> Callable[[list[Said]], list[Said]]:
    return lambda said: [
        dataclasses.replace(
            one, calls=[dataclasses.replace(call, arguments=change(call.arguments)) for call in one.calls]
        )
        for one in said
    ]


def finishes(old: str, new: str) -> Callable[[list[Said]], list[Said]]:
    return lambda said: [dataclasses.replace(one, finish=new) if one.finish == old else one for one in said]


def streamed(**changes: Any) -> Callable[[Prompt], Prompt]:
    return lambda prompt: dataclasses.replace(prompt, **changes) if prompt.stream else prompt


def at_once(**changes: Any) -> Callable[[Prompt], Prompt]:
    return lambda prompt: prompt if prompt.stream else dataclasses.replace(prompt, **changes)


def always(**changes: Any) -> Callable[[Prompt], Prompt]:
    return lambda prompt: dataclasses.replace(prompt, **changes)


def without_role(*roles: str) -> Callable[[Prompt], Prompt]:
    return lambda prompt: dataclasses.replace(prompt, messages=[one for one in prompt.messages if one[0] not in roles])


def torn(text: str) -> str:
    return "".join(letter if ord(letter) < 128 else "\ufffd" for letter in text)


def misread(text: str) -> str:
    return text.encode().decode("latin-1")


def _strings(value: Any) -> Any:
    """JSON with every number in it as a string."""
    if isinstance(value, dict):
        return {name: _strings(inner) for name, inner in value.items()}
    return str(value) if isinstance(value, int) else value


def as_strings(text: str) -> str:
    return json.dumps(_strings(json.loads(text)))


def delta_texts(change: Callable[[list[str]], list[str]]) -> Callable[[Events], Events]:
    """Changes the pieces of text of a chat stream with one choice."""

    def changed(events: Events) -> Events:
        places = [n for n, one in enumerate(events) if _content(one)]
        # Two choices one after the other: their pieces are not each other's.
        if sum(map(finish_chunk, events)) > 1:
            return events
        pieces = change([_content(events[n]) for n in places])
        if not places:
            return events
        made = [_with_content(events[places[0]], piece) for piece in pieces]
        return [*events[: places[0]], *made, *events[places[-1] + 1 :]]

    return changed


def _content(one: Any) -> str:
    choices = one.get("choices") if isinstance(one, dict) else None
    return str(choices[0]["delta"].get("content") or "") if choices else ""


def _with_content(chunk: Json, text: str) -> Json:
    choice = {**chunk["choices"][0], "delta": {"content": text}}
    return {**chunk, "choices": [choice]}


def _fragment(one: Any) -> Json | None:
    choices = one.get("choices") if isinstance(one, dict) else None
    calls = choices[0]["delta"].get("tool_calls") if choices else None
    return calls[0] if calls else None


def fragments(change: Callable[[list[str]], list[str]]) -> Callable[[Events], Events]:
    """Changes the fragments of the arguments of each call in a chat stream."""

    def changed(events: Events) -> Events:
        made: Events = []
        index = 0
        while index < len(events):
            run = []
            while index < len(events) and (found := _fragment(events[index])) and "id" not in found:
                run.append(events[index])
                index += 1
            if run:
                for piece in change([_fragment(one)["function"]["arguments"] for one in run]):  # type: ignore[index]
                    one = json.loads(json.dumps(run[0]))
                    one["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] = piece
                    made.append(one)
            if index < len(events):
                made.append(events[index])
                index += 1
        return made

    return changed


def cumulative(pieces: list[str]) -> list[str]:
    return ["".join(pieces[: n + 1]) for n in range(len(pieces))]


def swapped(pieces: list[str]) -> list[str]:
    return pieces if len(pieces) < 2 else [pieces[1], pieces[0], *pieces[2:]]


def twice(pieces: list[str]) -> list[str]:
    return [piece for piece in pieces for _ in (0, 1)]


def last_calls(events: Events, index: int) -> Events:
    """A stream without the calls from this index on."""
    return [one for one in events if not ((found := _fragment(one)) and found["index"] >= index)]


def heads(change: Callable[[Json], object]) -> Callable[[Events], Events]:
    """Changes the first delta of each call."""

    def changed(one: Json) -> Json:
        found = _fragment(one)
        if found and "id" in found:
            change(found)
        return one

    return each(changed)


def calls(change: Callable[[Json], Json]) -> Callable[[Events], Events]:
    """Changes every delta of a call."""

    def changed(one: Json) -> Json:
        found = _fragment(one)
        if found:
            change(found)
        return one

    return each(changed)


def repeat_head(call: Json) -> Json:
    call |= {"id": "call_7", "type": "function", "function": {"name": "get_time", **call["function"]}}
    return call


def counting(member: str, first: Any) -> Callable[[Events], Events]:
    """Each object of a stream has another value there."""
    return lambda events: [
        {**one, member: f"{first}{n}" if isinstance(first, str) else first + n} if isinstance(one, dict) else one
        for n, one in enumerate(events)
    ]


def before_done(*more: Any) -> Callable[[Events], Events]:
    return lambda events: [*events[:-1], *more, events[-1]]


def is_usage(one: Any) -> bool:
    return isinstance(one, dict) and bool(one.get("usage"))


def finish_chunk(one: Any) -> bool:
    return isinstance(one, dict) and any(choice["finish_reason"] for choice in one.get("choices", ()))


def usage_beside(events: Events) -> Events:
    """The usage in the finish chunk instead of one of its own."""
    found = next((one["usage"] for one in events if is_usage(one)), None)
    kept = [one for one in events if not is_usage(one)]
    return [{**one, "usage": found} if found and finish_chunk(one) else one for one in kept]


def usage_unasked(events: Events) -> Events:
    if any(is_usage(one) for one in events):
        return events
    counts = {"prompt_tokens": 20, "completion_tokens": 12, "total_tokens": 32}
    return [*events[:-1], {**events[0], "choices": [], "usage": counts}, events[-1]]


def terminal(one: Any) -> bool:
    return of_type("response.completed", "response.incomplete")(one)


def call_as_text(said: list[Said]) -> list[Said]:
    """Calls as some models write them, in the text."""
    return [
        dataclasses.replace(
            one,
            text="".join(f"<tool_call>{call.name} {call.arguments}</tool_call>" for call in one.calls),
            calls=[],
            finish="stop",
        )
        if one.calls
        else one
        for one in said
    ]


def renamed(said: list[Said]) -> list[Said]:
    return [
        dataclasses.replace(one, calls=[dataclasses.replace(c, name=f"functions.{c.name}") for c in one.calls])
        for one in said
    ]


def one_call(said: list[Said]) -> list[Said]:
    return [dataclasses.replace(one, calls=one.calls[:1]) for one in said]


def legacy_call(body: Json) -> Json:
    message = body["choices"][0]["message"]
    if found := message.pop("tool_calls", None):
        message["function_call"] = found[0]["function"]
    return body


WHOLE_USAGE, STREAM_USAGE = "chat.whole.usage", "chat.stream.usage"
FORCED, ENVELOPE, TERMINAL = "turn.tool-choice-forced", "responses.whole.envelope", "responses.stream.terminal"
CALLS, OPENING = "chat.whole.calls-all-in-order", "chat.stream.call-opening"
SUMS, ITEMS = "responses.stream.sums", "responses.whole.call-items"
PROMPT, COMPLETION, TOTAL = "prompt_tokens", "completion_tokens", "total_tokens"
MESSAGE = ("choices", "*", "message")
RESPONSE = ("response",)

CHAT_WHOLE = (
    defect("whole-no-usage", WHOLE_USAGE, whole=without("usage")),
    defect("whole-usage-null", WHOLE_USAGE, whole=with_("usage", value=None)),
    defect("whole-usage-total", WHOLE_USAGE, whole=usage(total_tokens=lambda u: u[TOTAL] + 3)),
    defect(
        "whole-usage-no-completion",
        WHOLE_USAGE,
        whole=usage(completion_tokens=lambda _: 0, total_tokens=lambda u: u[PROMPT]),
    ),
    defect(
        "whole-usage-no-prompt",
        WHOLE_USAGE,
        whole=usage(prompt_tokens=lambda _: 0, total_tokens=lambda u: u[COMPLETION]),
    ),
    defect(
        "whole-usage-of-all-time",
        WHOLE_USAGE,
        whole=usage(completion_tokens=lambda _: 90210, total_tokens=lambda u: u[PROMPT] + 90210),
    ),
    defect(
        "whole-usage-one-token",
        WHOLE_USAGE,
        whole=usage(completion_tokens=lambda _: 1, total_tokens=lambda u: u[PROMPT] + 1),
    ),
    defect(
        "whole-usage-details",
        WHOLE_USAGE,
        whole=usage(prompt_tokens_details=lambda u: {"cached_tokens": u[PROMPT] + 5}),
    ),
    defect("whole-usage-as-text", "chat.whole.envelope", WHOLE_USAGE, whole=with_("usage", PROMPT, value=str)),
    defect(
        "whole-finish-stop-beside-calls",
        "chat.whole.finish",
        whole=with_("choices", "*", "finish_reason", value=lambda old: "stop" if old == "tool_calls" else old),
    ),
    defect(
        "whole-finish-calls-without-one",
        "chat.whole.finish",
        whole=with_("choices", "*", "finish_reason", value=lambda old: "tool_calls" if old == "stop" else old),
    ),
    defect("whole-finish-null", "chat.whole.envelope", whole=with_("choices", "*", "finish_reason", value=None)),
    defect("whole-finish-word", "chat.whole.envelope", whole=with_("choices", "*", "finish_reason", value="eos")),
    defect(
        "whole-length-as-stop",
        "chat.whole.finish",
        whole=with_("choices", "*", "finish_reason", value=lambda old: "stop" if old == "length" else old),
    ),
    defect(
        "whole-stop-as-length",
        "chat.whole.finish",
        whole=with_("choices", "*", "finish_reason", value=lambda old: "length" if old == "stop" else old),
    ),
    defect("whole-limit-ignored", "chat.whole.finish", prompt=at_once(limit=None)),
    defect(
        "whole-arguments-object",
        CALLS,
        "chat.whole.envelope",
        whole=with_(*MESSAGE, "tool_calls", "*", "function", "arguments", value=json.loads),
    ),
    defect(
        "whole-arguments-cut",
        "chat.whole.arguments-verbatim",
        whole=with_(*MESSAGE, "tool_calls", "*", "function", "arguments", value=lambda old: old[:-1]),
    ),
    defect(
        "whole-arguments-encoded-twice",
        "chat.whole.arguments-verbatim",
        whole=with_(*MESSAGE, "tool_calls", "*", "function", "arguments", value=json.dumps),
    ),
    defect(
        "whole-arguments-all-text",
        "chat.whole.arguments-verbatim",
        whole=with_(*MESSAGE, "tool_calls", "*", "function", "arguments", value=as_strings),
    ),
    defect("whole-call-without-id", CALLS, "chat.whole.envelope", whole=without(*MESSAGE, "tool_calls", "*", "id")),
    defect("whole-call-empty-id", CALLS, whole=with_(*MESSAGE, "tool_calls", "*", "id", value="")),
    defect("whole-calls-one-id", CALLS, whole=with_(*MESSAGE, "tool_calls", "*", "id", value="call_0")),
    defect("whole-call-without-type", CALLS, "chat.whole.envelope", whole=without(*MESSAGE, "tool_calls", "*", "type")),
    defect("whole-call-legacy", CALLS, whole=legacy_call),
    defect("whole-created-milliseconds", "chat.whole.envelope", whole=with_("created", value=lambda old: old * 1000)),
    defect("whole-no-id", "chat.whole.envelope", whole=without("id")),
    defect(
        "whole-model-other", "chat.whole.envelope", "chat.stream.parity", whole=with_("model", value="another-model")
    ),
    defect("whole-no-role", "chat.whole.envelope", whole=without(*MESSAGE, "role")),
    defect("whole-object", "chat.whole.envelope", whole=with_("object", value="text_completion")),
    defect("whole-no-index", "chat.whole.choices", whole=without("choices", "*", "index")),
    defect("whole-one-choice", "chat.whole.choices", prompt=at_once(n=1)),
    defect("whole-choices-one-index", "chat.whole.choices", whole=with_("choices", "*", "index", value=0)),
    defect(
        "whole-content-parts",
        "chat.whole.envelope",
        whole=with_(*MESSAGE, "content", value=lambda old: [{"type": "text", "text": old}]),
    ),
    defect("whole-torn", "chat.whole.text", whole=with_(*MESSAGE, "content", value=lambda old: old and torn(old))),
    defect(
        "whole-misread", "chat.whole.text", whole=with_(*MESSAGE, "content", value=lambda old: old and misread(old))
    ),
    defect("whole-text-twice", "chat.whole.text", whole=with_(*MESSAGE, "content", value=lambda old: old and old * 2)),
    defect(
        "whole-text-cut",
        "chat.whole.text",
        whole=with_(*MESSAGE, "content", value=lambda old: old and old[: len(old) * 4 // 5]),
    ),
    defect("whole-text-empty", "chat.whole.text", whole=with_(*MESSAGE, "content", value=lambda old: old and "")),
    defect("whole-stop-ignored", "chat.whole.text", prompt=at_once(stop=[])),
    defect(
        "whole-second-call-lost",
        CALLS,
        whole=with_(*MESSAGE, "tool_calls", value=lambda old: old[:1]),
    ),
    defect(
        "whole-error-as-success",
        "chat.whole.envelope",
        "chat.whole.backend-error",
        whole=lambda _: {"error": {"message": "overloaded", "type": "server_error", "param": None, "code": None}},
    ),
    defect("whole-id-same", "chat.whole.envelope", whole=with_("id", value="chatcmpl-mock")),
    defect(
        "whole-call-id-same",
        CALLS,
        whole=with_(
            *MESSAGE, "tool_calls", value=lambda old: [{**call, "id": f"call_{n}"} for n, call in enumerate(old)]
        ),
    ),
    defect("whole-cut-off", "chat.whole.envelope", text=lambda data: data if b"chat.comp" not in data else data[:-9]),
)
CHAT_STREAM = (
    defect("stream-no-usage", STREAM_USAGE, chunks=only(not_(is_usage))),
    defect("stream-usage-unasked", STREAM_USAGE, chunks=usage_unasked),
    defect("stream-usage-beside", STREAM_USAGE, chunks=usage_beside),
    defect("stream-usage-without-choices", "chat.stream.schema", chunks=each(
        lambda one: {name: value for name, value in one.items() if not (is_usage(one) and name == "choices")}
    )),
    defect("stream-usage-total", STREAM_USAGE, chunks=each(usage(total_tokens=lambda u: u[TOTAL] + 3))),
    defect("stream-usage-no-completion", STREAM_USAGE, chunks=each(
        usage(completion_tokens=lambda _: 0, total_tokens=lambda u: u[PROMPT])
    )),
    defect("stream-usage-no-prompt", STREAM_USAGE, chunks=each(
        usage(prompt_tokens=lambda _: 0, total_tokens=lambda u: u[COMPLETION])
    )),
    defect("stream-usage-chunks", STREAM_USAGE, chunks=each(
        usage(completion_tokens=lambda _: 1, total_tokens=lambda u: u[PROMPT] + 1)
    )),
    defect("stream-usage-other-prompt", "chat.stream.parity", STREAM_USAGE, chunks=each(
        usage(prompt_tokens=lambda u: u[PROMPT] + 70, total_tokens=lambda u: u[TOTAL] + 70)
    )),
    defect("stream-no-done", "chat.stream.done-last", chunks=lambda events: events[:-1]),
    defect("stream-after-done", "chat.stream.done-last", chunks=lambda events: [*events, events[1]]),
    defect("stream-done-twice", "chat.stream.done-last", chunks=lambda events: [*events, "[DONE]"]),
    defect("stream-no-finish", "chat.stream.finish-once", chunks=only(not_(finish_chunk))),
    defect("stream-finish-twice", "chat.stream.finish-once", chunks=lambda events: [
        copy for one in events for copy in ([one, one] if finish_chunk(one) else [one])
    ]),
    defect("stream-finish-stop-beside-calls", "chat.stream.finish-reason", chunks=each(
        with_("choices", "*", "finish_reason", value=lambda old: "stop" if old == "tool_calls" else old)
    )),
    defect("stream-finish-calls-without-one", "chat.stream.finish-reason", chunks=each(
        with_("choices", "*", "finish_reason", value=lambda old: "tool_calls" if old == "stop" else old)
    )),
    defect("stream-finish-word", "chat.stream.schema", chunks=each(
        with_("choices", "*", "finish_reason", value=lambda old: old and "end_turn")
    )),
    defect("stream-finish-empty", "chat.stream.schema", "chat.stream.finish-once", chunks=each(
        with_("choices", "*", "finish_reason", value=lambda old: old or "")
    )),
    defect("stream-length-as-stop", "chat.stream.finish-reason", chunks=each(
        with_("choices", "*", "finish_reason", value=lambda old: "stop" if old == "length" else old)
    )),
    defect("stream-limit-ignored", "chat.stream.finish-reason", prompt=lambda prompt: (
        dataclasses.replace(prompt, limit=None) if prompt.stream else prompt
    )),
    defect("stream-no-role", "chat.stream.role-first", chunks=each(without("choices", "*", "delta", "role"))),
    defect("stream-role-each", "chat.stream.role-once", chunks=each(
        with_("choices", "*", "delta", "role", value="assistant")
    )),
    defect("stream-call-no-index", OPENING, "chat.stream.schema", chunks=calls(without("index"))),
    defect("stream-call-from-one", OPENING, chunks=calls(with_("index", value=lambda old: old + 1))),
    defect("stream-calls-one-index", OPENING, chunks=calls(with_("index", value=0))),
    defect("stream-call-no-id", OPENING, chunks=heads(without("id"))),
    defect("stream-call-no-type", OPENING, chunks=heads(without("type"))),
    defect("stream-call-no-name", OPENING, chunks=heads(without("function", "name"))),
    defect("stream-call-head-each", OPENING, chunks=calls(repeat_head)),
    defect("stream-calls-one-id", OPENING, chunks=heads(with_("id", value="call_0"))),
    defect("stream-arguments-cumulative", "chat.stream.arguments-incremental", chunks=fragments(cumulative)),
    defect("stream-arguments-again", "chat.stream.arguments-verbatim", "chat.stream.arguments-incremental",
           chunks=fragments(lambda pieces: [*pieces, "".join(pieces)])),
    defect("stream-arguments-lost", "chat.stream.arguments-verbatim", chunks=fragments(lambda pieces: pieces[:-1])),
    defect("stream-arguments-second-lost", "chat.stream.arguments-verbatim",
           chunks=fragments(lambda pieces: [pieces[0], *pieces[2:]])),
    defect("stream-arguments-swapped", "chat.stream.arguments-verbatim", chunks=fragments(swapped)),
    defect("stream-arguments-twice", "chat.stream.arguments-verbatim", chunks=fragments(twice)),
    defect("stream-arguments-object", OPENING, "chat.stream.schema", chunks=fragments(
        lambda pieces: [json.loads("".join(pieces))]
    )),
    defect("stream-id-same", "chat.stream.stable-id", chunks=each(with_("id", value="chatcmpl-mock"))),
    defect("stream-call-id-same", OPENING, chunks=heads(
        lambda call: call.update(id=f"call_{call['index']}")
    )),
    defect("stream-id-each", "chat.stream.stable-id", chunks=counting("id", "chatcmpl-")),
    defect("stream-created-each", "chat.stream.stable-created", chunks=counting("created", 1_760_000_000)),
    defect("stream-model-changes", "chat.stream.stable-model", "chat.stream.parity", chunks=lambda events: [
        events[0], *each(with_("model", value="another-model"))(events[1:])
    ]),
    defect("stream-model-other", "chat.stream.parity", "chat.stream.stable-model",
           chunks=each(with_("model", value="another-model"))),
    defect("stream-created-milliseconds", "chat.stream.schema", chunks=each(
        with_("created", value=lambda old: old * 1000)
    )),
    defect("stream-object", "chat.stream.schema", chunks=each(with_("object", value="chat.completion"))),
    defect("stream-no-delta", "chat.stream.schema", chunks=each(lambda one: (
        without("choices", "*", "delta")(one) if finish_chunk(one) else one
    ))),
    defect("stream-no-choice-index", "chat.stream.schema", chunks=each(without("choices", "*", "index"))),
    defect("stream-one-choice", "chat.stream.isolation", "chat.whole.choices", prompt=streamed(n=1)),
    defect("stream-choices-one-index", "chat.stream.isolation", "chat.stream.role-once",
           "chat.stream.nothing-after-finish", chunks=each(with_("choices", "*", "index", value=0))),
    defect("stream-torn", "chat.stream.utf8", chunks=delta_texts(lambda pieces: [torn(one) for one in pieces])),
    defect("stream-misread", "chat.stream.text", chunks=delta_texts(lambda pieces: [misread(one) for one in pieces])),
    defect("stream-not-utf8", "chat.stream.frames",
           raw=lambda frame: frame.replace(b"\\u00f6", b"\xf6").replace(b"\\u00fc", b"\xfc")),
    defect("stream-half-a-pair", "chat.stream.utf8", chunks=delta_texts(lambda pieces: [
        half for one in pieces for half in (["\ud83d", "\ude42"] if "\U0001f642" in one else [one])
    ])),
    defect("stream-text-twice", "chat.stream.text", chunks=delta_texts(twice)),
    defect("stream-text-lost", "chat.stream.text", chunks=delta_texts(lambda pieces: pieces[:2] + pieces[3:])),
    defect("stream-last-text-lost", "chat.stream.text", chunks=delta_texts(lambda pieces: pieces[:-1])),
    defect("stream-first-text-lost", "chat.stream.text", chunks=delta_texts(lambda pieces: pieces[1:])),
    defect("stream-text-swapped", "chat.stream.text", chunks=delta_texts(swapped)),
    defect("stream-text-empty", "chat.stream.text", chunks=delta_texts(lambda _: [])),
    defect("stream-blanks-lost", "chat.stream.text", chunks=delta_texts(
        lambda pieces: [one.strip() for one in pieces])),
    defect("stream-text-after-finish", "chat.stream.nothing-after-finish", chunks=lambda events: [
        *events[:-1], next((one for one in events if _content(one)), events[0]), events[-1]
    ]),
    defect("stream-one-newline", "chat.stream.frames", raw=lambda frame: frame[:-1]),
    defect("stream-broken-json", "chat.stream.frames", chunks=before_done('{"id": "chatcmpl-1", "choices": [')),
    defect("stream-event-line", "chat.stream.frames", raw=lambda frame: (
        b"event: message\n" + frame if frame.startswith(b"data:") else frame
    )),
    defect("stream-empty-data", "chat.stream.keepalive-is-comment", chunks=lambda events: ["", *events]),
    defect("stream-cut-off", "chat.stream.done-last", "chat.stream.finish-once", cut=True),
    defect("stream-second-call-lost", "chat.stream.burst-all", chunks=lambda events: last_calls(events, 1)),
    defect("stream-as-json", "chat.stream.headers",
           headers=lambda headers: {**headers, "Content-Type": "application/json"}),
    defect("stream-stop-ignored", "chat.stream.text", prompt=streamed(stop=[])),
    defect("stream-call-as-text", FORCED, prompt=streamed(), chunks=lambda events: [
        one if not _fragment(one) else _with_content(one, "<tool_call>") for one in events
    ]),
    defect("stream-error-after-answer", "chat.stream.nothing-after-finish", "chat.stream.error-after-call",
           "chat.stream.error-after-text", chunks=before_done(
        {"error": {"message": "closed", "type": "server_error", "param": None, "code": None}})),
    defect("stream-empty", "chat.stream.finish-once", "chat.stream.role-first", chunks=lambda _: ["[DONE]"]),
)  # fmt: skip
RESPONSES_WHOLE = (
    defect("response-no-usage", ENVELOPE, only_whole=without("usage")),
    defect("response-usage-of-chat", ENVELOPE, only_whole=with_("usage", value=lambda old: {
        PROMPT: old["input_tokens"], COMPLETION: old["output_tokens"], TOTAL: old[TOTAL],
    })),
    defect("response-usage-total", ENVELOPE, only_whole=usage(total_tokens=lambda u: u[TOTAL] + 3)),
    defect("response-usage-no-output", ENVELOPE, only_whole=usage(
        output_tokens=lambda _: 0, total_tokens=lambda u: u["input_tokens"]
    )),
    defect("response-no-status", ENVELOPE, only_whole=without("status")),
    defect("response-cut-and-completed", ENVELOPE, only_whole=lambda body: {**body, "status": "completed",
           "incomplete_details": None}),
    defect("response-no-reason", ENVELOPE, only_whole=with_("incomplete_details", value=None)),
    defect("response-limit-ignored", ENVELOPE, prompt=lambda prompt: (
        prompt if prompt.stream else dataclasses.replace(prompt, limit=None)
    )),
    defect("response-no-call-id", ITEMS, ENVELOPE, only_whole=without("output", "*", "call_id")),
    defect("response-no-item-id", ITEMS, ENVELOPE, "responses.whole.message", only_whole=without("output", "*", "id")),
    defect("response-arguments-object", ITEMS, ENVELOPE,
           only_whole=with_("output", "*", "arguments", value=json.loads)),
    defect("response-arguments-cut", ITEMS, only_whole=with_("output", "*", "arguments", value=lambda old: old[:-1])),
    defect("response-arguments-all-text", ITEMS, only_whole=with_("output", "*", "arguments", value=as_strings)),
    defect("response-calls-one-id", ITEMS, only_whole=with_("output", "*", "call_id", value=lambda _: "call_0")),
    defect("response-model-other", ENVELOPE, "responses.parity", only_whole=with_("model", value="another-model")),
    defect("response-id-same", ENVELOPE, only_whole=with_("id", value="resp_mock")),
    defect("response-call-id-same", ITEMS, only_whole=lambda body: {**body, "output": [
        {**one, "call_id": f"call_{n}"} if "call_id" in one else one for n, one in enumerate(body["output"])
    ]}),
    defect("response-id", ENVELOPE, only_whole=with_("id", value="chatcmpl-1")),
    defect("response-created-milliseconds", ENVELOPE, only_whole=with_("created_at", value=lambda old: old * 1000)),
    defect("response-object", ENVELOPE, only_whole=with_("object", value="chat.completion")),
    defect("response-role", "responses.whole.message", ENVELOPE,
           only_whole=with_("output", "*", "role", value=lambda _: "user")),
    defect("response-part-text", "responses.whole.message", ENVELOPE,
           only_whole=with_("output", "*", "content", "*", "type", value="text")),
    defect("response-torn", "responses.whole.message",
           only_whole=with_("output", "*", "content", "*", "text", value=torn)),
    defect("response-misread", "responses.whole.message",
           only_whole=with_("output", "*", "content", "*", "text", value=misread)),
    defect("response-text-cut", "responses.whole.message",
           only_whole=with_("output", "*", "content", "*", "text", value=lambda old: old[: len(old) * 4 // 5])),
    defect("response-text-empty", "responses.whole.message",
           only_whole=with_("output", "*", "content", "*", "text", value=lambda _: "")),
    defect("response-no-output", "responses.whole.message", ITEMS, ENVELOPE, only_whole=with_("output", value=[])),
    defect("response-second-call-lost", ITEMS, only_whole=lambda body: {**body, "output": body["output"][:1]}),
    defect("response-tools-empty", ENVELOPE, only_whole=with_("tools", value=[])),
)  # fmt: skip
RESPONSES_STREAM = (
    defect("events-no-created", "responses.stream.order", events=numbered(only(not_(of_type("response.created"))))),
    defect("events-no-end", TERMINAL, events=only(not_(terminal))),
    defect("events-two-ends", TERMINAL, events=numbered(lambda events: [*events, events[-1]])),
    defect("events-done", "responses.stream.order", events=lambda events: [*events, "[DONE]"]),
    defect("events-unnumbered", "responses.stream.sequence", "responses.stream.schema",
           events=each(without("sequence_number"))),
    defect("events-from-one", "responses.stream.sequence",
           events=each(with_("sequence_number", value=lambda old: old + 1))),
    defect("events-unnamed", "responses.stream.event-name",
           raw=lambda frame: frame.partition(b"\n")[2] if frame.startswith(b"event: response") else frame),
    defect("events-no-type", "responses.stream.event-name", "responses.stream.schema",
           raw=lambda frame: frame.replace(b'"type": "response.output_text.delta", ', b"")),
    defect("events-no-item-done", "responses.stream.order",
           events=numbered(only(not_(of_type("response.output_item.done"))))),
    defect("events-no-item-added", "responses.stream.order",
           events=numbered(only(not_(of_type("response.output_item.added"))))),
    defect("events-no-part", "responses.stream.order",
           events=numbered(only(not_(of_type("response.content_part.added", "response.content_part.done"))))),
    defect("events-no-deltas", SUMS, events=numbered(only(not_(of_type(
        "response.output_text.delta", "response.function_call_arguments.delta"))))),
    defect("events-no-argument-deltas", SUMS, events=numbered(only(not_(
        of_type("response.function_call_arguments.delta"))))),
    defect("events-delta-lost", SUMS, events=numbered(lambda events: [
        one for n, one in enumerate(events) if not (of_type("response.output_text.delta")(one) and n == 5)
    ])),
    defect("events-item-id", "responses.stream.indexes", events=each(
        with_("item_id", value=lambda old: f"{old}x"))),
    defect("events-output-index", "responses.stream.indexes", events=each(
        with_("output_index", value=lambda old: old + 1))),
    defect("events-end-empty", SUMS, events=lambda events: [
        *events[:-1], {**events[-1], "response": {**events[-1]["response"], "output": []}}]),
    defect("events-end-no-usage", TERMINAL, events=lambda events: [
        *events[:-1], {**events[-1], "response": {**events[-1]["response"], "usage": None}}]),
    defect("events-end-total", TERMINAL, events=lambda events: [
        *events[:-1], usage(total_tokens=lambda u: u[TOTAL] + 3)(json.loads(json.dumps(events[-1])))]),
    defect("events-end-no-output-tokens", TERMINAL, events=lambda events: [*events[:-1], usage(
        output_tokens=lambda _: 0, total_tokens=lambda u: u["input_tokens"])(json.loads(json.dumps(events[-1])))]),
    defect("events-cut-and-completed", TERMINAL, events=lambda events: [*events[:-1], {
        **events[-1], "type": "response.completed",
        "response": {**events[-1]["response"], "status": "completed", "incomplete_details": None}}]),
    defect("events-limit-ignored", TERMINAL, prompt=lambda prompt: (
        dataclasses.replace(prompt, limit=None) if prompt.stream else prompt)),
    defect("events-unknown-type", "responses.stream.schema", events=each(lambda one: (
        {**one, "type": "response.text.delta"} if of_type("response.output_text.delta")(one) else one))),
    defect("events-no-call-id", SUMS, "responses.stream.schema", events=each(without("item", "call_id"))),
    defect("events-created-milliseconds", TERMINAL, events=each(
        with_("response", "created_at", value=lambda old: old * 1000))),
    defect("events-id-same", TERMINAL, events=each(with_("response", "id", value="resp_mock"))),
    defect("events-call-id-same", "responses.stream.indexes", streamed_said=lambda said: [
        dataclasses.replace(one, calls=[dataclasses.replace(call, id=f"call_{n}") for n, call in enumerate(one.calls)])
        for one in said
    ]),
    defect("events-other-response", TERMINAL, events=lambda events: [
        *events[:-1], {**events[-1], "response": {**events[-1]["response"], "id": "resp_other"}}]),
    defect("events-model-other", "responses.parity", TERMINAL, events=each(
        with_("response", "model", value="another-model"))),
    defect("events-torn", SUMS, streamed_said=texts(torn)),
    defect("events-text-cut", SUMS, streamed_said=texts(lambda text: text[: len(text) * 4 // 5])),
    defect("events-arguments-cut", SUMS, streamed_said=arguments(lambda text: text[:-1])),
    defect("events-second-call-lost", SUMS, streamed_said=one_call),
    defect("events-cut-off", TERMINAL, "responses.stream.order", cut=True),
)  # fmt: skip
REQUESTS = (
    defect("tools-dropped", FORCED, prompt=always(tools={})),
    defect("tool-choice-dropped", FORCED, prompt=lambda prompt: dataclasses.replace(
        prompt, choice="none" if prompt.choice == "none" else "auto")),
    defect("tool-choice-any", FORCED, prompt=lambda prompt: dataclasses.replace(
        prompt, choice="required" if prompt.choice in prompt.tools else prompt.choice)),
    defect("tool-choice-none-ignored", "turn.tool-choice-none", prompt=lambda prompt: dataclasses.replace(
        prompt, choice="auto" if prompt.choice == "none" else prompt.choice)),
    defect("calls-renamed", "turn.calls-declared", FORCED, said=renamed),
    defect("calls-as-text", FORCED, said=call_as_text),
    defect("schema-dropped", "turn.structured-output", prompt=always(schema=None)),
    defect("schema-fenced", "turn.structured-output", said=texts(
        lambda text: f"```json\n{text}\n```" if text.startswith("{") else text)),
    defect("schema-misfit", "turn.structured-output", said=texts(
        lambda text: as_strings(text) if text.startswith('{"name"') else text)),
    defect("system-dropped", "turn.system-prompt", prompt=without_role("system")),
    defect("results-dropped", "turn.tool-result", "turn.follow-up-without-tools", prompt=without_role("tool")),
    defect("history-dropped", "turn.history-reaches-backend", prompt=lambda prompt: dataclasses.replace(
        prompt, messages=prompt.messages[-1:])),
    defect("arguments-all-text", "chat.whole.arguments-verbatim", "chat.stream.arguments-verbatim",
           said=arguments(as_strings)),
    defect("length-as-stop", "chat.whole.finish", "chat.stream.finish-reason", said=finishes("length", "stop")),
)  # fmt: skip
HTTP = (
    defect("error-as-text", "http.error.envelope", error=lambda status, body: (
        status, {"error": body["error"]["message"]})),
    defect("error-detail", "http.error.envelope", error=lambda status, body: (
        status, {"detail": body["error"]["message"]})),
    defect("error-number-code", "http.error.envelope", error=lambda status, body: (
        status, {"error": {**body["error"], "code": status}})),
    defect("error-200", "http.route.unknown", "http.models.unknown", error=lambda _, body: (200, body)),
    defect("error-500", "http.route.unknown", "http.models.unknown", error=lambda _, body: (500, body)),
    defect("error-trace", "http.error.no-internals", error=lambda status, body: (status, {"error": {
        **body["error"], "message": 'Traceback (most recent call last): File "/srv/app/main.py", line 3'}})),
    defect("models-bare", "http.models.list", models=lambda body: {"models": body["data"]}),
    defect("models-other", "http.models.list", models=with_("data", "*", "id", value="another-model")),
)  # fmt: skip
DEFECTS: tuple[Defect, ...] = (
    *CHAT_WHOLE, *CHAT_STREAM, *RESPONSES_WHOLE, *RESPONSES_STREAM, *REQUESTS, *HTTP,
)  # fmt: skip
