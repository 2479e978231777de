"""Answers, written so that a person can read them and so that any conforming proxy gives the same text.

The stored ones (`snapshots/answers`) are what the reference proxy gave and the script says; an answer of any target is
compared with them line by line, and each kind of line names the requirement that a difference falls under.
"""

from __future__ import annotations

import json
import math
from functools import cache
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from assay.judging.checks.places import counts
from assay.judging.checks.response_parity import PARITY
from assay.model.dialect import Surface
from assay.model.scenario import LEAVES, Form, Mode
from assay.model.target import Missing
from assay.reading.expected import Failure
from assay.wire.events import CallOpened, ChatEvent, Failed, Finished, Fragment, Role, Text, Usage
from assay.wire.responses_grammar import SUMS, TERMINAL
from assay.wire.responses_whole import CALL_ITEMS, ENVELOPE, MESSAGE
from assay.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.reading.exchange import Exchange

LONG = 2000
"""Texts longer than this are stored by their length and their ends."""

CHAT_FACETS: dict[str, tuple[str, str]] = {
    "events": ("chat.stream.parity", "chat.stream.parity"),
    "text": ("chat.stream.text", "chat.whole.text"),
    "call": ("chat.stream.call-opening", "chat.whole.calls-all-in-order"),
    "arguments": ("chat.stream.arguments-verbatim", "chat.whole.arguments-verbatim"),
    "finish": ("chat.stream.finish-reason", "chat.whole.finish"),
    "usage": ("chat.stream.usage", "chat.whole.usage"),
    "error": ("chat.stream.error-after-text", "chat.whole.backend-error"),
}
RESPONSES_FACETS: dict[str, tuple[str, str]] = {
    "events": (PARITY, PARITY),
    "text": (SUMS, MESSAGE),
    "call": (SUMS, CALL_ITEMS),
    "arguments": (SUMS, CALL_ITEMS),
    "finish": (TERMINAL, ENVELOPE),
    "usage": (TERMINAL, ENVELOPE),
    "error": (TERMINAL, ENVELOPE),
}
FACETS = {Surface.CHAT: CHAT_FACETS, Surface.RESPONSES: RESPONSES_FACETS}
"""Surface → first word of a line → the requirement that a difference falls under, in a stream and in a whole answer."""

ANYHOW = {Failure.BEFORE_OUTPUT, Failure.IN_CALL, Failure.SILENT}
"""Failures that clients learn of in more than one right way."""

ESTIMATED = "usage: (not the backend's)"
"""Where the backend tells no counts: an older one may not where the one does that the stored answers are of."""

NAMES: dict[type, str] = {
    Role: "role", Text: "text", CallOpened: "call", Fragment: "arguments", Finished: "finish", Usage: "usage",
    Failed: "error",
}  # fmt: skip


def render(exchange: Exchange) -> str:
    """The answer of one exchange, in lines of `<facet>: <value>`."""
    return "\n".join(_lines(exchange)) + "\n"


def _lines(exchange: Exchange) -> Iterator[str]:
    if exchange.reading is None:
        yield "error: before output" if exchange.transcript.status is not None else "error: no response"
        return
    yield f"events: {' '.join(_order(exchange.reading.events))}"
    reflected = any(wanted.text is None for wanted in exchange.wanted)
    for choice in exchange.answer.choices:
        text = choice.text or "" if exchange.dialect.spec.surface is Surface.RESPONSES else choice.text
        yield "text: (reflected)" if reflected else f"text: {_quoted(text)}"
        for call in choice.calls:
            yield f"call: {call.name}"
            yield f"arguments: {_quoted(call.arguments)}"
        yield f"finish: {choice.finish}"
    usage = exchange.answer.usage
    if usage is not None:
        told = counts(exchange) is not None
        yield f"usage: {usage.prompt} + {usage.completion} = {usage.total}" if told else ESTIMATED
    if exchange.answer.error is not None:
        yield "error: in the stream"


def _order(events: Iterable[ChatEvent]) -> Iterator[str]:
    """The kinds of events in order, runs collapsed; those of several choices, which interleave freely, by choice.

    Comments and empty fragments are nobody's business, and after an error [DONE] may be missing.
    """
    told = [event for event in events if not (isinstance(event, Fragment) and not event.text)]
    if any(getattr(event, "choice", 0) for event in told):
        told.sort(key=lambda event: getattr(event, "choice", math.inf))
    return (kind for kind, _ in groupby(NAMES[type(event)] for event in told if type(event) in NAMES))


def _quoted(text: str | None) -> str:
    if text is None or len(text) <= LONG:
        return json.dumps(text, ensure_ascii=False)
    head, tail = json.dumps(text[:60], ensure_ascii=False), json.dumps(text[-60:], ensure_ascii=False)
    return f"{len(text)} characters, {head} … {tail}"


def file_name(scenario: str, form: Form) -> str:
    """Where an answer (or a wire) is stored, below its folder."""
    return f"{form.dialect}/{scenario}.{form.mode}.txt"


def document(exchanges: Iterable[Exchange]) -> str:
    """The answers of a scenario in one form: exchange after exchange."""
    return "".join(
        f"# exchange {exchange.number + 1}\n{render(exchange)}" for exchange in exchanges if not _abandoned(exchange)
    )


def _abandoned(exchange: Exchange) -> bool:
    return exchange.turn is not None and exchange.turn.act in LEAVES


@cache
def stored(scenario: str, form: Form) -> dict[int, list[str]]:
    """The stored answer's lines by exchange number; empty when the scenario has none."""
    path = _folder() / file_name(scenario, form)
    if not path.is_file():
        return {}
    blocks: dict[int, list[str]] = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("# exchange "):
            blocks[int(line.removeprefix("# exchange ")) - 1] = []
        elif line:
            blocks[max(blocks)].append(line)
    return blocks


def _folder() -> Path:
    installed = Path(str(resources.files("assay"))) / "_data" / "snapshots" / "answers"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "snapshots" / "answers"


def difference(exchange: Exchange) -> Iterable[Violation]:
    """The first line in which the answer differs from the stored one, under the requirement of that line."""
    wanted = stored(exchange.scenario.name, exchange.form).get(exchange.number)
    if wanted is None or any(one.failure in ANYHOW for one in exchange.wanted):
        return
    got = list(_lines(exchange))
    for want, have in zip([*wanted, ""], [*got, ""], strict=False):
        uncounted = have == ESTIMATED and want.startswith("usage: ") and Missing.COUNTS in exchange.target.missing
        if want != have and not uncounted:
            facet = (want or have).partition(":")[0]
            requirement = FACETS[exchange.dialect.spec.surface][facet][exchange.mode is Mode.WHOLE]
            seen = f"the answer says {_told(have)}, every conforming proxy says {_told(want)}"
            yield Violation(requirement=requirement, seen=seen, place=exchange.body_place)
            return


def _told(line: str) -> str:
    return repr(line[:200]) if line else "nothing more"
