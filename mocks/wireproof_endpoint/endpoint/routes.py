"""What is served, and what answers there. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from time import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from wireproof_endpoint.api import completions, embeddings, logprobs, rules
from wireproof_endpoint.api.limits import limits_of
from wireproof_endpoint.endpoint.requested import json_reply
from wireproof_endpoint.play import Play, WholeReply
from wireproof_surfaces.answers.plan import backend_model
from wireproof_surfaces.api_forms import ServedModels
from wireproof_surfaces.errors import BAD_REQUEST, ApiError
from wireproof_surfaces.surfaces import chat_request, chatgpt_login, chatgpt_service, responses_request
from wireproof_surfaces.surfaces.rules import first_fault

if TYPE_CHECKING:
    from wireproof_endpoint.endpoint.answerer import Answerer
    from wireproof_endpoint.endpoint.requested import EndpointRequest
    from wireproof_surfaces.answers.plan import AnswerPlan
    from wireproof_surfaces.surfaces.responses_request import ResponsesRequest

Handler = Callable[["Answerer", "EndpointRequest", str], WholeReply | Play]
"""Answers a request; the text is what the route's path has in the place of its `*`."""


Payload = Callable[["Answerer", "EndpointRequest", str], Mapping[str, Any]]


def _read(payload: Payload) -> dict[str, Handler]:
    """What is read with GET, or as its head alone."""

    def handler(answerer: Answerer, request: EndpointRequest, name: str) -> WholeReply:
        return json_reply(payload(answerer, request, name))

    return {"GET": handler, "HEAD": handler}


def _give_tokens(answerer: Answerer, request: EndpointRequest, _name: str) -> WholeReply:
    """Tokens for any refresh token, asked for in JSON as Codex does, or in a form as OAuth has it."""
    form = "form" in request.headers.get("content-type", "")
    asked = dict(parse_qsl(request.body.decode(errors="replace"))) if form else request.object()
    refusal = chatgpt_login.refusal(asked)
    if refusal is not None:
        return json_reply(refusal, BAD_REQUEST.status)
    return json_reply(chatgpt_login.tokens(time(), answerer.next_login()))


def _names(answerer: Answerer) -> Collection[str]:
    return dict.fromkeys((*answerer.settings.models, *answerer.asked.names))


def _served(answerer: Answerer) -> ServedModels:
    return ServedModels(names=_names(answerer), created=answerer.created, owner=answerer.settings.backend)


def _model(answerer: Answerer, request: EndpointRequest, name: str) -> Mapping[str, Any]:
    backend_model(name, answerer.settings)
    return request.form.model(_served(answerer), name)


def _chat(
    answerer: Answerer, body: Mapping[str, Any], headers: Mapping[str, str], *, full: bool
) -> chat_request.ChatRequest:
    try:
        parsed = chat_request.parse(body, headers, max_choices=answerer.settings.max_choices, full=full)
    except ApiError as error:
        raise rules.coded(error, body) from error
    first_fault(rules.CHAT, body)
    return parsed


def _completions(answerer: Answerer, request: EndpointRequest, _name: str) -> Play:
    body = request.object()
    parsed = _chat(answerer, body, request.headers, full=True)
    return answerer.play(answerer.chat.plan(parsed, logprobs.of_chat(body)), limits_of(body))


def _complete(answerer: Answerer, request: EndpointRequest, _name: str) -> Play:
    body = request.object()
    chat = completions.as_chat(body)
    plan = answerer.chat.plan(_chat(answerer, chat, {}, full=False))
    echo = chat["messages"][0]["content"] if body.get("echo") is True else ""
    writer = completions.CompletionWriter(plan.writer, stream=plan.stream, echo=echo)
    return answerer.play(replace(plan, writer=writer), limits_of(chat))


def _create(answerer: Answerer, request: EndpointRequest, _name: str) -> Play:
    body = request.object()
    return answerer.play(_responded(answerer, body, _asked(answerer, request, body)), limits_of(body))


def _compact(answerer: Answerer, request: EndpointRequest, _name: str) -> WholeReply:
    body = request.object()
    asked = _asked(answerer, request, body)
    try:
        return json_reply(answerer.responses.compact(asked))
    except ApiError as error:
        raise error if answerer.settings.as_proxies_do else rules.coded(error, body) from error


