"""What is served, and what answers there. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from time import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from wireproof_endpoint.api import completions, embeddings, logprobs, rules
from wireproof_endpoint.api.limits import limits_of
from wireproof_endpoint.endpoint.replies import body_of, json_reply
from wireproof_endpoint.play import Play, WholeReply
from wireproof_surfaces.answers.plan import serves
from wireproof_surfaces.api_forms import ServedModels
from wireproof_surfaces.errors import BAD_REQUEST, UNKNOWN_MODEL, ApiError
from wireproof_surfaces.surfaces import chat_request, chatgpt_login, chatgpt_service, responses_request
from wireproof_surfaces.surfaces.rules import first_fault, refuse

if TYPE_CHECKING:
    from wireproof_endpoint.endpoint.answerer import Answerer
    from wireproof_endpoint.endpoint.requested import EndpointRequest
    from wireproof_surfaces.answers.plan import AnswerPlan
    from wireproof_surfaces.surfaces.responses_request import ResponsesRequest

Handler = Callable[["Answerer", "EndpointRequest", str], WholeReply | Play]
"""Answers a request; the text is what the route's path has in the place of its `*`."""


def _healthy(_answerer: Answerer, _request: EndpointRequest, _name: str) -> WholeReply:
    return json_reply({"status": "ok"})


def _alive(_answerer: Answerer, _request: EndpointRequest, _name: str) -> WholeReply:
    return json_reply({"status": "alive"})


def _ready(_answerer: Answerer, _request: EndpointRequest, _name: str) -> WholeReply:
    return json_reply({"status": "ready"})


def _list_models(answerer: Answerer, request: EndpointRequest, _name: str) -> WholeReply:
    return json_reply(request.form.models(_served(answerer), dict(parse_qsl(request.query))))


def _list_models_there(answerer: Answerer, _request: EndpointRequest, _name: str) -> WholeReply:
    return json_reply(chatgpt_service.models(_names(answerer)))


def _say_usage(_answerer: Answerer, _request: EndpointRequest, _name: str) -> WholeReply:
    return json_reply(chatgpt_service.usage(time()))


def _give_tokens(answerer: Answerer, request: EndpointRequest, _name: str) -> WholeReply:
    """Tokens for any refresh token, asked for in JSON as Codex does, or in a form as OAuth has it."""
    asked = _form_of(request) if "form" in request.headers.get("content-type", "") else body_of(request)
    refusal = chatgpt_login.refusal(asked)
    if refusal is not None:
        return json_reply(refusal, BAD_REQUEST.status)
    return json_reply(chatgpt_login.tokens(time(), answerer.next_login()))


def _form_of(request: EndpointRequest) -> Mapping[str, str]:
    return dict(parse_qsl(request.body.decode(errors="replace")))


def _names(answerer: Answerer) -> Collection[str]:
    return dict.fromkeys((*answerer.settings.models, *answerer.asked.names))


def _served(answerer: Answerer) -> ServedModels:
    return ServedModels(names=_names(answerer), created=answerer.created, owner=answerer.settings.backend)


def _get_model(answerer: Answerer, request: EndpointRequest, name: str) -> WholeReply:
    if not serves(name, answerer.settings):
        raise ApiError(UNKNOWN_MODEL, message=f"The model `{name}` is not served here.", param="model")
    return json_reply(request.form.model(_served(answerer), name))


def _completions(answerer: Answerer, request: EndpointRequest, _name: str) -> Play:
    body, most = body_of(request), answerer.settings.max_choices
    try:
        parsed = chat_request.parse(body, request.headers, max_choices=most, full=True)
    except ApiError as error:
        raise rules.coded(error, body) from error
    first_fault(rules.CHAT, body)
    return answerer.play(answerer.chat.plan(parsed, logprobs.of_chat(body)), limits_of(body))


def _complete(answerer: Answerer, request: EndpointRequest, _name: str) -> Play:
    body = body_of(request)
    chat = completions.as_chat(body)
    try:
        parsed = chat_request.parse(chat, {}, max_choices=answerer.settings.max_choices)
    except ApiError as error:
        raise rules.coded(error, chat) from error
    first_fault(rules.CHAT, chat)
    plan = answerer.chat.plan(parsed)
    echo = chat["messages"][0]["content"] if body.get("echo") is True else ""
    writer = completions.CompletionWriter(plan.writer, stream=plan.stream, echo=echo)
    return answerer.play(replace(plan, writer=writer), limits_of(chat))


def _create(answerer: Answerer, request: EndpointRequest, _name: str) -> Play:
    body = body_of(request)
    return answerer.play(_responded(answerer, body, _asked(request, body)), limits_of(body))


