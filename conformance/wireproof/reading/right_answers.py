"""The right answers to the turns of a scenario: worked out once for each turn and form, from what the backend plays."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from wireproof.model.answer_terms import answer_terms
from wireproof.model.scenario import Mode
from wireproof.model.target import Backend, Missing
from wireproof.reading.asked import wanted
from wireproof.reading.expected import ExpectedFailure, agent_call, as_data, expected
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Finish, Reflect, Spoken, Think, Usage

if TYPE_CHECKING:
    from wireproof.model.scenario import ConversationScenario, Form, Turn
    from wireproof.reading.exchange import Exchange
    from wireproof.reading.expected import Expected
    from wireproof.wire.events import Choice
    from wireproof_scripts.steps import Parts, Step

_ONLY_TEXT = Spoken | Think | Usage | Reflect | Finish
"""The steps of an answer that is text alone, after which the backend waits for the next turn."""


def right_answers(exchange: Exchange) -> tuple[Expected, ...]:
    """The right answers of an exchange, one for each choice; () where they are not known.

    Those of a script are known before; those of a model once it has done what it was asked.
    """
    scenario, form = exchange.conversation, exchange.form
    if exchange.asks is not None:
        right = wanted(exchange.asks, exchange.answer, form, scenario.choices) if exchange.reading else ()
        # OpenAI's own calls of a tool that the request names end with "stop", others' with "tool_calls".
        return tuple(replace(one, finish=None) for one in right) if scenario.names_tool else right
    answers = _of_backend(exchange)
    if Missing.SPELLING in exchange.target.missing:
        answers = tuple(replace(one, calls=tuple(map(as_data, one.calls))) for one in answers)
    if Missing.TEXT_BESIDE_CALLS in exchange.target.missing and exchange.mode is Mode.WHOLE and exchange.reading:
        return tuple(_of_chat(answer, exchange.choice(choice)) for choice, answer in enumerate(answers))
    return answers


def _of_backend(exchange: Exchange) -> tuple[Expected, ...]:
    """The right answers of an exchange with a script, by what plays it."""
    scenario, form = exchange.conversation, exchange.form
    match exchange.target.backend:
        case Backend.LIVE:
            return ()
        case _ if _goes_on(exchange):
            return answers_to(scenario, exchange.number, form, heeding=False)
        case Backend.CURSOR:
            return tuple(map(_of_cursor, answers_to(scenario, exchange.number, form)))
        case Backend.ENDPOINT if _asks_for_one(exchange):
            answers = enumerate(answers_to(scenario, exchange.number, form))
            return tuple(_of_upstream(answer, exchange.choice(choice)) for choice, answer in answers)
        case backend:
            unseen = backend is Backend.ENDPOINT and _fails_unseen(exchange)
            return answers_to(scenario, exchange.number, replace(form, mode=Mode.STREAM) if unseen else form)


def _fails_unseen(exchange: Exchange) -> bool:
    """Whether it has a whole answer with success to a turn whose failure no stream shows, since its call was complete.

    A gateway that streams from its upstream has not seen the failure, either.
    """
    if exchange.mode is not Mode.WHOLE or not exchange.transcript.ok:
        return False
    streamed = answers_to(exchange.conversation, exchange.number, replace(exchange.form, mode=Mode.STREAM))
    return any(one.failure is ExpectedFailure.AFTER_CALL for one in streamed)


def _goes_on(exchange: Exchange) -> bool:
    """Whether an answer that a stop sequence was to end has all that the backend says.

    The target takes no stop sequences then, which its table of capabilities says; the answer itself is complete.
    """
    if exchange.reading is None or not exchange.terms.stops:
        return False
    played = answers_to(exchange.conversation, exchange.number, exchange.form, heeding=False)
    return all(exchange.choice(index).text == answer.text for index, answer in enumerate(played))


def _asks_for_one(exchange: Exchange) -> bool:
    """Whether it has a whole answer to a request that allows one call at a time."""
    whole = exchange.mode is Mode.WHOLE and exchange.reading is not None
    return whole and exchange.added.get("parallel_tool_calls") is False


def _of_upstream(answer: Expected, came: Choice) -> Expected:
    """The right answer where an upstream may have been asked for one call at a time.

    A gateway that passes `parallel_tool_calls: false` on, and streams from its upstream, gets one call, whatever the
    script has: nothing that it lost. One that keeps it to itself gets them all, and may send them all.
    """
    return replace(answer, calls=answer.calls[: len(came.calls)]) if len(came.calls) == 1 else answer


def _of_chat(answer: Expected, came: Choice) -> Expected:
    """The right answer where a whole one of the upstream has no text beside its calls.

    A gateway that streams from its upstream has the text all the same.
    """
    return replace(answer, text="") if answer.text and answer.calls and came.calls and not came.text else answer


def _of_cursor(answer: Expected) -> Expected:
    """The right answer where Cursor's agent service is the backend.

    It asks for calls as data, and waits for their results: nothing counts the tokens of an answer with calls.
    """
    if not answer.asks:
        return answer
    calls = tuple(replace(call, meant=True) if call.native and call.exact else call for call in answer.calls)
    return replace(answer, calls=calls, usage=None)


@cache
def answers_to(
    scenario: ConversationScenario, number: int, form: Form, *, heeding: bool = True
) -> tuple[Expected, ...]:
    """The right answers to the turn of that number, counted from 0: one for each choice.

    Args:
        scenario: The conversation.
        number: The turn's.
        form: The dialect and mode of the answers.
        heeding: Whether the stop sequences of the request end them.
    """
    turn = scenario.turns[number]
    terms = answer_terms(scenario, turn, form.dialect)
    terms = terms if heeding else replace(terms, stops=())
    choices = range(scenario.choices)
    return tuple(expected(_part(scenario, turn, number, choice), form, terms) for choice in choices)


def says_only_text(scenario: ConversationScenario) -> bool:
    """Whether the backend answers the first turn with text alone, and serves as before afterwards.

    Of a model nothing else is expected.
    """
    if not scenario.script:
        return True
    first = (_part(scenario, scenario.turns[0], 0, choice) for choice in range(scenario.choices))
    return all(isinstance(step, _ONLY_TEXT) for part in first for step in part)


def _part(scenario: ConversationScenario, turn: Turn, number: int, choice: int) -> tuple[Step, ...]:
    """What the backend plays for a choice of a turn."""
    script = LIBRARY[turn.script or scenario.script]
    parts = script.choices[choice] if script.choices else script.parts
    # A turn's own script begins another conversation, so with its first part. No turn goes beyond the last part.
    at = 0 if turn.script else min(number, len(parts) - 1)
    part = parts[at] if scenario.tools else _run_on(parts[at:])
    return part if script.choices else _of_choice(part, choice)


def _run_on(parts: Parts) -> tuple[Step, ...]:
    """The parts that one answer plays where the proxy, not its client, runs what Cursor's agent service asks for."""
    played: list[Step] = []
    for part in parts:
        played += part
        if not any(map(agent_call, part)):
            break
    return tuple(played)


def _of_choice(part: tuple[Step, ...], choice: int) -> tuple[Step, ...]:
    """The steps of one choice, where all choices play the same part.

    Steps that name no choice belong to the first one. If no step names a choice, each choice plays all of them. The
    counts are those of all choices together, so the first choice has them and the others have zero.
    """
    if all(getattr(step, "choice", None) is None for step in part):
        return part
    elsewhere = tuple(Usage(input=0, output=0) for step in part if isinstance(step, Usage) and choice)
    return (*elsewhere, *(step for step in part if (getattr(step, "choice", None) or 0) == choice))
