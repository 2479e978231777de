"""Whether what a client sends reaches the backend as it is: no text changed, doubled or mixed with another request's.

The backend says what it has received (scripts that reflect). One that takes text alone gets history and tools inside of
other text, so a text counts as arrived wherever it stands whole.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wireproof.judging.checks.diff import difference
from wireproof.judging.checks.turn import objects_of, received_by, text_of, texts_of
from wireproof.judging.registry import Checks, Seen
from wireproof.model.target import Backend
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof.reading.exchange import Exchange
    from wireproof.wire.fields import JsonObject

check = Checks()

MARKER = re.compile(r"\[\[wireproof:[A-Za-z0-9._/-]+#([A-Za-z0-9_-]+)\]\]")
"""The marker of a conversation; its nonce is its own."""
CODEX_KEEPS = 8_000
"""Characters of a result that Codex passes on to its model; it cuts longer ones by itself."""
LIKENESS = 12
"""Characters by which a changed text is found again."""


@check("turn.input-untouched")
def input_untouched(exchange: Exchange) -> Iterable[Seen]:
    """The user's texts, results and tools are in what the backend received, each as often as it was sent."""
    received = received_by(exchange)
    texts = [text for _, text in texts_of(received)]
    for seen in (*_strange(exchange, texts), *_texts(exchange, texts), *_tools(exchange, received)):
        # One is enough: what changes one text changes others.
        yield Seen(seen)
        return


def _strange(exchange: Exchange, texts: list[str]) -> Iterator[str]:
    """A text of another conversation."""
    mine = set(MARKER.findall(exchange.transcript.request_body.decode(errors="replace")))
    for text in texts:
        for found in MARKER.finditer(text):
            if found[1] not in mine:
                shown = quoted(text[found.start() : found.start() + 120])
                yield f"the backend also received a text of another request: {shown}"


def _texts(exchange: Exchange, texts: list[str]) -> Iterator[str]:
    sent = list(_sent(exchange))
    for who, text in dict.fromkeys(sent):
        due, came = sent.count((who, text)), sum(one.count(text) for one in texts)
        if came == 0:
            yield f"{who} reached the backend changed: {_changed(text, texts)}"
        elif came != due:
            yield f"{who} was sent {_times(due)} and reached the backend {_times(came)}: {quoted(text)}"


def _sent(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """(whose text it is, text) of all that must not be changed. Empty ones cannot be looked for."""
    codex = exchange.target.backend is Backend.CODEX
    for message in exchange.conversation.history:
        text = text_of(message["content"])
        if message["role"] == "user":
            yield "a text of the user", text
        elif message["role"] == "tool" and text and not (codex and len(text) > CODEX_KEEPS):
            yield "the result of a tool", text
    if exchange.turn is not None and exchange.turn.say:
        yield "the text of the user", exchange.turn.say


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _changed(text: str, texts: list[str]) -> str:
    """How the text differs from what seems to have become of it."""
    words = text.strip()
    # By its beginning or its end: one of them is most often left.
    for part, ends in ((words[:LIKENESS], False), (words[-LIKENESS:], True)):
        for one in texts:
            at = one.rfind(part) if ends else one.find(part)
            if at >= 0:
                return difference(text, _piece(text, one, at, ends=ends))
    return f"{quoted(text)} is nowhere in it"


def _piece(text: str, whole: str, at: int, *, ends: bool) -> str:
    """The part of what was received in which the text should be."""
    before = len(text) - len(text.lstrip())
    start = max(at + LIKENESS - len(text.rstrip()), 0) if ends else max(at - before, 0)
    return whole[start : start + len(text)]


def _tools(exchange: Exchange, received: JsonObject) -> Iterator[str]:
    """What became of the declared tools. A backend that takes text alone has them in its instructions."""
    came = {str(tool.get("name")): tool for tool in objects_of(received, "tools")}
    developer = str(received.get("developer") or "")
    for number, tool in enumerate(exchange.conversation.tools, 1):
        function = tool["function"]
        name = function["name"]
        if name in came:
            yield from _tool(exchange, function, came[name])
        elif name not in developer:
            yield f"tool {number} of {len(exchange.conversation.tools)}, {name}, did not reach the backend"


def _tool(exchange: Exchange, function: JsonObject, came: JsonObject) -> Iterator[str]:
    name, said = function["name"], came.get("description")
    if said != function["description"]:
        yield f"the description of {name} reached the backend changed: {difference(function['description'], str(said))}"
    schema = came.get("inputSchema", came.get("parameters"))
    # Codex itself leaves keywords out that its model's service does not take.
    if exchange.target.backend is not Backend.CODEX and schema != function["parameters"]:
        yield (
            f"the schema of {name} reached the backend changed: "
            f"{difference(quoted(function['parameters'], LONG), quoted(schema, LONG))}"
        )


_SETTINGS = {
    "temperature": "temperature", "stop": "stop", "stop_sequences": "stop", "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens", "max_output_tokens": "max_tokens",
}  # fmt: skip
"""A setting of a request, as any surface calls it → its name in the report of a backend that has settings."""


@check("turn.settings-reach-backend")
def settings_reach_backend(exchange: Exchange) -> Iterable[Seen]:
    """Each setting of the request is one of the backend's."""
    received = received_by(exchange).get("settings")
    if not isinstance(received, dict):
        return
    for name, value in exchange.sent.items():
        # A surface that a gateway may choose, as Responses, has not all of them.
        if _SETTINGS.get(name) not in received:
            continue
        came, sent = received.get(_SETTINGS[name]), [value] if name == "stop" and isinstance(value, str) else value
        if came != sent:
            # An answer at another temperature reads as one at the right one does.
            seen = f"`{name}` is {quoted(sent)} in the request; the backend received {quoted(came)}"
            yield Seen(seen, strict_only=name == "temperature")


LONG = 1_000_000
"""Characters of a schema: all of it, so that a difference in it is found."""
