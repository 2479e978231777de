"""Which result is that of which call, where a client has written either into a text.

A result belongs to the call whose id it names; else to the first call without a result that has the name and the
arguments that it says, else the name; else, if it names none, to the first call without a result. A result that names
an id belongs to no call that has another one: a user who quotes a result has not answered a call.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from wireproof_cursor.runs.flattened import written_in
from wireproof_cursor.runs.written import Written, WrittenCall, WrittenMessage, WrittenResult
from wireproof_scripts.conversation import is_result, message_text
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Json = dict[str, Any]


def message_item(role: str, text: str) -> Json:
    """A message as the history keeps it."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def call_item(call_id: str, name: str, arguments: str) -> Json:
    """A call as the history keeps it."""
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def result_item(call_id: str, output: str) -> Json:
    """A result as the history keeps it."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def item_of(written: Written) -> Json:
    """What a message of its own holds, as the history keeps it."""
    match written:
        case WrittenMessage(role=role, text=text):
            return message_item(role, text)
        case WrittenCall(id=id_, name=name, arguments=arguments):
            return call_item(id_, name, arguments)
        case WrittenResult(names=names, output=output):
            return result_item(next(iter(names), ""), output)


def unfolded(items: Sequence[Json]) -> list[Json]:
    """The items, and behind each message the calls and results that are written into it.

    What a user says behind the last of them is a message of its own there: it is asked after the result.
    """
    open_calls = _OpenCalls()
    return [one for item in items for one in (item, *_added(item, open_calls))]


def _added(item: Json, open_calls: _OpenCalls) -> Iterator[Json]:
    """What an item holds besides itself."""
    if item["type"] == "function_call":
        open_calls.add(WrittenCall(id=item["call_id"], name=item["name"], arguments=item["arguments"]))
    elif is_result(item):
        open_calls.take(WrittenResult(names=(item["call_id"],), output=item["output"]))
    else:
        yield from _in_text(message_text(item), open_calls)


def _in_text(text: str, open_calls: _OpenCalls) -> Iterator[Json]:
    last: WrittenMessage | None = None
    seen = False
    for written in written_in(text):
        match written:
            case WrittenCall():
                open_calls.add(written)
            case WrittenResult():
                found = open_calls.take(written)
                if found is not None:
                    yield from found
                    seen, last = True, None
            case WrittenMessage(role="user") if seen:
                last = written
    if last is not None:
        yield message_item("user", last.text)


class _OpenCalls:
    """The calls so far, and which of them wait for a result.

    They are kept by all that a result can name, so that a long conversation is not searched for each of its results.
    """

    def __init__(self) -> None:
        self._all: list[WrittenCall] = []
        self._by_id: dict[str, int] = {}
        self._waiting: defaultdict[str | tuple[str, str] | None, dict[int, None]] = defaultdict(dict)
        """The numbers of calls that wait, in order: under a name, a name and arguments, "" without an id, None all."""
        self._names: set[str] = set()
        self._alone = 0
        """How many results had no id from anywhere."""

    def add(self, call: WrittenCall) -> None:
        """A call comes."""
        number = len(self._all)
        self._all.append(call)
        self._names.add(call.name)
        if call.id:
            self._by_id[call.id] = number
        for key in _keys(call):
            self._waiting[key][number] = None

    def take(self, result: WrittenResult) -> tuple[Json, ...] | None:
        """A result comes: the call and the result as items; None if it is the result of no call here."""
        number = self._of(result)
        if number is None:
            # Where there are calls with ids, a result with another id is one of which somebody speaks.
            if self._by_id and result.names:
                return None
            return (result_item(next(iter(result.names), "") or self._own_id(), result.output),)
        call = self._all[number]
        for key in _keys(call):
            self._waiting[key].pop(number, None)
        id_ = call.id or next((name for name in result.names if name != call.name), "") or self._own_id()
        return call_item(id_, call.name, call.arguments), result_item(id_, result.output)

    def _of(self, result: WrittenResult) -> int | None:
        """The number of its call."""
        for name in result.names:
            if name in self._by_id:
                return self._by_id[name]
        ids = set(result.names) - self._names
        keys: list[str | tuple[str, str] | None] = []
        if result.arguments:
            keys += [(name, canonical(result.arguments)) for name in result.names]
        keys += result.names
        keys.append("" if result.names else None)
        for key in keys:
            number = next(iter(self._waiting.get(key, ())), None)
            # Beside a name there may be an id, which a call that has another one contradicts.
            if number is not None and not (ids and self._all[number].id):
                return number
        return None

    def _own_id(self) -> str:
        self._alone += 1
        return f"written_{self._alone}"


def _keys(call: WrittenCall) -> tuple[str | tuple[str, str] | None, ...]:
    return (
        None,
        (call.name, canonical(call.arguments)),
        *([call.name] if call.name else ()),
        *([] if call.id else [""]),
    )


def canonical(text: str) -> str:
    """JSON in one spelling, so that the same data is the same text; a text that is none as it is."""
    try:
        return json.dumps(parse_json(text), sort_keys=True)
    except ValueError:
        return text
