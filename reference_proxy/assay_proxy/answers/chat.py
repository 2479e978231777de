"""The chat endpoint: a validated request as an order for a turn, and the headers that say how it is answered."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay_proxy.answers.answering import Answering, Order, backend_model, choice_rules
from assay_proxy.conversation import converse
from assay_proxy.surfaces import chat_stream, chat_whole
from assay_proxy.surfaces.chat_dialect import Dialect, Telling
from assay_proxy.surfaces.proxy_headers import ARGUMENTS_HEADER, OUTPUT_MODE_HEADER, STOP_HEADER

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Response

    from assay_proxy.backends.backend import Backend
    from assay_proxy.http.capacity import Gate
    from assay_proxy.settings import Settings
    from assay_proxy.surfaces.chat_request import ChatRequest


@dataclass(frozen=True, kw_only=True, slots=True)
class Chat:
    """Answers chat requests with turns of `backend`; `clock` gives seconds that never go back."""

    settings: Settings
    backend: Backend
    gate: Gate
    clock: Callable[[], float] = time.monotonic

    def answer(self, request: ChatRequest, *, gone: Callable[[], bool], keep_open: bool) -> Response:
        """The response; `keep_open` says that the connection's protocol knows `Connection: keep-alive`.

        Raises:
            ApiError: whatever goes wrong before the status line is sent.
            ClientGoneError: when there is nobody to answer any more.
        """
        answering = Answering(settings=self.settings, backend=self.backend, gate=self.gate, clock=self.clock)
        return answering.answer(self._order(request), gone=gone, keep_open=keep_open)

    def _order(self, request: ChatRequest) -> Order:
        model = backend_model(request.model, self.settings)
        conversation = converse(request.items, tools=request.tools, model=model, schema=request.schema)
        telling = self._telling(request)
        head = chat_stream.Head(
            id=f"chatcmpl-{secrets.token_hex(12)}",
            created=int(time.time()),
            model=request.model,
            include_usage=request.include_usage,
            prompt_bytes=conversation.size,
            choices=request.n,
            telling=telling,
        )
        return Order(
            id=head.id,
            conversation=conversation,
            rules=choice_rules(
                self.settings,
                stream=request.stream,
                policy=telling.policy,
                calls=request.calls,
                single=telling.dialect is Dialect.FUNCTION_CALL,
            ),
            stream=request.stream,
            whole=lambda said: chat_whole.collect(said, head),
            pieces=lambda said: chat_stream.write(said, head),
            dialect=telling.dialect,
            choices=request.n,
            await_usage=request.include_usage or not request.stream,
            headers={
                OUTPUT_MODE_HEADER: telling.output_mode,
                ARGUMENTS_HEADER: telling.arguments,
                STOP_HEADER: telling.policy,
            },
        )

    def _telling(self, request: ChatRequest) -> Telling:
        """How the answer tells its calls: as the request says, else as the settings do."""
        settings = self.settings
        mode = "openai-json" if request.legacy else request.output_mode or settings.output_mode
        return Telling(
            dialect=Dialect.FUNCTION_CALL if request.legacy else Dialect(mode),
            arguments=request.arguments or settings.arguments_mode(mode),
            policy=request.stop_policy or settings.stop_policy,
            delimiter=settings.tool_block_delimiter,
            escape=settings.xml_escape == "xml",
        )
