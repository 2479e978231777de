"""What an endpoint asks of one turn of the backend, calls that it demands, and how it writes the answer. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from wireproof_surfaces.assembly.choice import Rules
from wireproof_surfaces.errors import CHAT_FIELDS, UNKNOWN_MODEL, ApiError
from wireproof_surfaces.events import (
    CallBegan,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    Quiet,
    Ready,
    TurnEvent,
    Working,
    apart,
)
from wireproof_surfaces.surfaces import sse
from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wireproof_surfaces.conversation import Conversation
    from wireproof_surfaces.errors import RequestFields
    from wireproof_surfaces.events import UsageReported
    from wireproof_surfaces.surfaces.chat_dialect import ArgumentsMode, OutputMode, StopPolicy, XmlEscape
    from wireproof_surfaces.surfaces.writer import Writer


class AnswerSettings(Protocol):
    """What decides how requests are answered that do not say it themselves; `wireproof_proxy.settings` describes it."""

    @property
    def backend(self) -> str:
        """The name of what answers, which is also the name of its default model."""

    @property
    def models(self) -> tuple[str, ...]:
        """The names that are served."""

    @property
    def any_model(self) -> bool:
        """Whether any other name is served, too."""

    @property
    def unknown_models(self) -> tuple[str, ...]:
        """Names that are refused even so."""

    @property
    def output_mode(self) -> OutputMode:
        """How chat answers write calls."""

    def arguments_mode(self, output_mode: OutputMode) -> ArgumentsMode:
        """How streams of an output mode send arguments, where the request does not say."""
        return "cumulative" if output_mode == "obsidian-xml" else "incremental"

    @property
    def stop_policy(self) -> StopPolicy:
        """How many calls a stream of chat has."""

    @property
    def responses_stop_policy(self) -> StopPolicy:
        """How many calls a response has."""
        return self.stop_policy

    @property
    def wholes_obey(self) -> bool:
        """Whether the stop policy holds for whole answers, too. Those of the contract of proxies have all calls."""
        return False

    @property
    def tool_block_max(self) -> int:
        """The most calls of a choice; 0: any number."""
        return 0

    @property
    def tool_block_delimiter(self) -> str:
        """What stands between two blocks."""
        return "\n"

    @property
    def suppress_tail_after_tools(self) -> bool:
        """Whether text after calls is dropped."""
        return True

    @property
    def tools_strict(self) -> bool:
        """Whether a call of a tool that was not declared fails a response."""
        return False

    @property
    def xml_escape(self) -> XmlEscape:
        """How values in blocks are escaped."""
        return "xml"


@value(frozen=True, kw_only=True, slots=True)
class AnswerPlan:
    """One answer: the turn to run, the rules for what it may say, and what writes it."""

    id: str
    """The answer's id, which also makes the ids of its calls unlike those of other answers."""
    conversation: Conversation
    rules: Rules
    stream: bool
    """Whether it is streamed."""
    writer: Writer
    """Writes this one answer."""
    dialect: str
    """For the log."""
    demand: Demand | None = None
    """The calls without which the answer fails."""
    choices: int = 1
    await_usage: bool = True
    """Whether the answer reports token counts, and so waits for the backend's."""
    fields: RequestFields = CHAT_FIELDS
    """What an error about the request calls its fields."""
    keep_alive: bytes = sse.KEEP_ALIVE
    """What a silent stream gets."""
    expect: Callable[[UsageReported], object] | None = None
    """Takes the counts of the answer before it begins, from who knows them then; None: its beginning shows none."""
    headers: Mapping[str, str] = field(default_factory=dict)


def backend_model(name: str, settings: AnswerSettings) -> str | None:
    """The model to ask the backend for; None for the backend's own default, which is served under the backend's name.

    Raises:
        ApiError: 404, when the model is not served here.
    """
    if not serves(name, settings):
        raise ApiError(UNKNOWN_MODEL, message=f"The model `{name}` is not served here.", param="model")
    # A name that is not listed is one of a client of some gateway: the backend does not know it.
    return name if name in settings.models and name != settings.backend else None


