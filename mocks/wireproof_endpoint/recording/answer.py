"""The answer of a live endpoint as the steps of a script: text, refusals, reasoning, calls, counts, how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof_endpoint.recording import messages
from wireproof_endpoint.recording.so_far import SILENCE, AnswerSoFar, Json, tokens
from wireproof_scripts.json_text import parse_json
from wireproof_scripts.steps import Fail, Finish, Pause, Say, Usage
from wireproof_scripts.steps.http import Disconnect, Status
from wireproof_surfaces.surfaces.responses_input import CALLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wireproof_scripts.steps import Step

BAD = 400
_CUT_OFF = "This answer breaks off."
"""The text of a whole answer that broke off: what it would have said is not known."""
_FINISHES = {"length": "length", "content_filter": "content_filter", "max_output_tokens": "length"}
"""Words for how an answer ended that a script has to say; the other ways follow from what it holds."""
_DONE = frozenset({"[DONE]", "response.completed", "response.incomplete", messages.DONE})


@dataclass(frozen=True, kw_only=True)
class RecordedAnswer:
    """An answer as it came."""

    status: int
    """0: the connection ended before there was any."""
    headers: Mapping[str, str]
    """By lower-case names."""
    pieces: Sequence[tuple[float, bytes]]
    """Its body with the times in seconds since the request was sent."""
    cut: bool = False
    """Whether the connection ended before the answer did."""

    @property
    def body(self) -> bytes:
        """All of it."""
        return b"".join(piece for _, piece in self.pieces)

    @property
    def streams(self) -> bool:
        """Whether it is a stream of events."""
        return self.headers.get("content-type", "").startswith("text/event-stream")


def steps_of(recorded: RecordedAnswer, *, paced: bool = False) -> tuple[tuple[Step, ...], str]:
    """The steps that answer so again, and the id of the answer; `paced`: with its silences.

    Of several choices the first is read. An answer that breaks off ends its connection where it did.
    """
    before = _waited(recorded, paced=paced)
    if not recorded.status:
        return (*before, Disconnect()), ""
    if not recorded.streams and recorded.cut:
        return (*before, Say((_CUT_OFF,)), Disconnect(at="mid-frame")), ""
    if recorded.status >= BAD:
        return (*before, _refusal(recorded)), ""
    answer = AnswerSoFar(paced=paced)
    if not recorded.streams:
        at = recorded.pieces[-1][0] if recorded.pieces else 0.0
        _whole(_object(recorded.body.decode(errors="replace")), answer, at)
        return answer.steps(), answer.id
    ended = False
    for at, data in frames(recorded.pieces):
        value = _object(data)
        ended = ended or data in _DONE or value.get("type") in _DONE
        _event(value, answer, at)
    if not ended and not any(isinstance(step, Fail) for step in answer.ends):
        # Without its end, and yet not cut off: some servers send none.
        if not recorded.cut:
            answer.ends = [Fail("cut")]
            return answer.steps(), answer.id
        whole = not recorded.body or recorded.body.replace(b"\r\n", b"\n").endswith(b"\n\n")
        answer.ends = [Disconnect() if whole else Disconnect(at="mid-frame")]
    return answer.steps(), answer.id


def _waited(recorded: RecordedAnswer, *, paced: bool) -> tuple[Step, ...]:
    """The silence before an answer that came at once, as a refusal or an end does."""
    at = recorded.pieces[-1][0] if recorded.pieces else 0.0
    return (Pause(round(at, 3)),) if paced and at >= SILENCE else ()


def _refusal(recorded: RecordedAnswer) -> Status:
    text = recorded.body.decode(errors="replace")
    media = recorded.headers.get("content-type", "")
    headers = None if "json" in media or not media else {"content-type": media}
    return Status(recorded.status, retry_after=recorded.headers.get("retry-after"), body=text or None, headers=headers)


def frames(pieces: Iterable[tuple[float, bytes]]) -> Iterator[tuple[float, str]]:
    """The data of each event, with the time at which it was complete."""
    held = b""
    for at, piece in pieces:
        held = (held + piece).replace(b"\r\n", b"\n")
        *events, held = held.split(b"\n\n")
        for event in events:
            text = event.decode(errors="replace")
            lines = [line[5:].strip() for line in text.split("\n") if line.startswith("data:")]
            if lines:
                yield at, "\n".join(lines)


def _object(text: str) -> Json:
    try:
        value = parse_json(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


# Streams


def _event(value: Json, answer: AnswerSoFar, at: float) -> None:
    if messages.event(value, answer, at):
        return
    if value.get("type"):
        _response_event(value, answer, at)
    elif "error" in value:
        answer.ends.append(Fail("server-error"))
    else:
        _chunk(value, answer, at)


def _chunk(value: Json, answer: AnswerSoFar, at: float) -> None:
    answer.named(value.get("id"))
    for choice in _first_choice(value):
        delta = choice.get("delta") or {}
        _reasoning(delta, answer, at)
        _text(delta, answer, at)
        for call in calls_of(delta):
            answer.call(call.get("index"), call.get("id") or "", *called(call), at)
        _finish(choice.get("finish_reason"), answer)
    _count(value.get("usage"), "prompt", "completion", answer)


def _response_event(value: Json, answer: AnswerSoFar, at: float) -> None:
    match value["type"]:
        case "response.created":
            answer.named(value["response"]["id"])
        case "response.output_text.delta" | "response.refusal.delta" as kind:
            answer.say(value["delta"], at, refuses=kind == "response.refusal.delta")
        case "response.reasoning_summary_text.delta":
            answer.thought(value.get("output_index"), at).summary += filter(None, [value["delta"]])
        case "response.reasoning_text.delta":
            answer.thought(value.get("output_index"), at).raw += filter(None, [value["delta"]])
        case "response.output_item.done" if value["item"]["type"] == "reasoning":
            answer.thought(value["output_index"], at).encrypted += value["item"].get("encrypted_content") or ""
        case "response.output_item.added" if value["item"]["type"] in CALLS:
            answer.call(value["output_index"], value["item"]["call_id"], value["item"]["name"], "", at)
        case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
            answer.call(value["output_index"], "", "", value["delta"], at)
        case "response.completed" | "response.incomplete":
            _response_end(value["response"], answer)
        case "response.failed" | "error":
            answer.ends.append(Fail("server-error"))


# Whole answers


def _whole(value: Json, answer: AnswerSoFar, at: float) -> None:
    if value.get("type") == "message":
        messages.whole(value, answer, at)
        return
    answer.named(value.get("id"))
    for choice in _first_choice(value):
        message = choice.get("message") or {}
        _reasoning(message, answer, at)
        _text(message, answer, at)
        for index, call in enumerate(calls_of(message)):
            answer.call(index, call.get("id") or "", *called(call), at)
        _finish(choice.get("finish_reason"), answer)
    if "output" in value:
        for index, item in enumerate(value["output"]):
            _item(index, item, answer, at)
        _response_end(value, answer)
    else:
        _count(value.get("usage"), "prompt", "completion", answer)


def _item(index: int, item: Json, answer: AnswerSoFar, at: float) -> None:
    match item:
        case {"type": "message", "content": [*parts]}:
            for part in parts:
                if part.get("text"):
                    answer.say(part["text"], at)
                elif part.get("refusal"):
                    answer.say(part["refusal"], at, refuses=True)
        case {"type": "function_call" | "custom_tool_call" as kind, "call_id": id_, "name": name}:
            answer.call(index, id_, name, item[CALLS[kind]], at)
        case {"type": "reasoning", "summary": [*parts]}:
            thought = answer.thought(index, at)
            thought.encrypted = item.get("encrypted_content") or ""
            thought.summary += filter(None, (part.get("text") for part in parts))
            thought.raw += filter(None, (part.get("text") for part in item.get("content") or []))


# What both have


def calls_of(said: Json) -> list[Json]:
    """The calls of a chat message, or of a delta; a legacy one has no id."""
    legacy = said.get("function_call")
    return [*(said.get("tool_calls") or []), *([{"index": 0, "function": legacy}] if legacy else [])]


def called(call: Json) -> tuple[str, str]:
    """The name and the arguments of a call of chat, or a custom tool's and its input, as far as they are there."""
    function, custom = call.get("function") or {}, call.get("custom") or {}
    name = function.get("name") or custom.get("name") or ""
    return name, function.get("arguments") or custom.get("input") or ""


