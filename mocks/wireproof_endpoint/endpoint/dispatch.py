"""Requests in, answers out: routes, keys, quotas, and the headers of every response. No I/O.

A request goes through `admit` before its body is read (route, key, size), then through `answer`.
"""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from wireproof_endpoint.endpoint.answerer import Answerer
from wireproof_endpoint.endpoint.routes import MODELS, PATTERNS, ROUTES
from wireproof_endpoint.journal.ring import Journal
from wireproof_endpoint.journal.why import Considered
from wireproof_endpoint.play import WholeReply
from wireproof_endpoint.service.quota import PATHS, Quota, room_of
from wireproof_surfaces.errors import FOREIGN, TOO_LARGE, UNKNOWN_URL, WRONG_KEY, WRONG_METHOD, ApiError
from wireproof_surfaces.http.cors import Cors
from wireproof_surfaces.surfaces import chatgpt_login, chatgpt_service

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_endpoint.endpoint.answerer import Scripts
    from wireproof_endpoint.endpoint.requested import EndpointRequest
    from wireproof_endpoint.endpoint.routes import Handler
    from wireproof_endpoint.play import PlayedAnswer
    from wireproof_endpoint.settings import EndpointSettings


class Endpoint:
    """Answers requests by the scripts that `scripts` gives.

    `created`: the time of its start, in epoch seconds. `strict`: whether a request that no script matches is refused;
    else the default answers. `journal`: where requests are noted; None: as the settings say.

    One thread at a time may use it and its plays.
    """

    def __init__(
        self,
        settings: EndpointSettings,
        scripts: Scripts,
        *,
        created: int,
        strict: Callable[[], bool] = lambda: False,
        journal: Journal | None = None,
    ) -> None:
        self.settings = settings
        self.answerer = Answerer(settings, scripts, created=created, strict=strict)
        """What plays scripts, and knows which answers are under way."""
        self._cors = Cors(settings.cors_origins)
        limited = settings.rpm is not None or settings.tpm is not None
        self._quota = Quota(requests=settings.rpm, tokens=settings.tpm, clock=monotonic) if limited else None
        self.journal = journal or Journal(settings.journal)

    def require_key(self, key: str) -> None:
        """Let in whoever has this key alone, from now on."""
        self.settings = replace(self.settings, api_key=key)

    # Before the body is read

    def admit_page(self, request: EndpointRequest) -> WholeReply | None:
        """The refusal of a page whose origin is not let in: no browser asks before it opens a WebSocket."""
        if self._cors.admits(request.headers.get("origin")):
            return None
        return request.refused(ApiError(FOREIGN))

    def admit(self, request: EndpointRequest, length: int | None) -> WholeReply | None:
        """The refusal of a request by its head, or the answer to a preflight; None: go on. `length`: of its body."""
        try:
            return self._preflight(request, length)
        except ApiError as error:
            return request.refused(error)

    def _preflight(self, request: EndpointRequest, length: int | None) -> WholeReply | None:
        # The order is http.precedence.*: route, key, body.
        handlers, name = self._handlers(request.path)
        if request.method == "OPTIONS":
            return WholeReply(status=204, headers=self._cors.preflight(request.headers), body=b"")
        if request.method not in handlers:
            if name and request.method == "POST":
                # As /v1/responses/ID/cancel: a route of OpenAI's that is not served, not a response of that name.
                raise ApiError(UNKNOWN_URL, message=f"There is nothing at {request.path}.")
            raise ApiError(WRONG_METHOD, headers={"Allow": ", ".join(sorted({*handlers, "OPTIONS"}))})
        if request.path.startswith("/v1/"):
            request.form.check_key(self.settings.api_key, request.headers)
        elif chatgpt_service.is_path(request.path):
            self._authenticate_login(request.headers.get("authorization", ""))
        if length is not None and length > self.settings.max_body:
            raise self.too_large()
        return None

    def too_large(self) -> ApiError:
        """The error for a body beyond the limit."""
        return ApiError(TOO_LARGE, message=f"The request body is larger than {self.settings.max_body} bytes.")

    def _handlers(self, path: str) -> tuple[Mapping[str, Handler], str]:
        """What answers at this path, by method, and what stands for the `*` of its route.

        Raises:
            ApiError: 404, when nothing is served there.
        """
        found = ROUTES.get(path)
        served = self.settings.chatgpt_service or not (chatgpt_service.is_path(path) or path == chatgpt_login.PATH)
        if found is not None and served:
            return found, ""
        for (before, after), handlers in PATTERNS.items():
            inner = path[len(before) : len(path) - len(after)]
            if path.startswith(before) and path.endswith(after) and inner and ("/" not in inner or before == MODELS):
                return handlers, inner
        raise ApiError(UNKNOWN_URL, message=f"There is nothing at {path}.")

    def _authenticate_login(self, header: str) -> None:
        """Take any token: what a login gives is between the client and its own service, and is no key of ours."""
        scheme, _, token = header.partition(" ")
        if self.settings.api_key is not None and not (scheme.lower() == "bearer" and token.strip()):
            raise ApiError(WRONG_KEY, headers={"WWW-Authenticate": "Bearer"})

    # The answer

    def answer(self, request: EndpointRequest) -> WholeReply | PlayedAnswer:
        """The response to an admitted request: whole, or an answer to be played."""
        self.answerer.take(request)
        try:
            self._count(request)
            handlers, name = self._handlers(request.path)
            return handlers[request.method](self.answerer, request, name)
        except ApiError as error:
            return request.refused(error)

    def _count(self, request: EndpointRequest) -> None:
        """Take a request off the quota of its key.

        Raises:
            ApiError: 429.
        """
        if self._quota is not None and request.method == "POST" and request.path in PATHS:
            try:
                size, room = len(request.body), room_of(request.body)
                request.limits = self._quota.take(request.headers, size, room, request.form)
            except ApiError as error:
                request.entry.instead("quota", (Considered(script="quota", answers=True, why=error.problem.message),))
                raise

    def dressed(self, headers: Mapping[str, str], request: EndpointRequest) -> dict[str, str]:
        """The headers of a response with those that every response has."""
        return {**headers, **request.limits, **self._cors.allow(request.headers), **request.form.named(request.id)}
