"""Checks of how streamed chat answers end: finish, usage, [DONE], failures, silence, a client that disconnects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.checks.chat_whole import runs_all_the_same
from wireproof.judging.checks.places import counts, first_place, frame_place, place_of, right_ends
from wireproof.judging.registry import Checks, NotShownError, Seen
from wireproof.model.scenario import OPENS_AT
from wireproof.model.transcript import End
from wireproof.reading.expected import ExpectedFailure
from wireproof.reading.schemas import errors as schema_errors
from wireproof.wire.events import Failed, Finished, TokenUsage
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.fields import json_object, list_of, object_of, usage_of
from wireproof.wire.grammar import USAGE
from wireproof.wire.quoting import quoted
from wireproof.wire.stream import LOST
from wireproof.wire.violation import MemberFault, Members

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange

check = Checks()


ERROR_FRAMES = {ExpectedFailure.AFTER_TEXT, ExpectedFailure.IN_CALL, ExpectedFailure.SILENT}
"""Failures that an error frame may report; the connection may break off after it."""


@check("chat.stream.finish-reason")
def finish_reason(exchange: Exchange) -> Iterable[Seen]:
    """The finish reason is the backend's, and any call beats it."""
    for wanted, choice in exchange.choices():
        # A finish that is missing is for the grammar (chat.stream.finish-once).
        if wanted.finish is not None and choice.finish not in right_ends(wanted, choice) | {None}:
            seen = f"finish_reason is {quoted(choice.finish)}, it should be {quoted(wanted.finish)}"
            place = first_place(exchange, Finished, lambda one: one.choice == choice.index)  # noqa: B023
            yield Seen(seen, place, strict_only=runs_all_the_same(choice))


@check("chat.stream.usage")
def usage(exchange: Exchange) -> Iterable[Seen]:
    """A usage chunk on request only, with the backend's counts, those of all choices together."""
    got, place = exchange.answer.usage, place_of(exchange, TokenUsage)
    payloads = (payload for _, payload in exchange.read.payloads)
    times = sum(bool(one.get("choices")) and usage_of(one.get("usage"), 0) is not None for one in payloads)
    if times > 1:
        seen = f"{times} chunks have counts beside their choices; clients that add up what chunks count get too many"
        yield Seen(seen, place, spoils=UNTOUCHED, part=Facet.USAGE)
    elif not exchange.conversation.usage:
        if got is not None:
            # Beside choices no client looks at it; in a chunk without any, some raise.
            beside = any(v.requirement == USAGE and v.strict_only for v in exchange.read.violations)
            seen = "a usage chunk came that was not asked for"
            yield Seen(seen, place, strict_only=beside, spoils=UNTOUCHED, part=Facet.USAGE)
    # The answer broke off before its usage was due, which comes after the finish.
    elif exchange.choice().finish is None:
        return
    elif got is None:
        about = Members(fault=MemberFault.MISSING, names=("usage chunk",))
        seen = "stream_options.include_usage was set and no usage chunk came"
        yield Seen(seen, spoils=UNTOUCHED, part=Facet.USAGE, about=about)
    elif (want := counts(exchange)) is not None and (got.prompt, got.completion, got.total) != want:
        seen = f"usage is {got.prompt} + {got.completion} = {got.total}, the backend reported {want[0]} + {want[1]}"
        yield Seen(seen, place, spoils=UNTOUCHED, part=Facet.USAGE, counts=True)


@check("chat.stream.done-last")
def done_last(exchange: Exchange) -> Iterable[Seen]:
    """The body ends right after [DONE]."""
    if exchange.transcript.end is End.CUT and failure_of(exchange) in ERROR_FRAMES:
        return ()
    return not_ended(exchange, "[DONE] came and the body stayed open; JavaScript clients wait for its end")


def not_ended(exchange: Exchange, stays_open: str) -> Iterable[Seen]:
    """What keeps a body from ending right after its last event; `stays_open` says it where that has come."""
    match exchange.transcript.end:
        case End.OPEN:
            yield Seen(stays_open, kind="open", spoils=UNTOUCHED)
        case End.CUT:
            yield Seen("the connection broke before the body was complete", kind="cut", spoils=LOST)
        case End.TIMEOUT:
            seen = f"the stream went silent for {exchange.target.silence:g} s without its end"
            yield Seen(seen, kind="silent", spoils=LOST)
        case End.ENDLESS:
            yield Seen(f"the stream did not end: {exchange.transcript.over}", kind="endless", spoils=LOST)
        case _:
            pass


@check("chat.stream.error-before-output", "messages.stream.error-before-output")
def error_before_output(exchange: Exchange) -> Iterable[Seen]:
    """A failure before any output has a real HTTP status."""
    if failure_of(exchange) is ExpectedFailure.BEFORE_OUTPUT and exchange.transcript.ok:
        seen = f"the backend failed before any output, and the stream began with HTTP {exchange.transcript.status}"
        # Also where a frame says so, which clients raise: they try again by the status, which has said success.
        yield Seen(seen, exchange.body_place)
    # How long a proxy holds its status back is its own affair, so a frame is as good as an HTTP error here.
    elif failure_of(exchange) is ExpectedFailure.SILENT and exchange.transcript.ok and exchange.answer.error is None:
        seen = "the backend stayed silent, and the stream ended without an error"
        yield Seen(seen, exchange.body_place)