def serves(name: str, settings: AnswerSettings) -> bool:
    """Whether a model of this name is served."""
    return name in settings.models or (settings.any_model and name not in settings.unknown_models)


def choice_rules(
    settings: AnswerSettings, *, stream: bool, policy: StopPolicy, calls: bool, single: bool = False
) -> Rules:
    """What a choice may say; `single` allows one call at most, whatever the policy.

    A whole answer holds all calls, whatever the policy, and reads the backend's answer to its end, unless the settings
    say that the policy holds for it, too.
    """
    first = (stream or settings.wholes_obey) and policy == "first"
    tails = not settings.suppress_tail_after_tools
    return Rules(
        # Whole answers hold all calls (story 2.9, criterion 18); PROXY_TOOL_BLOCK_MAX caps both forms exactly.
        limit=1 if first or single else settings.tool_block_max or None,
        # A burst whose tail may pass is read to its end, since the tail follows the last call.
        ends_early=stream and (first or not tails),
        calls=calls,
        tails=tails,
        # A whole answer still has its status line to say so (chat.whole.backend-error); a stream with complete calls
        # ends as if all were well (chat.stream.error-after-call).
        errors_win=not stream,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Demand:
    """One of these tools must be called (`tool_choice`): nothing is sent before that, and an answer without it fails.

    Codex cannot be made to call a tool: it always asks its model with "auto". So the model is asked in the developer
    text, and its answer is held until it calls what was demanded. An answer that does not is never passed on.
    """

    names: tuple[str, ...]
    cause: FailureReason = FailureReason.NOT_CALLED
    """Why an answer without such a call fails: it says which field of the request demands it."""


def instructed(conversation: Conversation, demand: Demand | None) -> Conversation:
    """The conversation, with the demand at the end of its developer text."""
    if demand is None:
        return conversation
    which = f"the tool {demand.names[0]}" if len(demand.names) == 1 else f"one of the tools {', '.join(demand.names)}"
    text = f"You must call {which} in this answer. Write nothing else."
    texts = [conversation.developer, text] if conversation.developer else [text]
    return replace(conversation, developer="\n\n".join(texts))


class Holding:
    """Holds an answer back until each of its choices has made a call that was demanded.

    An answer that ends without one fails: `done` is true then, and nothing more passes.
    """

    def __init__(self, demand: Demand, *, choices: int = 1) -> None:
        self._demand = demand
        self._waiting = set(range(choices))
        self._kept: list[TurnEvent] = []
        self.done = False
        """The answer has failed for want of a call."""

    @property
    def holds(self) -> bool:
        """Whether anything is held back."""
        return bool(self._waiting)

    def feed(self, event: TurnEvent) -> list[TurnEvent]:
        """What passes now."""
        if not self._waiting:
            return [event]
        match event:
            # Silences are passed on: comments keep the client waiting (chat.stream.keepalive).
            case Quiet() | Working() | ChoiceFailed():
                return [event]
            case CallBegan() if event.name in self._demand.names:
                self._waiting.discard(event.choice)
            case ChoiceFinished() if event.choice in self._waiting:
                self.done = True
                return [ChoiceFailed(self._demand.cause)]
            case _:
                pass
        self._kept.append(event)
        if self._waiting:
            return []
        kept, self._kept = self._kept, []
        return kept


def hold_for_call(events: Iterator[Ready], demand: Demand | None, *, choices: int = 1) -> Iterator[Ready]:
    """The events, held back until each choice has made a call that was demanded; a failure if one ends without."""
    return events if demand is None else _held(events, Holding(demand, choices=choices))


def _held(events: Iterator[Ready], holding: Holding) -> Iterator[Ready]:
    for event in events:
        for one in apart(event):
            yield from holding.feed(one)
        if holding.done:
            return
