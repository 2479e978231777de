"""Two-sided checks: what the backend reports that it received, against what the client sent.

The scripts of these scenarios reflect: the mock answers with JSON that holds the history, the input, the tools and the
instructions that reached it. A text-only backend gets history and tools flattened into text, so each check also
accepts the flattened form.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from wireproof.judging.checks.diff import is_object
from wireproof.judging.checks.places import said_place, same_data
from wireproof.judging.registry import Checks, Seen
from wireproof.model.target import Backend
from wireproof.reading.exchange import Exchange, answer_in
from wireproof.wire.fields import JsonObject, json_object
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


check = Checks()


_DECODER = json.JSONDecoder()


def received_by(exchange: Exchange) -> JsonObject:
    """What the backend received, as it says. That this text arrived unchanged is for the checks of content."""
    return json_object(exchange.choice().text or "") or {}


@check("turn.history-reaches-backend")
def history_reaches_backend(exchange: Exchange) -> Iterable[Seen]:
    """Every message is found in what the backend received, in order, with its role where items have one.

    That the system's text becomes developer text is for `turn.system-prompt`.
    """
    received = received_by(exchange)
    items = list(texts_of(received))
    position = 0
    for message in exchange.conversation.history:
        text = text_of(message["content"])
        # Contained, not equal, and from the same item on: a text-only backend gets many messages in one text.
        found = next((i for i in range(position, len(items)) if text in items[i][1]), None)
        if found is None:
            seen = f"the {message['role']} message {quoted(text, 60)} did not reach the backend (or not in its place)"
            yield Seen(seen)
            return
        role, whole = items[found]
        wanted = _ROLES.get(message["role"], role)
        # Where many messages are one text, that text says whose each of them is.
        written = _ROLE_WORDS.get(str(wanted))
        in_text = written is not None and any(written.search(head_before(whole, at)) for at in _places(whole, text))
        if role is not None and role != wanted and not in_text:
            seen = f"the {message['role']} message {quoted(text, 60)} reached the backend as {role}"
            yield Seen(seen)
            return
        position = found
    yield from _calls(exchange, received)


def _calls(exchange: Exchange, received: JsonObject) -> Iterable[Seen]:
    """Each call of the history is in what the backend received, with its arguments unchanged."""
    calls = {(item.get("call_id"), item.get("name"), item.get("arguments")) for item in _history(received, _CALL)}
    flat = _flat(received)
    # Cursor's agent service takes the arguments of a call as data, and Messages carry them so.
    data = exchange.target.backend is Backend.CURSOR or exchange.carries_data
    # A text-only backend gets them written in a text.
    written = list(_objects_in(flat)) if data else []
    for call in _calls_of(exchange):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        meant = [came for id_, of, came in calls if (id_, of) == (call["id"], name)] if data else []
        alike = any(same_data(arguments, str(came)) for came in (*meant, *written))
        if (call["id"], name, arguments) not in calls and arguments not in flat and not alike:
            seen = f"the call {call['id']} of {name} with {quoted(arguments, 60)} did not reach the backend unchanged"
            yield Seen(seen)


def _objects_in(text: str) -> Iterator[str]:
    """The JSON objects that stand in a text, each as it is written there."""
    at = text.find("{")
    while at >= 0:
        try:
            _, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield text[at:end]
        at = text.find("{", end)


def _calls_of(exchange: Exchange) -> list[JsonObject]:
    return [call for message in exchange.conversation.history for call in message.get("tool_calls", ())]


def _history(received: JsonObject, kind: str) -> list[JsonObject]:
    """The items of one type in the backend's history."""
    return [item for item in objects_of(received, "history") if item.get("type") == kind]


_CALL, _RESULT = "function_call", "function_call_output"
# System and developer texts have a row of their own; results are items without a role.
_ROLES = {"user": "user", "assistant": "assistant"}
_ROLE_WORDS = {
    "user": re.compile(r"\b(?:user|human)\b", re.IGNORECASE),
    "assistant": re.compile(r"\b(?:assistant|ai|model)\b", re.IGNORECASE),
}


def texts_of(received: JsonObject) -> Iterable[tuple[str | None, str]]:
    """(role or None, text) of all that the backend received, in order."""
    if received.get("developer"):
        yield "developer", str(received["developer"])
    for item in objects_of(received, "history"):
        yield item.get("role"), text_of(item.get("content") or item.get("output"))
    for item in objects_of(received, "input"):
        yield "user", str(item.get("text", ""))


def _flat(received: JsonObject) -> str:
    """All of its texts as one."""
    return "\n".join(text for _, text in texts_of(received))


def objects_of(received: JsonObject, member: str) -> list[JsonObject]:
    """The objects of a list. A proxy may have sent anything there; what is no object is passed over."""
    return [item for item in received.get(member) or () if isinstance(item, dict)]


