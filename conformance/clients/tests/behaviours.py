"""How servers answer wrongly, one way each, as bytes that clients can be given: the forms of `measured.toml`.

An answer of the reference proxy is recorded, and the same of a miniature with a fault. Where no miniature has a form,
the right answer is changed here.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, Form, Mode
from wireproof.model.target import Target
from wireproof.model.transcript import Piece, Transcript
from wireproof.results.certify import certify
from wireproof.scenarios import CONVERSATIONS
from wireproof.targets.launch import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Json = dict[str, Any]
    Change = Callable[[Transcript], Transcript]

MEASURED = files("wireproof") / "requirements" / "measured.toml"
SETTINGS = {"PROXY_API_KEY": "a key of the measurements", "PROXY_KEEPALIVE_MS": "100"}
RIGHT = "none"
"""The miniature without a fault."""
AFTERWARDS = "text-hello"
"""The scenario whose answer a client gets for whatever it asks next."""
DIALECTS = {"chat": Dialect.OPENAI_JSON, "responses": Dialect.RESPONSES, "messages": Dialect.MESSAGES}
USAGE = "chat.stream.usage"
SCENARIOS = {one.name: one for one in CONVERSATIONS}


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """One way to answer wrongly."""

    requirement: str
    """The row that it breaks."""
    form: str
    """What is wrong, as a clause."""
    scenario: str
    surface: str
    mode: Mode
    fault: str
    """The miniature that has it; "": it is made here."""
    effects: Mapping[str, str]
    """Client → what it does, as it is pinned; one that is not named does as usual."""

    @property
    def asked(self) -> ConversationScenario:
        """What the client asks."""
        return SCENARIOS[self.scenario]

    @property
    def shape(self) -> Form:
        """The form of the answer that the client asks for."""
        return Form(DIALECTS[self.surface], self.mode)


@dataclass(frozen=True, kw_only=True)
class Answers:
    """A behaviour as bytes."""

    behaviour: Behaviour
    right: Transcript
    wrong: Transcript
    then: Transcript
    """What is answered to a request that goes on from either."""
    whole: tuple[Transcript, Transcript]
    """The right answer and the next one to who asks for whole ones."""


def behaviours() -> list[Behaviour]:
    """Those that are pinned."""
    table = tomllib.loads(MEASURED.read_text(encoding="utf-8"))
    return [
        Behaviour(
            requirement=one["requirement"],
            form=one["form"],
            scenario=one["scenario"],
            surface=one["surface"],
            mode=Mode(one["mode"]),
            fault=one.get("fault", ""),
            effects=one["effects"],
        )
        for one in table["form"]
    ]


def answers(every: Iterable[Behaviour]) -> list[Answers]:
    """The bytes of behaviours, recorded from miniatures now."""
    those = list(every)
    wanted: dict[tuple[str, Dialect], set[str]] = defaultdict(set)
    for one in those:
        wanted[RIGHT, one.shape.dialect] |= {one.scenario, AFTERWARDS}
        if one.fault:
            wanted[one.fault, one.shape.dialect].add(one.scenario)
    recorded: dict[tuple[str, str, Form], Transcript] = {}
    with launch([sys.executable, "-m", "wireproof_mocks.miniatures"], env=SETTINGS) as served:
        root = served.base_url.removesuffix("/v1")
        for (fault, dialect), names in wanted.items():
            target = Target(
                base_url=f"{root}/{fault}/v1", model="codex", api_key=SETTINGS["PROXY_API_KEY"], dialects=(dialect,)
            )
            certificate = certify(target, [SCENARIOS[name] for name in sorted(names)], load())
            for run in certificate.runs:
                for form, exchanges in run.exchanges.items():
                    recorded[fault, run.scenario.name, form] = exchanges[0].transcript
    return [_answers(one, recorded) for one in those]


def _answers(one: Behaviour, recorded: Mapping[tuple[str, str, Form], Transcript]) -> Answers:
    # Not every client asks for counts, and some break on their chunk.
    plain = _uncounted if one.surface == "chat" and one.requirement != USAGE else _as_it_is
    right, then = (plain(recorded[RIGHT, name, one.shape]) for name in (one.scenario, AFTERWARDS))
    if one.fault:
        wrong = plain(recorded[one.fault, one.scenario, one.shape])
    else:
        wrong = CHANGES[one.requirement, one.form](right)
    shape = Form(one.shape.dialect, Mode.WHOLE)
    whole = (recorded[RIGHT, one.scenario, shape], recorded[RIGHT, AFTERWARDS, shape])
    return Answers(behaviour=one, right=right, wrong=wrong, then=then, whole=whole)


def _as_it_is(answer: Transcript) -> Transcript:
    return answer


def _uncounted(answer: Transcript) -> Transcript:
    """A stream without the chunk of its usage."""
    frames = answer.body.split(b"\n\n")
    kept = [one for one in frames if not (b'"choices":[]' in one and b'"usage":{' in one)]
    return replace(answer, pieces=(Piece(at=0.0, data=b"\n\n".join(kept)),))


# changes of right answers


def _body(change: Callable[[bytes], bytes]) -> Change:
    return lambda right: replace(right, pieces=(Piece(at=0.0, data=change(right.body)),))


def _framed(change: Callable[[list[Json]], Iterable[Json | bytes]]) -> Change:
    """The payloads of a stream, changed; bytes are frames as they are. What is no JSON object stays as it is."""

    def changed(body: bytes) -> bytes:
        frames = [one for one in body.split(b"\n\n") if one.strip()]
        ends = [one for one in frames if b"data: {" not in one]
        payloads = [json.loads(one.partition(b"data: ")[2]) for one in frames if b"data: {" in one]
        # Of the event, before its type is changed.
        names = {id(one): f"event: {one['type']}\n" for one in payloads if "type" in one}
        out = b""
        for one in change(payloads):
            made = f"event: {one['type']}\n" if isinstance(one, dict) and "type" in one else ""
            name = names.get(id(one), made)
            out += one if isinstance(one, bytes) else f"{name}data: {json.dumps(one)}\n\n".encode()
        return out + b"".join(one + b"\n\n" for one in ends if not one.startswith(b":"))

    return _body(changed)


def _each(change: Callable[[Json], object]) -> Change:
    """Each payload of a stream, changed in place."""

    def every(payloads: list[Json]) -> list[Json]:
        for one in payloads:
            change(one)
        return payloads

    return _framed(every)


def _whole(change: Callable[[Json], object]) -> Change:
    """The body of a whole answer, changed in place."""

    def changed(body: bytes) -> bytes:
        said = json.loads(body)
        change(said)
        return json.dumps(said).encode()

    return _body(changed)


def _calls(payload: Json) -> list[Json]:
    """The calls of a chunk, or of a whole answer."""
    spoken = [choice.get("delta") or choice.get("message") or {} for choice in payload.get("choices", [])]
    return [call for one in spoken for call in one.get("tool_calls") or []]


def _of_calls(change: Callable[[Json], object]) -> Callable[[Json], object]:
    return lambda payload: [change(call) for call in _calls(payload)]


def _opening(change: Callable[[Json], object]) -> Callable[[Json], object]:
    return _of_calls(lambda call: change(call) if call.get("id") else None)


def _later(**members: Any) -> Callable[[list[Json]], list[Json]]:
    """Members of the deltas of a call behind its first one; `name` is one of its function."""

    def every(payloads: list[Json]) -> list[Json]:
        first: Json = {}
        for payload in payloads:
            for call in _calls(payload):
                if call.get("id"):
                    first = {"id": call["id"], "type": call["type"], "name": call["function"]["name"]}
                    continue
                found = {key: first[key] if value is ... else value for key, value in members.items()}
                name = {"name": found.pop("name")} if "name" in found else {}
                call.update(found)
                call["function"].update(name)
        return payloads

    return every


def _in_one_delta(payloads: list[Json]) -> list[Json]:
    """The deltas of each call as one."""
    first: dict[int, Json] = {}
    for payload in payloads:
        for call in _calls(payload):
            if call["index"] in first:
                first[call["index"]]["function"]["arguments"] += call["function"].get("arguments") or ""
            else:
                first[call["index"]] = call
    return [one for one in payloads if not _calls(one) or any(call.get("id") for call in _calls(one))]


def _then(change: Callable[[Json], object], *before: Callable[[list[Json]], list[Json]]) -> Change:
    def every(payloads: list[Json]) -> list[Json]:
        for one in before:
            payloads = one(payloads)
        for payload in payloads:
            change(payload)
        return payloads

    return _framed(every)


def _old(payload: Json) -> None:
    """A call as the old function_call."""
    for choice in payload.get("choices", []):
        said = choice.get("delta") or choice.get("message") or {}
        calls = said.pop("tool_calls", None)
        if calls:
            said["function_call"] = calls[0]["function"]
        if choice.get("finish_reason") == "tool_calls":
            choice["finish_reason"] = "function_call"


def _both(payload: Json) -> None:
    for choice in payload["choices"]:
        calls = (choice.get("delta") or {}).get("tool_calls")
        if calls:
            choice["delta"]["function_call"] = dict(calls[0]["function"])


def _twice(payloads: list[Json]) -> Iterable[Json]:
    """Each text of a second choice, too, as if two had been asked for."""
    for payload in payloads:
        yield payload
        choices = [one for one in payload.get("choices", []) if one["delta"].get("content")]
        if choices:
            yield payload | {"choices": [{**choices[0], "index": 1, "delta": {"content": "another"}}]}


def _choices(change: Callable[[Json], object]) -> Callable[[Json], object]:
    return lambda payload: [change(choice) for choice in payload.get("choices", [])]


def _without_delta(choice: Json) -> None:
    if choice.get("finish_reason"):
        choice["delta"] = None


def _noise(frame: bytes) -> Change:
    return _framed(lambda payloads: [payloads[0], frame, *payloads[1:]])


def _items(payload: Json, *types: str) -> list[Json]:
    """The items of calls in events of these types, or in a response."""
    if types:
        found = [payload["item"]] if payload.get("type") in types else []
    else:
        found = list((payload.get("response") or payload).get("output") or [])
    return [one for one in found if one.get("type") == "function_call"]


def _item(change: Callable[[Json], object], *types: str) -> Callable[[Json], object]:
    return lambda payload: [change(item) for item in _items(payload, *types)]


def _only(*names: str) -> Callable[[Json], object]:
    def change(payload: Json) -> None:
        for name in payload.keys() - set(names):
            del payload[name]

    return change


def _objects(said: Json) -> None:
    said["arguments"] = json.loads(said["arguments"])


def _without_types(name: str) -> Change:
    return _framed(lambda payloads: [one for one in payloads if one.get("type") != name])


def _part_of_message(response: Json) -> None:
    calls = [{"type": "tool_call", "id": one["call_id"], "name": one["name"], "arguments": one["arguments"]}
             for one in _items(response)]  # fmt: skip
    response["output"] = [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                           "content": calls}]  # fmt: skip


def _chat_usage(payload: Json) -> None:
    response = payload.get("response") or payload
    if response.get("usage"):
        used = response["usage"]
        response["usage"] = {
            "prompt_tokens": used["input_tokens"], "completion_tokens": used["output_tokens"],
            "total_tokens": used["total_tokens"],
        }  # fmt: skip


def _cumulative(payloads: list[Json]) -> Iterable[Json]:
    """The arguments in three deltas, each with all so far."""
    for one in payloads:
        text = one["delta"] if one["type"] == "response.function_call_arguments.delta" else None
        if text is None:
            yield one
        else:
            yield from (one | {"delta": text[: part * len(text) // 3]} for part in (1, 2, 3))


def _early_arguments(payloads: list[Json]) -> list[Json]:
    done = {item["id"]: item["arguments"] for one in payloads for item in _items(one, "response.output_item.done")}
    for one in payloads:
        for item in _items(one, "response.output_item.added"):
            item["arguments"] = done[item["id"]]
    return payloads


def _as_events(right: Transcript) -> Transcript:
    """A whole response as the events of a stream."""
    response = json.loads(right.body)
    items = [{"type": "response.output_item.done", "output_index": n, "item": item}
             for n, item in enumerate(response["output"])]  # fmt: skip
    begun = {"type": "response.created", "response": {**response, "status": "in_progress", "output": [], "usage": None}}
    events = [begun, *items, {"type": "response.completed", "response": response}]
    frames = (
        f"event: {one['type']}\ndata: {json.dumps({**one, 'sequence_number': n})}\n\n" for n, one in enumerate(events)
    )
    heads = ((name, "text/event-stream" if name == "content-type" else value) for name, value in right.headers)
    return replace(right, headers=tuple(heads), pieces=(Piece(at=0.0, data="".join(frames).encode()),))


def _popped(name: str) -> Callable[[Json], object]:
    return lambda value: value.pop(name, None)


CHAT, WHOLE = "chat.stream.", "chat.whole."
RESPONSE, EVENTS = "responses.whole.", "responses.stream."
CHANGES: Mapping[tuple[str, str], Change] = {
    (WHOLE + "envelope", "when only choices is sent"): _whole(_only("choices")),
    (WHOLE + "envelope", "when the message has no role"): _whole(_choices(lambda one: one["message"].pop("role"))),
    (WHOLE + "finish", "when finish_reason is null"): _whole(_choices(lambda one: one.update(finish_reason=None))),
    (WHOLE + "calls-all-in-order", "when a call has no id"): _whole(_of_calls(_popped("id"))),
    (WHOLE + "calls-all-in-order", "when a call has no type"): _whole(_of_calls(_popped("type"))),
    (WHOLE + "calls-all-in-order", "when arguments is an object"): _whole(
        _of_calls(lambda call: _objects(call["function"]))
    ),
    (WHOLE + "calls-all-in-order", "when the call is sent as the old function_call"): _whole(_old),
    (CHAT + "schema", "when a chunk holds only choices"): _each(_only("choices")),
    (CHAT + "schema", "when a choice has no index"): _each(_choices(_popped("index"))),
    (CHAT + "schema", "when the finish chunk has no delta or a null one"): _each(_choices(_without_delta)),
    (CHAT + "schema", "when a chunk has no choices"): _framed(
        lambda payloads: [*payloads, {name: one for name, one in payloads[-1].items() if name != "choices"}]
    ),
    (CHAT + "call-opening", "when the only call has index 1"): _each(_of_calls(lambda call: call.update(index=1))),
    (CHAT + "call-opening", "when index is a string"): _each(
        _of_calls(lambda call: call.update(index=str(call["index"])))
    ),
    (CHAT + "call-opening", "when two calls share one index"): _each(_of_calls(lambda call: call.update(index=0))),
    (CHAT + "call-opening", "when later deltas repeat the name"): _framed(_later(name=...)),
    (CHAT + "call-opening", "when id and name are repeated"): _framed(_later(id=..., type=..., name=...)),
    (CHAT + "call-opening", "when later deltas carry id, type and name as null"): _framed(
        _later(id=None, type=None, name=None)
    ),
    (CHAT + "call-opening", "when the first delta has no arguments or null ones"): _each(
        _opening(lambda call: call["function"].update(arguments=None))
    ),
    (CHAT + "call-opening", "when arguments is an object"): _then(
        _of_calls(lambda call: _objects(call["function"])), _in_one_delta
    ),
    (CHAT + "call-opening", "when the call is sent as the old function_call"): _each(_old),
    (CHAT + "call-opening", "when it is sent as function_call and tool_calls at once"): _each(_both),
    (CHAT + "finish-reason", "when finish_reason is tool_calls and no tool_calls were sent"): _each(
        _choices(lambda one: one.update(finish_reason="tool_calls") if one.get("finish_reason") else None)
    ),
    (CHAT + "usage", "when the usage chunk has no choices"): _each(
        lambda one: one.pop("choices") if one.get("usage") else None
    ),
    (CHAT + "keepalive-is-comment", "at an empty data: line"): _noise(b"data:\n\n"),
    (CHAT + "keepalive-is-comment", "at an event: block without data"): _noise(b"event: ping\n\n"),
    (CHAT + "keepalive-is-comment", "at a retry: block"): _noise(b"retry: 3000\n\n"),
    (CHAT + "keepalive-is-comment", "at an event: ping with data: {}"): _noise(b"event: ping\ndata: {}\n\n"),
    (CHAT + "isolation", "when two choices come and one was asked for"): _framed(_twice),
    (RESPONSE + "envelope", "when only id, status and output are sent"): _whole(_only("id", "status", "output")),
    (RESPONSE + "envelope", "when the body is an event stream although stream is false"): _as_events,
    (RESPONSE + "call-items", "when the item has no id"): _whole(_item(_popped("id"))),
    (RESPONSE + "call-items", "when arguments is an object"): _whole(_item(_objects)),
    (RESPONSE + "call-items", "when it is a part of a message"): _whole(_part_of_message),
    (EVENTS + "schema", "when the item in output_item.added has no arguments"): _each(
        _item(_popped("arguments"), "response.output_item.added")
    ),
    (EVENTS + "order", "without response.created"): _without_types("response.created"),
    (EVENTS + "event-name", "when the data has no type"): _each(_popped("type")),
    (EVENTS + "indexes", "when the call's item has no id"): _each(_item(_popped("id"), "response.output_item.added")),
    (EVENTS + "sums", "when arguments come without deltas"): _without_types("response.function_call_arguments.delta"),
    (EVENTS + "sums", "when output_item.added already has them"): _framed(_early_arguments),
    (EVENTS + "sums", "when output_item.done has empty arguments"): _each(
        _item(lambda item: item.update(arguments=""), "response.output_item.done")
    ),
    (EVENTS + "sums", "when the deltas are cumulative"): _framed(_cumulative),
    (EVENTS + "terminal", "when the usage has the field names of chat"): _each(_chat_usage),
}  # fmt: skip
"""Row and form → what makes it of a right answer."""
