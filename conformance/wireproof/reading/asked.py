"""Whether an answer of a model does what its prompt asks, and what is right in one that does.

Nothing is known beforehand of a real model's answer but what it was asked for. Once it has done that, its answer can be
judged as that of a script: the text, the calls, the finish are those that were asked for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from wireproof.model.asks import Anything, AskCall, AskCalls, AskCount, Asks, AskSay, Fits
from wireproof.reading.expected import Expected, ExpectedCall, ExpectedFailure
from wireproof.reading.schemas import misfits
from wireproof.wire.fields import json_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.model.scenario import Form
    from wireproof.wire.events import Answer, Choice
    from wireproof.wire.events import ToolCall as Came

COUNTED = re.compile(r"\b1\D{1,3}2\D{1,3}3\D{1,3}4\b")
"""What shows that a model counts, however it separates the numbers and whatever it says before them."""
LENGTH = "length"
LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""The members of a request that limit the tokens of its answer."""


def obeys(asks: Asks, choice: Choice) -> bool:
    """Whether a choice of an answer does what was asked."""
    match asks:
        case AskSay(text=text):
            return not choice.calls and (choice.text or "").strip() == text.strip()
        case AskCalls(calls=calls):
            return _calls(calls, choice)
        case Fits(schema=schema):
            return fits(schema, choice.text or "")
        case AskCount():
            # Cut so soon that it does not show what it counts, it was still cut.
            return choice.finish == LENGTH or COUNTED.search(choice.text or "") is not None
        case Anything():
            return bool(choice.text or choice.calls)
        case _:
            assert_never(asks)


def fits(schema: Mapping[str, object], text: str) -> bool:
    """Whether a text is JSON that fits a schema."""
    value = json_of(text)
    return value is not None and not misfits(schema, value)


def _calls(wanted: tuple[AskCall, ...], choice: Choice) -> bool:
    """Whether exactly these calls came. In any order: a model may begin with either."""
    left = list(choice.calls)
    for want in wanted:
        found = next((call for call in left if _same(want, call)), None)
        if found is None:
            return False
        left.remove(found)
    return not left


def _same(want: AskCall, came: Came) -> bool:
    arguments = json_of(came.arguments)
    if not isinstance(arguments, dict):
        return False
    return want.name in {None, came.name} and want.arguments in (None, arguments)


def wanted(asks: Asks, answer: Answer, form: Form, choices: int) -> tuple[Expected, ...]:
    """The right answers, one for each choice; () if a choice does not do what was asked, or is missing."""
    came = [choice for choice in answer.choices if choice.index < choices]
    if len(came) < choices or not all(obeys(asks, choice) for choice in came):
        return ()
    return tuple(_right(asks, choice, form) for choice in came)


def _right(asks: Asks, choice: Choice, form: Form) -> Expected:
    """The answer as it came, with the finish that it should have."""
    calls = tuple(ExpectedCall(id=call.id, name=call.name, arguments=call.arguments, block="") for call in choice.calls)
    return Expected(
        text=choice.text or "", calls=calls, finish=_finish(asks, form), usage=None, failure=ExpectedFailure.NONE
    )


def _finish(asks: Asks, form: Form) -> str | None:
    match asks:
        case AskSay() | Fits():
            return "stop"
        case AskCalls():
            return form.dialect.spec.call_finish
        case AskCount():
            return LENGTH
        # Whatever it is, it agrees with the answer; that holds of any answer and is judged in all.
        case Anything():
            return None
        case _:
            assert_never(asks)


def limit_of(body: bytes) -> int | None:
    """How many tokens an answer may have, all choices together, by the body of its request; None: any number."""
    asked = json_of(body.decode(errors="replace"))
    if not isinstance(asked, dict):
        return None
    limit = next((asked[name] for name in LIMITS if isinstance(asked.get(name), int)), None)
    choices = asked.get("n")
    return limit if limit is None else max(limit, 0) * (choices if isinstance(choices, int) and choices > 0 else 1)
