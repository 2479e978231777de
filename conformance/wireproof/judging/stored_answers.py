"""Answers, written so that a person can read them and so that any conforming proxy gives the same text.

The stored ones (`snapshots/answers`) are what the reference proxy gave and the script says; an answer of any target is
compared with them line by line. Which requirement a difference violates, the rows of the catalogue say (`facets`).
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof.judging.checks.chat_stream import gate_was_late
from wireproof.judging.checks.places import as_data, counts, is_part, same_data, same_json
from wireproof.model.scenario import LEAVES, Form
from wireproof.model.target import Backend, Missing
from wireproof.reading.expected import NO_ANSWER, Expected
from wireproof.reading.right_answers import answers_to
from wireproof.wire.events import CallOpened, ChatEvent, Failed, Finished, Fragment, Role, Text, TokenUsage
from wireproof.wire.facet import Facet
from wireproof.wire.fields import json_of, text_of
from wireproof.wire.quoting import visible
from wireproof.wire.violation import Seen, Violation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from wireproof.model.catalogue import Catalogue
    from wireproof.reading.exchange import Exchange

LONG = 2000
"""Texts longer than this are stored by their length and their ends."""

ESTIMATED = "usage: (not the backend's)"
"""The line of usage where the backend reports no counts, as an older Codex may not where the newest one does."""

NAMES: dict[type, str] = {
    Role: "role", Text: "text", CallOpened: "call", Fragment: "arguments", Finished: "finish", TokenUsage: "usage",
    Failed: "error",
}  # fmt: skip
"""How the line of events names each kind."""


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
        # Where text and calls stand side by side, an answer without text has an empty part or none; both are right.
        text = choice.text or "" if exchange.dialect.spec.text_before_calls else choice.text
        yield "text: (reflected)" if reflected else f"text: {_quoted(text)}"
        for call in choice.calls:
            # Without its id: a proxy may make ids of its own.
            yield f"call: {call.name}"
            data = exchange.dialect.spec.arguments_are_data
            yield f"arguments: {_quoted(as_data(call.arguments) if data else call.arguments)}"
        yield f"finish: {choice.finish or 'null'}"
    usage = exchange.answer.usage
    if usage is not None:
        reported = counts(exchange) is not None
        yield f"usage: {usage.prompt} + {usage.completion} = {usage.total}" if reported else ESTIMATED
    if exchange.answer.error is not None:
        # Not its message, whose words are the proxy's own.
        yield "error: in the stream"


def _order(events: Iterable[ChatEvent]) -> Iterator[str]:
    """The kinds of events in order, runs collapsed; those of several choices, which interleave freely, by choice.

    Comments and empty fragments are left out: a proxy may send any number of them. So is [DONE], which may be missing
    after an error.
    """
    shown = [event for event in events if not (isinstance(event, Fragment) and not event.text)]
    if any(getattr(event, "choice", 0) for event in shown):
        # Events of no choice last. The sort is stable, so each choice keeps its order.
        shown.sort(key=lambda event: getattr(event, "choice", math.inf))
    return (kind for kind, _ in groupby(NAMES[type(event)] for event in shown if type(event) in NAMES))


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
    kept = (one for one in exchanges if one.turn is None or one.turn.act not in LEAVES)
    return "".join(f"# exchange {exchange.number + 1}\n{render(exchange)}" for exchange in kept)


@cache
def stored(scenario: str, form: Form) -> dict[int, list[str]]:
    """The stored answer's lines by exchange number; empty when the scenario has none."""
    path = _folder() / file_name(scenario, form)
    if not path.is_file():
        return {}
    blocks: dict[int, list[str]] = {}
    # Not `splitlines`: texts are stored with separators such as U+2028 as they are.
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("# exchange "):
            blocks[int(line.removeprefix("# exchange ")) - 1] = []
        elif line:
            blocks[max(blocks)].append(line)
    return blocks


def _folder() -> Path:
    installed = Path(str(resources.files("wireproof"))) / "_data" / "snapshots" / "answers"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "snapshots" / "answers"