def _first_choice(value: Json) -> Iterator[Json]:
    return (choice for choice in value.get("choices") or [] if choice.get("index", 0) == 0)


def _reasoning(said: Json, answer: AnswerSoFar, at: float) -> None:
    """Not OpenAI's, but of many servers: reasoning in a field beside the text."""
    text = said.get("reasoning_content") or said.get("reasoning")
    if isinstance(text, str) and text:
        answer.thought(None, at).chat.append(text)


def _text(said: Json, answer: AnswerSoFar, at: float) -> None:
    """The content of a chat message, or of a delta, or the refusal in its place."""
    if said.get("content"):
        answer.say(said["content"], at)
    if said.get("refusal"):
        answer.say(said["refusal"], at, refuses=True)


def _finish(reason: str | None, answer: AnswerSoFar) -> None:
    if reason in _FINISHES:
        answer.ends.append(Finish(_FINISHES[reason]))  # type: ignore[arg-type]


def _response_end(response: Json, answer: AnswerSoFar) -> None:
    _finish((response.get("incomplete_details") or {}).get("reason"), answer)
    _count(response.get("usage"), "input", "output", answer)


def _count(usage: Json | None, taken: str, given: str, answer: AnswerSoFar) -> None:
    if not usage:
        return
    counts = Usage(
        input=tokens(usage.get(f"{taken}_tokens")),
        output=tokens(usage.get(f"{given}_tokens")),
        cached=tokens((usage.get(f"{taken}_tokens_details") or {}).get("cached_tokens")),
        reasoning=tokens((usage.get(f"{given}_tokens_details") or {}).get("reasoning_tokens")),
    )
    # Before the end: what comes after it is not played.
    answer.ends.insert(0, counts)
