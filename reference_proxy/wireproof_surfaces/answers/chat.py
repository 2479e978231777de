"""The chat endpoint: a validated request as a plan for a turn. Pure but for the time and the id of the answer."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.answers.kept import AskedModels
from wireproof_surfaces.answers.plan import AnswerPlan, Demand, backend_model, choice_rules, instructed
from wireproof_surfaces.conversation import converse, custom_names
from wireproof_surfaces.events import FailureReason
from wireproof_surfaces.random_ids import random_hex
from wireproof_surfaces.surfaces.chat_answer import ChatHead, ChatStream, ChatWhole
from wireproof_surfaces.surfaces.chat_dialect import CallFormat, ChatFormat, echoed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.answers.plan import AnswerSettings
    from wireproof_surfaces.assembly.choice import Rules
    from wireproof_surfaces.surfaces.chat_answer import Logprobs
    from wireproof_surfaces.surfaces.chat_dialect import FormatOptions
    from wireproof_surfaces.surfaces.chat_request import ChatRequest


@dataclass(frozen=True, kw_only=True, slots=True)
class _AnswerForm:
    """What answers have in common that write their calls alike."""

    calls: CallFormat
    rules: Rules
    headers: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Chat:
    """Plans the answers to chat requests."""

    settings: AnswerSettings
    asked: AskedModels = field(default_factory=AskedModels)
    service: Mapping[str, Any] = field(default_factory=dict)
    """Members of every answer in which the service says what it is."""
    _forms: dict[tuple[bool, FormatOptions, bool], _AnswerForm] = field(default_factory=dict, repr=False, compare=False)
    """Made once: of the ways in which requests want their calls written there are a few dozen."""

    def plan(self, request: ChatRequest, logprobs: Logprobs | None = None) -> AnswerPlan:
        """The plan; `logprobs` gives what is reported of tokens, if anything is.

        Raises:
            ApiError: 404, when the model is not served.
        """
        # Before a slot is taken: an unknown model is a 404 however busy the proxy is (http.precedence.*).
        model = backend_model(request.model, self.settings)
        self.asked.note(request.model)
        demand = Demand(names=request.forced, cause=_demanding(request)) if request.forced else None
        conversation = converse(request.items, tools=request.tools, model=model, schema=request.schema)
        conversation = instructed(conversation, demand)
        form, custom = self._form(request), custom_names(request.tools) if request.tools else None
        head = ChatHead(
            # Made once, for every chunk (chat.stream.stable-id, chat.stream.stable-created).
            id=f"chatcmpl-{random_hex(12)}",
            created=int(time.time()),
            model=request.model,
            include_usage=request.include_usage,
            prompt_bytes=conversation.size,
            choices=request.n,
            call_format=replace(form.calls, custom=custom) if custom else form.calls,
            service=self.service,
            logprobs=logprobs,
        )
        return AnswerPlan(
            id=head.id,
            conversation=conversation,
            rules=form.rules if request.calls else replace(form.rules, calls=False),
            stream=request.stream,
            writer=ChatStream(head) if request.stream else ChatWhole(head),
            dialect=form.calls.dialect,
            demand=demand,
            choices=request.n,
            # A stream that shows no usage ends without waiting for it.
            await_usage=request.include_usage or not request.stream,
            headers=form.headers,
        )

    def _form(self, request: ChatRequest) -> _AnswerForm:
        """How the answer is written."""
        key = request.legacy, request.options, request.stream
        found = self._forms.get(key)
        if found is None:
            calls = self._call_format(request)
            # `function_call` is one member of a message, not a list.
            single = calls.dialect is ChatFormat.FUNCTION_CALL
            rules = choice_rules(self.settings, stream=request.stream, policy=calls.policy, calls=True, single=single)
            found = self._forms[key] = _AnswerForm(calls=calls, rules=rules, headers=echoed(calls))
        return found

    def _call_format(self, request: ChatRequest) -> CallFormat:
        """How the answer writes its calls: as the request says, else as the settings do."""
        settings, options = self.settings, request.options
        # The request decides: `functions` without `tools` is answered by `function_call`.
        mode = "openai-json" if request.legacy else options.output_mode or settings.output_mode
        return CallFormat(
            dialect=ChatFormat.FUNCTION_CALL if request.legacy else ChatFormat(mode),
            arguments=options.arguments or settings.arguments_mode(mode),
            policy=options.stop_policy or settings.stop_policy,
            delimiter=settings.tool_block_delimiter,
            escape=settings.xml_escape == "xml",
        )


def _demanding(request: ChatRequest) -> FailureReason:
    """Why an answer without the demanded call fails."""
    return FailureReason.FUNCTION_NOT_CALLED if request.legacy else FailureReason.NOT_CALLED