@check("chat.stream.error-after-text")
def error_after_text(exchange: Exchange) -> Iterable[Seen]:
    """A failure in mid-text is reported by an error envelope in a frame. What may follow it is for the grammar."""
    if failure_of(exchange) is not ExpectedFailure.AFTER_TEXT:
        return
    if exchange.answer.error is None:
        seen = (
            "the backend failed in mid-text, and the stream does not report it: the client takes half an answer for all"
        )
        yield Seen(seen, exchange.body_place)
    reading = exchange.read
    for frame, payload in reading.payloads:
        # Not only `message`, which the grammar asks for: the envelope is that of HTTP errors, with all four members.
        wrong = schema_errors("error", payload) if payload.get("error") is not None else []
        if wrong:
            seen = f"the error frame is no envelope: {wrong[0]}"
            # Users see the message in every client, whatever is missing beside it.
            shown = exchange.answer.error is not None and exchange.answer.error.message != ""
            yield Seen(seen, frame_place(reading, frame.number), strict_only=shown)
            return


@check("chat.stream.error-after-call")
def error_after_call(exchange: Exchange) -> Iterable[Seen]:
    """A failure after a complete call is not reported, since the call can be run; one inside a call is."""
    # Where no call was sent there is none to throw away: that it is missing is for others, and an error is due then.
    answer = exchange.answer
    if failure_of(exchange) is ExpectedFailure.AFTER_CALL and answer.error is not None and answer.calls:
        seen = "the call was complete, yet an error frame came: clients throw the call away"
        yield Seen(seen, place_of(exchange, Failed))
    if failure_of(exchange) is ExpectedFailure.IN_CALL and answer.error is None:
        seen = "the backend failed inside a call, and the stream does not report it: the client runs half of a call"
        yield Seen(seen, exchange.body_place)


@check("chat.stream.keepalive", "responses.stream.keepalive", "messages.stream.keepalive")
def keepalive(exchange: Exchange) -> Iterable[Seen]:
    """While the backend is silent, comments come before its text. Keep-alives of another kind are for the grammar."""
    # A keep-alive that is no comment is one fault; that no comment came follows from it.
    if not exchange.read.keepalives:
        interval = _known_interval(exchange)
        yield Seen(f"no comment came while the backend was silent for several times {interval:g} s")


@check("chat.stream.keepalive-is-comment")
def keepalive_is_comment(exchange: Exchange) -> Iterable[Seen]:
    """For the grammar, where anything came to be a comment."""
    if not exchange.read.keepalives:
        _known_interval(exchange)
    return ()


def _known_interval(exchange: Exchange) -> float:
    """The target's keep-alive interval in seconds, of which a client waited for several.

    Raises:
        NotShownError: it is not known.
    """
    if exchange.target.keepalive is None:
        raise NotShownError("the target's keep-alive interval is not known; declare it with --keepalive SECONDS")
    return exchange.target.keepalive


@check("chat.stream.keepalive-goes-on", "responses.stream.keepalive-goes-on")
def keepalive_goes_on(exchange: Exchange) -> Iterable[Seen]:
    """As many comments come as the client waits for. That none comes at all is for the row of keep-alives itself."""
    due = OPENS_AT.get(exchange.turn.act, 0) if exchange.turn else 0
    came = exchange.read.keepalives
    if came >= due:
        return
    interval = _known_interval(exchange)
    if came:
        number = "one keep-alive" if came == 1 else f"{came} keep-alives"
        yield Seen(f"{number} came, and no more, while the backend was silent for more than {due} times {interval:g} s")


@check("chat.stream.disconnect", "responses.stream.disconnect", "messages.stream.disconnect")
def disconnect(exchange: Exchange) -> Iterable[Seen]:
    """The next request is served, and the backend reports that the abandoned turn has ended."""
    # The answer that the client left; the exchange after it reports how that turn ended.
    if exchange.number == 0:
        return
    said = json_object(exchange.choice().text or "") or {}
    turns = map(object_of, list_of(said.get("turns")))
    state = next((turn.get("state") for turn in turns if turn.get("script") == exchange.conversation.script), "unknown")
    # A turn that was drained is as good as one that was interrupted (codex-story, criterion 17).
    if state not in {"interrupted", "completed"}:
        seen = (
            f"1 s after the client disconnected, the backend's turn was still {state}: the proxy did not interrupt it"
        )
        yield Seen(seen, exchange.body_place)


def failure_of(exchange: Exchange) -> ExpectedFailure:
    """How the backend fails in this exchange; NONE where that is not known."""
    return exchange.wanted[0].failure if exchange.wanted else ExpectedFailure.NONE