def _compact(answerer: Answerer, request: EndpointRequest, _name: str) -> WholeReply:
    body = body_of(request)
    asked = _asked(request, body)
    first_fault(rules.RESPONSES if answerer.settings.as_proxies_do else rules.RESPONSES_FLAT, body)
    try:
        return json_reply(answerer.responses.compact(asked))
    except ApiError as error:
        raise error if answerer.settings.as_proxies_do else rules.coded(error, body) from error


def _create_there(answerer: Answerer, request: EndpointRequest, _name: str) -> WholeReply | Play:
    body = body_of(request)
    refusal = chatgpt_service.refusal(body, wants_instructions=answerer.settings.login_instructions)
    if refusal is not None:
        return json_reply({"detail": refusal}, BAD_REQUEST.status)
    plan = _responded(answerer, body, replace(_asked(request, body), output_at_end=False))
    plan = replace(plan, headers={**plan.headers, **chatgpt_service.HEADERS})
    return answerer.play(plan, replace(limits_of(body), settings=None))


def _asked(request: EndpointRequest, body: Mapping[str, Any]) -> ResponsesRequest:
    try:
        return responses_request.parse(body, request.headers, full=True)
    except ApiError as error:
        raise rules.coded(error, body) from error


def _responded(answerer: Answerer, body: Mapping[str, Any], asked: ResponsesRequest) -> AnswerPlan:
    first_fault(rules.RESPONSES if answerer.settings.as_proxies_do else rules.RESPONSES_FLAT, body)
    asked = replace(asked, echo={**asked.echo, "top_logprobs": body.get("top_logprobs") or 0})
    try:
        plan = answerer.responses.plan(asked, logprobs.of_response(body))
    except ApiError as error:
        raise error if answerer.settings.as_proxies_do else rules.coded(error, body) from error
    # Only now: a result may be of a call in a stored response.
    refuse(rules.unanswered(plan.conversation))
    return plan


def _create_message(answerer: Answerer, request: EndpointRequest, _name: str) -> Play:
    # Not at the head: an endpoint starts with every run of a client's tests, and most ask for chat alone.
    from wireproof_endpoint.endpoint import messages_routes  # noqa: PLC0415

    return messages_routes.create(answerer, request)


def _count_tokens(answerer: Answerer, request: EndpointRequest, _name: str) -> WholeReply:
    from wireproof_endpoint.endpoint import messages_routes  # noqa: PLC0415 - as above

    return messages_routes.count(answerer, request)


def _embed(answerer: Answerer, request: EndpointRequest, _name: str) -> WholeReply:
    body = body_of(request)
    answer = embeddings.answer(body)
    if not serves(body["model"], answerer.settings):
        raise ApiError(UNKNOWN_MODEL, message=f"The model `{body['model']}` is not served here.", param="model")
    answerer.asked.note(body["model"])
    return json_reply(answer)


def _retrieve(answerer: Answerer, _request: EndpointRequest, name: str) -> WholeReply:
    return json_reply(answerer.responses.retrieve(name))


def _delete(answerer: Answerer, _request: EndpointRequest, name: str) -> WholeReply:
    return json_reply(answerer.responses.delete(name))


def _input_items(answerer: Answerer, request: EndpointRequest, name: str) -> WholeReply:
    return json_reply(answerer.responses.input_items(name, dict(parse_qsl(request.query))))


MODELS = "/v1/models/"
"""Names of models may hold slashes."""

ROUTES: Mapping[str, Mapping[str, Handler]] = {
    "/healthz": {"GET": _healthy, "HEAD": _healthy},
    "/livez": {"GET": _alive, "HEAD": _alive},
    "/readyz": {"GET": _ready, "HEAD": _ready},
    "/v1/models": {"GET": _list_models, "HEAD": _list_models},
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
    **{path: {"GET": _say_usage, "HEAD": _say_usage} for path in chatgpt_service.USAGE},
    chatgpt_service.MODELS: {"GET": _list_models_there, "HEAD": _list_models_there},
}
"""Path → method → handler."""
PATTERNS: Mapping[tuple[str, str], Mapping[str, Handler]] = {
    (MODELS, ""): {"GET": _get_model, "HEAD": _get_model},
    ("/v1/responses/", "/input_items"): {"GET": _input_items, "HEAD": _input_items},
    ("/v1/responses/", ""): {
        "GET": _retrieve,
        "HEAD": _retrieve,
        "DELETE": _delete,
    },
}
"""What stands before and after a name in a path → method → handler."""
