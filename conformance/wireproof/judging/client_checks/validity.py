"""Whether requests are valid by what the APIs have published, and by the limits that stand beside the types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.client_checks.calls import call_replayed, no_foreign_result, result_for_every_call
from wireproof.judging.client_checks.conversation import order
from wireproof.judging.client_checks.registry import ClientChecks, Occasion, broken, kept
from wireproof.model.dialect import Surface
from wireproof.reading.client_requests import AnswerRequest, Path, form_of
from wireproof.reading.schemas import faults
from wireproof.wire.fields import json_of, list_of, object_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.reading.client_record import ClientExchange, ClientRecord

check = ClientChecks()
_SCHEMAS = {Surface.CHAT: "chat.request", Surface.RESPONSES: "responses.request"}
"""Of Messages no types of requests are published in a form that can be cited; the endpoint's rules stand for them."""
REFUSED = 400


@check("client.request-valid", unseen="the client sent no request for an answer")
def request_valid(record: ClientRecord) -> Iterator[Occasion]:
    """Each request matches the published types and limits, and is not refused for anything else."""
    explained: set[int] | None = None
    for exchange in record.exchanges:
        if form_of(exchange.transcript) is None or not exchange.transcript.url.startswith(record.root):
            continue
        found = _first_fault(exchange)
        if found is not None:
            yield broken(exchange, *found)
            continue
        refusal = _refusal(exchange)
        if refusal and explained is None:
            checks = (result_for_every_call, no_foreign_result, call_replayed, order)
            explained = {one.exchange for look in checks for one in look(record) if one.wrong}
        if refusal and exchange.number not in (explained or ()):
            yield broken(exchange, f"the endpoint refuses it, as the API does: {refusal}", kind=refusal)
        else:
            yield kept(exchange)


def _first_fault(exchange: ClientExchange) -> tuple[str, Path] | None:
    """What is wrong with a request by itself, and where."""
    request = exchange.request
    if request is None:
        what = "no JSON" if json_of(exchange.transcript.request_body) is None else "no JSON object"
        return f"the body of the request is {what}", ()
    if request.surface not in _SCHEMAS:
        return None
    for fault in faults(_SCHEMAS[request.surface], request.body):
        # What is not listed is for others to know: services take fields of their own.
        if not fault.unknown:
            return fault.sentence, fault.at
    return next(_beside_the_types(request), None)


def _beside_the_types(request: AnswerRequest) -> Iterator[tuple[str, Path]]:
    """What the types do not say: members that need others, and strict schemas."""
    body = request.body
    if "stream_options" in body and body["stream_options"] is not None and body.get("stream") is not True:
        yield "/stream_options: it is only allowed where stream is true", ("stream_options",)
    if not request.tools and body.get("tool_choice") not in (None, "none", "auto"):
        yield "/tool_choice: it asks for a call, and no tools are declared", ("tool_choice",)
    for number, one in enumerate(list_of(body.get("tools"))):
        tool = object_of(one)
        function = object_of(tool.get("function")) if request.surface is Surface.CHAT else tool
        if function.get("strict") is True:
            where: Path = ("tools", number, *(("function",) if request.surface is Surface.CHAT else ()), "parameters")
            yield from _open_objects(function.get("parameters"), where)
    for outer, inner in (("response_format", "json_schema"), ("text", "format")):
        form = object_of(object_of(body.get(outer)).get(inner))
        if form.get("strict") is True:
            yield from _open_objects(form.get("schema"), (outer, inner, "schema"))


def _open_objects(schema: object, where: Path) -> Iterator[tuple[str, Path]]:
    """The objects of a strict schema that are not closed, or do not require all that they have."""
    said = object_of(schema)
    properties = object_of(said.get("properties"))
    if said.get("type") == "object" or properties:
        pointer = "".join(f"/{step}" for step in where)
        missing = [name for name in properties if name not in list_of(said.get("required"))]
        if said.get("additionalProperties") is not False:
            yield f"{pointer}: a strict schema has additionalProperties: false in each object", where
        elif missing:
            yield f"{pointer}: a strict schema requires all properties, and {missing[0]} is not required", where
    for name, inner in properties.items():
        yield from _open_objects(inner, (*where, "properties", name))
    if isinstance(said.get("items"), dict):
        yield from _open_objects(said["items"], (*where, "items"))


def _refusal(exchange: ClientExchange) -> str:
    """Why the endpoint refused a request by its own rules; "": it did not, or a script did."""
    if exchange.transcript.status != REFUSED or exchange.transcript.script or exchange.answer is None:
        return ""
    return exchange.answer.error or "400"
