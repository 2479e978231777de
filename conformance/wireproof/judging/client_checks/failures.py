"""What a client makes of answers that are none: those that broke off, errors, and calls with half their arguments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wireproof.judging.client_checks.registry import ClientChecks, Occasion, broken, kept
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Form, Mode
from wireproof.reading.client_answers import AnswerState
from wireproof.reading.client_requests import ClientMessage, Speaker
from wireproof.wire.fields import json_of
from wireproof.wire.quoting import quoted, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.reading.client_record import ClientExchange, ClientRecord
    from wireproof.wire.events import ToolCall

check = ClientChecks()
_FAILED = re.compile(
    r"error|invalid|fail|malformed|unable|cannot|can't|could not|couldn't|not (?:be )?(?:valid|parse|run)|incomplete"
    r"|unexpected|unterminated|unknown|reject|required|missing|exception",
    re.IGNORECASE,
)
"""Words by which a result says that its tool did not run."""


@check("client.cut-is-no-answer", unseen="no answer was cut where a later request could show what was made of it")
def cut_is_no_answer(record: ClientRecord) -> Iterator[Occasion]:
    """Nothing of an answer that broke off is sent back."""
    yield from _no_answers(record, AnswerState.CUT, "the answer broke off")


@check("client.error-is-no-answer", unseen="no error came where a later request could show what was made of it")
def error_is_no_answer(record: ClientRecord) -> Iterator[Occasion]:
    """Nothing of an answer that is an error is sent back, nor its message."""
    yield from _no_answers(record, AnswerState.ERROR, "the answer is an error")


def _no_answers(record: ClientRecord, state: AnswerState, what: str) -> Iterator[Occasion]:
    for exchange in record.asked:
        if exchange.answer is None or exchange.answer.state is not state:
            continue
        found = next(filter(None, (_kept_in(record, exchange, one, what) for one in record.after(exchange))), None)
        if found is not None:
            yield found
        elif _could_show(record, exchange):
            yield kept(exchange)


def _could_show(record: ClientRecord, exchange: ClientExchange) -> bool:
    """Whether a client that took it for an answer would have sent more: a result, or the next thing that was said."""
    calls = exchange.answer.calls if exchange.answer else ()
    asked = {one.text for one in exchange.spoken if one.speaker is Speaker.USER}
    later = (message for one in record.after(exchange) for message in one.spoken)
    more = any(one.speaker is Speaker.USER and one.text not in asked for one in later)
    return more or any(not is_incomplete(exchange, call) for call in calls)


def _kept_in(record: ClientRecord, bad: ClientExchange, later: ClientExchange, what: str) -> Occasion | None:
    """Something in a later request of an answer that is none."""
    if bad.answer is None:
        return None
    # The same call may come again in an answer that is whole, and the same text.
    good = record.called(later)
    texts = {one.answer.text.strip() for one in record.before(later) if one.whole and one.answer}
    for message in later.messages:
        ids = {call.id for call in message.calls} | {message.result_of}
        for call in bad.answer.calls:
            # What ran although its arguments are not whole is a matter of its own.
            ran = is_incomplete(bad, call) and _success(record, later, call) is not None
            if call.id and call.id in ids and call.id not in good and not ran:
                seen = f"{what}, and its call {quoted(call.id)} of {quoted(call.name)} was kept"
                return broken(later, seen, message.path, kind="call")
        said = message.text.strip()
        if message.speaker is Speaker.ASSISTANT and not message.calls and said not in texts:
            parts = (bad.answer.text.strip(), bad.answer.error.strip())
            if any(part and part in said for part in parts):
                return broken(later, f"{what}, and is kept as {short(message.text)}", message.path, kind="text")
    return None


def _without_texts_of_arguments(form: Form) -> str:
    there = (form.dialect, form.mode) == (Dialect.MESSAGES, Mode.WHOLE)
    return "in a whole answer of Messages the input of a call is an object, so none is half" if there else ""


@check(
    "client.incomplete-call-not-run", unseen="no call with half its arguments came", absent=_without_texts_of_arguments
)
def incomplete_call_not_run(record: ClientRecord) -> Iterator[Occasion]:
    """A call whose arguments are no JSON has no result, or one that says so."""
    for exchange in record.asked:
        for call in exchange.answer.calls if exchange.answer else ():
            if not is_incomplete(exchange, call):
                continue
            ran = ((one, _success(record, one, call)) for one in record.after(exchange))
            later, result = next((pair for pair in ran if pair[1] is not None), (exchange, None))
            if result is None:
                yield kept(exchange)
                continue
            seen = (
                f"the arguments of {quoted(call.id)} are {short(call.arguments)}, which is no whole JSON, and"
                f" its tool gave {short(result.text)}"
            )
            yield broken(later, seen, result.path)


def is_incomplete(exchange: ClientExchange, call: ToolCall) -> bool:
    """Whether the arguments of a call are not whole: no JSON, or nothing yet in an answer that broke off."""
    if not call.arguments.strip():
        return not exchange.whole  # nothing at all is how some models call a tool without parameters
    return json_of(call.arguments) is None


def _success(record: ClientRecord, later: ClientExchange, call: ToolCall) -> ClientMessage | None:
    """The result in a later request of a call that had half its arguments, if it says of no failure."""
    again = record.called(later).get(call.id)
    if again is not None and not is_incomplete(*again):
        return None  # the call came again, and whole
    results = (one for one in later.messages if one.speaker is Speaker.RESULT and one.result_of == call.id)
    return next((one for one in results if not one.failed and not _FAILED.search(one.text)), None)