def difference(exchange: Exchange, catalogue: Catalogue, explained: Collection[Facet]) -> Iterable[Violation]:
    """The first line in which the answer differs from the stored one, as a violation of the requirement of that line.

    Lines of parts whose differences are `explained` by what was found are not compared, nor is a line judged that no
    row of the catalogue speaks of.
    """
    wanted = stored(exchange.scenario.name, exchange.form).get(exchange.number)
    # Those failures may be reported in more than one right way.
    if wanted is None or any(one.failure in NO_ANSWER for one in exchange.wanted):
        return
    # The stored answers spell the arguments as the model did, and count its tokens.
    if exchange.target.backend is Backend.CURSOR and any(one.asks for one in exchange.wanted):
        return
    # They end at the stop sequence.
    if exchange.turn is not None and exchange.terms.stops and not any(one.stop for one in exchange.wanted):
        return
    # They have the calls of the script and its text, where a gateway may have others: see `right_answers`.
    played = answers_to(exchange.conversation, exchange.number, exchange.form) if exchange.wanted else ()
    textless = (one.text == "" != other.text for one, other in zip(exchange.wanted, played, strict=False))
    if _calls(exchange.wanted) != _calls(played) or any(textless):
        return
    # What the backend says in place of the text where it could wait no longer: see `chat.stream.flushed`.
    if any(gate_was_late(one, choice.text or "") for one, choice in exchange.choices()):
        explained = {*explained, Facet.TEXT}
    left_out = (_NO_TEXT,) if Facet.FINISH in explained else ()
    wanted, got = (
        [line for line in lines if _facet(line) not in explained and line not in left_out]
        for lines in (wanted, _lines(exchange))
    )
    blocks = exchange.dialect.spec.blocks
    # The empty line behind both makes a line too many or too few a difference.
    for want, have in zip([*wanted, ""], [*got, ""], strict=False):
        if blocks and _beside(want) == _beside(have):
            continue
        # An older Codex reports no counts of an answer that was cut off; elsewhere that is a difference.
        unknown = Missing.COUNTS in exchange.target.missing or is_part(exchange)
        uncounted = have == ESTIMATED and want.startswith("usage: ") and unknown
        respelled = exchange.carries_data and _is_same_data(want, have)
        if want != have and not (uncounted or respelled):
            row = catalogue.of_facet(_facet(want or have), exchange.form)
            seen = f"the answer says {_shown(have)}, every conforming proxy says {_shown(want)}"
            if row is not None:
                part = _facet(want or have)
                # The same JSON in another spelling: see `altered_arguments`.
                alike = part is Facet.ARGUMENTS and same_json(_value(want), _value(have))
                spoils = None if exchange.answer.error is None else _FAILED
                found = Seen(seen, exchange.body_place, strict_only=alike, part=part, spoils=spoils)
                yield found.of(row.id)
            return


_SIDE_BY_SIDE = re.compile(r"(?: (?:text|call|arguments))+")
"""What a line of events has where texts and calls stand together."""


def _beside(line: str) -> str:
    """A line of events in one order of texts and calls: no row says which comes first, a block or its `tool_calls`.

    What may not stand behind a call is for `chat.stream.tail-suppressed`.
    """
    if not line.startswith(f"{Facet.EVENTS}: "):
        return line
    return _SIDE_BY_SIDE.sub(lambda run: " " + " ".join(sorted(set(run.group().split()))), line)


def _calls(answers: Iterable[Expected]) -> list[str]:
    """The arguments of all calls; where they are data, none of them is an empty object."""
    return [call.arguments for one in answers for call in one.calls]


def _facet(line: str) -> Facet:
    return Facet(line.partition(":")[0])


def _is_same_data(want: str, have: str) -> bool:
    """Whether both lines have arguments that mean the same; of long ones, which are not stored whole, that is open."""
    if {line.partition(":")[0] for line in (want, have)} != {Facet.ARGUMENTS}:
        return False
    return not _value(want) or same_data(_value(want), _value(have))


def _value(line: str) -> str:
    """The arguments of a line, as text; what is no text is none."""
    return text_of(json_of(line.partition(": ")[2])) or ""


_NO_TEXT = 'text: ""'
"""Of an answer that says nothing only its end shows that there is one."""
_FAILED = frozenset({Facet.EVENTS, Facet.FINISH, Facet.USAGE, Facet.END})
"""What an error that ends an answer leaves unsaid."""


def _shown(line: str) -> str:
    return visible(line[:200]) if line else "nothing more"