def text_of(content: object) -> str:
    """The text of a content: itself, or its parts joined."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


@check("turn.tool-result")
def tool_result(exchange: Exchange) -> Iterable[Seen]:
    """Each result reaches the backend as that of its call: an item under its id, or text behind what says whose it is.

    In the function-call dialect calls have no ids: the proxy makes one, which is found by the name of the call.
    """
    received = received_by(exchange)
    paired = {(item.get("call_id"), text_of(item.get("output"))) for item in _history(received, _RESULT)}
    # Without its results, which have ids of their own.
    said = [item for item in objects_of(received, "history") if item.get("type") != _RESULT]
    flat = _flat({**received, "history": said})
    names = {call["id"]: call["function"]["name"] for call in _calls_of(exchange)}
    end = 0
    for message in exchange.conversation.history:
        if message["role"] != "tool":
            continue
        outputs, id_ = _outputs(message["content"]), message["tool_call_id"]
        name = names[id_]
        known = {id_} if exchange.dialect.spec.call_ids else set(_ids_of(received, name))
        others = {*names, *names.values()} - {*known, id_, name}
        # A name that several calls have says which of them as little as no name does.
        own = known | ({name} if list(names.values()).count(name) == 1 else set())
        found = next(
            (
                (at, output)
                for output in outputs
                for at in _places(flat, output)
                if _is_of(head_before(flat, at), own, others, at >= end)
            ),
            None,
        )
        end = end if found is None else found[0] + len(found[1])
        if found is None and not any((one, output) in paired for one in known for output in outputs):
            yield Seen(f"the result of {name} ({id_}) did not reach the backend under its call's id")


def _outputs(content: object) -> list[str]:
    """The texts as which a result may arrive: its parts side by side, or one on a line."""
    parts = content if isinstance(content, list) else []
    lines = "\n".join(str(part.get("text", "")) for part in parts)
    return [text_of(content), lines] if len(parts) > 1 else [text_of(content)]


def _places(text: str, part: str) -> Iterable[int]:
    """Where a text has a part, in order; nowhere an empty one."""
    return (found.start() for found in re.finditer(re.escape(part), text)) if part else ()


_RESULT_WORD = re.compile(r"tool|function|result|output|observation", re.IGNORECASE)
_MARKUP = re.compile(r"[\s>*`_-]*|```\w*")
_LONGEST_HEAD = 400


def head_before(text: str, at: int) -> str:
    """What says whose the text is that begins there: what stands on its line, else the line above, like a heading."""
    *above, line = text[max(at - _LONGEST_HEAD, 0) : at].split("\n")
    lines = (one for one in (line, *reversed(above)) if not _MARKUP.fullmatch(one))
    return next(lines, "")


def _is_of(head: str, own: set[str], others: set[str], in_order: bool) -> bool:  # noqa: FBT001 - it is named above
    """Whether a head is that of a result of this call: it names it, or names no call, and the order says which."""
    last = {word: at for word in (*own, *others) if (at := _last_place(head, word)) >= 0}
    if last:
        return max(last, key=lambda word: last[word]) in own
    return in_order and _RESULT_WORD.search(head) is not None


def _last_place(text: str, word: str) -> int:
    """Where a text has a word for the last time; -1: nowhere."""
    return max((found.start() for found in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)), default=-1)


def _ids_of(received: JsonObject, name: str) -> list[str]:
    """The ids under which calls of a function reached the backend."""
    ids = [str(item.get("call_id")) for item in _history(received, _CALL) if item.get("name") == name]
    return ids + re.findall(rf"{re.escape(name)}:([^\]\s]+)", _flat(received))


@check("turn.tool-registry-order")
def tool_registry_order(exchange: Exchange) -> Iterable[Seen]:
    """The declared tools, in their order, by their names."""
    received = received_by(exchange)
    want = exchange.conversation.tool_names
    got = [tool.get("name") for tool in objects_of(received, "tools")]
    if got != want and not _in_order(want, str(received.get("developer") or "")):
        seen = f"the request declares {quoted(want)}; the backend received {quoted(got)}"
        yield Seen(seen)


def _in_order(names: list[str], text: str) -> bool:
    """Whether a text names all of them in this order, as the instructions of a text-only backend do."""
    position = 0
    for name in names:
        position = text.find(name, position)
        if position < 0:
            return False
    return True


@check("turn.fresh-session")
def fresh_session(exchange: Exchange) -> Iterable[Seen]:
    """The backend's session holds nothing that only an earlier request sent."""
    if exchange.number == 0:
        return
    received = json.dumps(received_by(exchange), ensure_ascii=False)
    # By what the client said: a text that only an earlier request sent can come from nowhere else.
    for turn in exchange.conversation.turns[: exchange.number]:
        if turn.say and turn.say in received:
            seen = f"the backend's session still holds what an earlier request sent: {quoted(turn.say)}"
            yield Seen(seen)


