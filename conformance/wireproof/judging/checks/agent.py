"""Checks of a proxy in front of Cursor's agent service: the arguments of calls, and what the proxy runs by itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from wireproof.judging.checks.places import same_data
from wireproof.judging.checks.turn import objects_of, received_by
from wireproof.judging.registry import Checks, Seen
from wireproof.reading.expected import calls_of
from wireproof.wire.fields import JsonObject, json_object
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange

check = Checks()

MARK = "root:"
"""What a file that is outside of every scratch folder holds."""


@check("agent.arguments")
def arguments(exchange: Exchange) -> Iterable[Seen]:
    """Each call has the arguments of the contract, and no other that its tool does not declare."""
    wanted = calls_of(exchange.conversation.script)
    # A call that was not asked for, or under another name, is for other rows.
    for call in (call for call in exchange.answer.calls if call.name in wanted):
        functions = [tool["function"] for tool in exchange.conversation.tools if tool["function"]["name"] == call.name]
        declared = {name for function in functions for name in function["parameters"]["properties"]}
        if seen := _wrong(call.arguments, wanted[call.name], declared):
            yield Seen(f"{call.name} has the arguments {quoted(call.arguments)}: {seen}", exchange.body_place)


def _wrong(came: str, wanted: JsonObject, declared: set[str]) -> str:
    """What is wrong with the arguments that came; "" if nothing is."""
    found = json_object(came)
    if found is None:
        return "they are no JSON object"
    for name, value in wanted.items():
        if name not in found:
            return f"{name} is missing"
        if not same_data(json.dumps(value), json.dumps(found[name])) or type(found[name]) is not type(value):
            return f"{name} should be {quoted(value)}"
    beside = found.keys() - declared
    return f"the tool declares no {', '.join(sorted(beside))}" if beside else ""


@check("agent.scratch-only")
def scratch_only(exchange: Exchange) -> Iterable[Seen]:
    """No result that the service received holds what is outside of the scratch folder."""
    for item in objects_of(received_by(exchange), "history"):
        if item.get("type") == "function_call_output" and MARK in str(item.get("output")):
            seen = f"the service was given a file outside of the scratch folder: {quoted(item.get('output'))}"
            yield Seen(seen, exchange.body_place)
