"""What a client makes of a conversation: the texts it sends back, their order, and where it ends."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wireproof.judging.client_checks.registry import ClientChecks, Occasion, broken, kept
from wireproof.reading.client_record import ClientExchange, ClientRecord, tail
from wireproof.reading.client_requests import ClientMessage, Speaker
from wireproof.wire.quoting import FEW, apart, quoted, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wireproof.reading.client_answers import AnswerToClient

check = ClientChecks()


@check("client.text-replayed", unseen="no request goes on from an answer that has text")
def text_replayed(record: ClientRecord) -> Iterator[Occasion]:
    """The text of the answer that a request goes on from is there as it came."""
    for exchange in record.asked:
        before = record.continued(exchange)
        if before is None or not before.whole or before.answer is None or not before.answer.text:
            continue
        # Of several choices it is the client's to say which one was the answer; and what was asked behind an answer,
        # without anything that the person said, has none that belongs to the conversation.
        several = before.request is not None and before.request.choices > 1
        if several or before.spoken[-1].speaker is Speaker.ASSISTANT:
            continue
        rest = tail(exchange, before)
        back = next((one for one in rest if one.speaker is Speaker.ASSISTANT), None)
        if back is not None and back.refers:
            continue  # it stands for something that the endpoint keeps and this record does not
        if back is not None and back.text == before.answer.text:
            yield kept(exchange)
        elif back is None and not before.answer.calls:
            seen = f"the assistant said {short(before.answer.text)}, and this request does not have it"
            yield broken(exchange, seen, rest[0].path, kind="lost")
        elif back is not None:
            came, sent = apart(before.answer.text, back.text, FEW)
            yield broken(exchange, f"the assistant said {came}, and it is sent back as {sent}", back.path)


@check("client.order", unseen="no request holds more than one message")
def order(record: ClientRecord) -> Iterator[Occasion]:
    """The messages stand as they were said, what was answered once stands once, and results directly behind calls."""
    for exchange in record.asked:
        if len(exchange.spoken) < 2:  # noqa: PLR2004 - one message is in order
            continue
        wrong = (
            _misplaced(exchange.messages)
            or _disordered(record, exchange)
            or _calls_swapped(record, exchange)
            or _repeated(record, exchange)
        )
        yield broken(exchange, *wrong) if wrong else kept(exchange)


def _misplaced(messages: Sequence[ClientMessage]) -> tuple[str, tuple[str | int, ...] | None] | None:
    """A result that does not stand behind its call, with results and other calls alone between."""
    waiting: set[str] = set()
    called = {call.id for one in messages for call in one.calls}
    for message in messages:
        match message.speaker:
            case Speaker.ASSISTANT if message.calls:
                waiting |= {call.id for call in message.calls}
            case Speaker.RESULT if message.result_of in called - waiting:
                seen = f"the result of {quoted(message.result_of)} does not stand directly behind its call"
                return seen, message.path
            case Speaker.USER | Speaker.ASSISTANT:
                waiting.clear()
            case _:
                pass
    return None


def _disordered(record: ClientRecord, exchange: ClientExchange) -> tuple[str, tuple[str | int, ...] | None] | None:
    """A message that stands in another place among the others than in the request before."""
    here = {one.key: one for one in exchange.spoken}
    for earlier in record.before(exchange):
        there = [one.key for one in earlier.spoken]
        shared = [key for key in there if key in here]
        mine = [one.key for one in exchange.spoken if one.key in set(there)]
        # What is said twice has no place of its own.
        if len(set(shared)) < len(there) or len(set(mine)) < len(mine):
            continue
        moved = next((key for key, other in zip(mine, shared, strict=False) if key != other), None)
        if moved is not None:
            one = here[moved]
            return f"{_shown(one)} stands in another place than in the request before", one.path
    return None


def _calls_swapped(record: ClientRecord, exchange: ClientExchange) -> tuple[str, tuple[str | int, ...] | None] | None:
    """Calls of one answer that are sent back in another order."""
    sent = [(call.id, message) for message in exchange.messages for call in message.calls]
    for one in record.before(exchange):
        made = [call.id for call in one.answer.calls] if one.whole and one.answer else []
        back = [(id_, message) for id_, message in sent if id_ in made]
        wanted = [id_ for id_ in made if id_ in {id_ for id_, _ in back}]
        for (id_, message), right in zip(back, wanted, strict=False):
            if id_ != right:
                return f"the call {quoted(id_)} stands where {quoted(right)} was made", message.path
    return None


def _repeated(record: ClientRecord, exchange: ClientExchange) -> tuple[str, tuple[str | int, ...] | None] | None:
    """What an answer said, and is sent back more often than the request before and the answers since have it."""
    before = record.continued(exchange)
    if before is None:
        return None
    since = [one.answer for one in record.before(exchange) if one.number >= before.number and one.answer]
    answered = Counter(said for answer in since for said in _said(answer))
    had = Counter(said for message in _assistants(before) for said in _said(message))
    seen = Counter[tuple[str, str]]()
    for message in _assistants(exchange):
        for what, text in _said(message):
            seen[what, text] += 1
            # What no answer said is the client's own.
            if answered[what, text] and seen[what, text] > had[what, text] + answered[what, text]:
                return f"the {what} {short(text)} of an answer stands here a second time", message.path
    return None


def _assistants(exchange: ClientExchange) -> Iterator[ClientMessage]:
    return (one for one in exchange.messages if one.speaker is Speaker.ASSISTANT)


def _said(one: AnswerToClient | ClientMessage) -> Iterator[tuple[str, str]]:
    """The text and the calls of an answer, or of what is sent back as one."""
    if one.text:
        yield "text", one.text
    yield from (("call", call.id) for call in one.calls if call.id)


def _shown(message: ClientMessage) -> str:
    what = message.text or ", ".join(call.id for call in message.calls) or message.result_of
    return f"the {message.speaker} message {short(what)}"


@check("client.ends-on-text", unseen="no answer without calls came")
def ends_on_text(record: ClientRecord) -> Iterator[Occasion]:
    """What follows an answer without calls is something that the person said."""
    for exchange in record.asked:
        answer = exchange.answer
        if answer is None or not exchange.whole or answer.calls or answer.finish != "stop":
            continue
        after = next((one for one in record.after(exchange) if _goes_on(record, exchange, one)), None)
        if after is None:
            yield kept(exchange)
        else:
            rest = tail(after, exchange)
            seen = f"the turn had ended with {short(answer.text)}, and it was asked again; nobody had said more"
            yield broken(after, seen, rest[-1].path)


def _goes_on(record: ClientRecord, ended: ClientExchange, after: ClientExchange) -> bool:
    """Whether a request goes on from a turn that has ended, without anything that the person said."""
    rest = tail(after, ended)
    said = [one.text for one in rest if one.speaker is Speaker.USER]
    if not rest:
        return False
    if not record.prompts:
        return not said
    # Where it is known what the person said, nothing else is taken for it.
    return not any(prompt in text for prompt in record.prompts for text in said)