_INSTRUCTING = {"system", "developer"}


@check("turn.system-prompt")
def system_prompt(exchange: Exchange) -> Iterable[Seen]:
    """System and developer text reaches the backend as developer text; its base instructions stay its own."""
    received = received_by(exchange)
    # Null: the backend's own were left alone, as S0 asks.
    if received.get("base") is not None:
        yield Seen(f"the base instructions were replaced: {quoted(received['base'])}")
        return
    instructions = "\n".join(text for role, text in texts_of(received) if role in _INSTRUCTING)
    for message in exchange.conversation.history:
        if message["role"] in _INSTRUCTING and message["content"] not in instructions:
            seen = (
                f"the {message['role']} text {quoted(message['content'])} did not reach the backend as developer text"
            )
            yield Seen(seen)


@check("turn.tool-choice-none")
def tool_choice_none(exchange: Exchange) -> Iterable[Seen]:
    """No tool is offered to the backend."""
    # Not what the backend reflects; the checks of content have named that.
    if not is_object(exchange.choice().text or ""):
        return
    received = received_by(exchange)
    offered = [tool.get("name") for tool in objects_of(received, "tools")]
    developer = str(received.get("developer") or "")
    # A text-only backend is offered tools in its instructions.
    offered += [name for name in exchange.conversation.tool_names if name in developer]
    if offered:
        yield Seen(f"tool_choice is none, and the backend was offered {quoted(offered)}")


@check("turn.tool-choice-forced")
def tool_choice_forced(exchange: Exchange) -> Iterable[Seen]:
    """A call that was demanded was made, or there is no answer."""
    tools = exchange.terms.forced
    declared = set(exchange.conversation.tool_names)
    for choice in exchange.answer.choices:
        called = [call.name for call in choice.calls]
        # A name that is misspelt or was not declared has requirements of its own.
        if tools and exchange.answer.error is None and not tools & set(called) and set(called) <= declared:
            demanded = " or ".join(sorted(tools))
            came = f"calls {', '.join(called)}" if called else f"is text: {quoted(choice.text or '')}"
            seen = f"tool_choice demands a call of {demanded}; the answer {came}"
            yield Seen(seen, said_place(exchange, choice.index))


@check("turn.calls-declared")
def calls_declared(exchange: Exchange) -> Iterable[Seen]:
    """A call names a tool that the request declares, or one that the backend is known to call."""
    body = exchange.sent
    # In the spelling of any surface.
    tools = [tool.get("function", tool) for tool in objects_of(body, "tools")]
    declared = [function.get("name") for function in (*tools, *objects_of(body, "functions"))]
    made = [call.name for wanted in exchange.wanted for call in wanted.calls]
    # A plain request has no reading.
    for call in (exchange.reading or answer_in(exchange)).answer.calls:
        if call.name not in {*declared, *made}:
            seen = f"the answer calls {call.name}; the request declares {', '.join(map(str, declared)) or 'no tools'}"
            yield Seen(seen, exchange.body_place)


@check("turn.structured-output")
def structured_output(exchange: Exchange) -> Iterable[Seen]:
    """The schema of the request is that of the backend's answer; an answer that was to be JSON is."""
    body = exchange.added
    text = exchange.choice().text or ""
    if exchange.answer.error is None and not is_object(text):
        yield Seen(f"the request demands a JSON object; the answer is {quoted(text)}", said_place(exchange))
        return
    asked, received = _schema_of(body), received_by(exchange)
    if asked is not None and received.get("schema") != asked:
        came = quoted(received.get("schema"))
        yield Seen(f"the request's schema did not reach the backend as its output schema, which is {came}")


def _schema_of(body: Mapping[str, object]) -> object:
    """The schema in the body of a request, on either surface; None without one."""
    match body:
        case {"response_format": {"json_schema": {"schema": schema}}} | {"text": {"format": {"schema": schema}}}:
            return schema
        case _:
            return None


@check("turn.images")
def images(exchange: Exchange) -> Iterable[Seen]:
    """Each image reaches the backend as an image, not as its URL in a text."""
    received = received_by(exchange)
    items = [item for member in ("history", "input") for item in objects_of(received, member)]
    found = json.dumps([{name: value for name, value in item.items() if name != "text"} for item in items])
    contents = [message["content"] for message in exchange.conversation.history]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    before = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    for url in (*before, *(exchange.turn.images if exchange.turn else ())):
        if url not in found:
            yield Seen(f"the image {url[:40]}… did not reach the backend as an image")