def _create_there(answerer: Answerer, request: EndpointRequest, _name: str) -> WholeReply | Play:
    body = request.object()
    refusal = chatgpt_service.refusal(body, wants_instructions=answerer.settings.login_instructions)
    if refusal is not None:
        return json_reply({"detail": refusal}, BAD_REQUEST.status)
    plan = _responded(answerer, body, replace(_asked(answerer, request, body), output_at_end=False))
    plan = replace(plan, headers={**plan.headers, **chatgpt_service.HEADERS})
    return answerer.play(plan, replace(limits_of(body), settings=None))


def _asked(answerer: Answerer, request: EndpointRequest, body: Mapping[str, Any]) -> ResponsesRequest:
    try:
        asked = responses_request.parse(body, request.headers, full=True)
    except ApiError as error:
        raise rules.coded(error, body) from error
    first_fault(rules.RESPONSES if answerer.settings.as_proxies_do else rules.RESPONSES_FLAT, body)
    return asked


def _responded(answerer: Answerer, body: Mapping[str, Any], asked: ResponsesRequest) -> AnswerPlan:
    asked = replace(asked, echo={**asked.echo, "top_logprobs": body.get("top_logprobs") or 0})
    try:
        plan = answerer.responses.plan(asked, logprobs.of_response(body))
    except ApiError as error:
        raise error if answerer.settings.as_proxies_do else rules.coded(error, body) from error
    # Only now: a result may be of a call in a stored response.
    rules.check_answered(plan.conversation)
    return plan


def _create_message(answerer: Answerer, request: EndpointRequest, _name: str) -> Play:
    # Not at the head: an endpoint starts with every run of a client's tests, and most ask for chat alone.
    from wireproof_endpoint.endpoint import messages_routes  # noqa: PLC0415

    return messages_routes.create(answerer, request)


def _count_tokens(answerer: Answerer, request: EndpointRequest, _name: str) -> WholeReply:
    from wireproof_endpoint.endpoint import messages_routes  # noqa: PLC0415 - as above

    return messages_routes.count(answerer, request)


def _embed(answerer: Answerer, request: EndpointRequest, _name: str) -> WholeReply:
    body = request.object()
    answer = embeddings.answer(body)
    backend_model(body["model"], answerer.settings)
    answerer.asked.note(body["model"])
    return json_reply(answer)


MODELS = "/v1/models/"
"""Names of models may hold slashes."""

ROUTES: Mapping[str, Mapping[str, Handler]] = {
    "/healthz": _read(lambda *_: {"status": "ok"}),
    "/livez": _read(lambda *_: {"status": "alive"}),
    "/readyz": _read(lambda *_: {"status": "ready"}),
    "/v1/models": _read(lambda answerer, request, _: request.form.models(_served(answerer), request.parameters)),
    "/v1/chat/completions": {"POST": _completions},
    "/v1/completions": {"POST": _complete},
    "/v1/responses": {"POST": _create},
    "/v1/responses/compact": {"POST": _compact},
    chatgpt_service.COMPACT: {"POST": _compact},
    "/v1/messages": {"POST": _create_message},
    "/v1/messages/count_tokens": {"POST": _count_tokens},
    "/v1/embeddings": {"POST": _embed},
    chatgpt_service.PATH: {"POST": _create_there},
    chatgpt_login.PATH: {"POST": _give_tokens},
    **dict.fromkeys(chatgpt_service.USAGE, _read(lambda *_: chatgpt_service.usage(time()))),
    chatgpt_service.MODELS: _read(lambda answerer, *_: chatgpt_service.models(_names(answerer))),
}
"""Path → method → handler."""
PATTERNS: Mapping[tuple[str, str], Mapping[str, Handler]] = {
    (MODELS, ""): _read(_model),
    ("/v1/responses/", "/input_items"): _read(
        lambda answerer, request, name: answerer.responses.input_items(name, request.parameters)
    ),
    ("/v1/responses/", ""): {
        **_read(lambda answerer, _, name: answerer.responses.retrieve(name)),
        "DELETE": lambda answerer, _, name: json_reply(answerer.responses.delete(name)),
    },
}
"""What stands before and after a name in a path → method → handler."""
