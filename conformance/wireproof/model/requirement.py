"""What is known of one requirement: a row of the catalogue.

A row is the only place that knows it. The judge, the stored answers, the reports and the tests ask the row; none of
them has a list of ids of its own. `catalogue` reads rows from TOML; `Requirement(...)` makes one in code.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from wireproof.model.dialect import ArgumentsMode, Dialect
from wireproof.model.scenario import Form, Mode
from wireproof.model.side import Side
from wireproof.wire.facet import CONTENT, UNREADABLE, UNTOUCHED, Facet

if TYPE_CHECKING:
    from wireproof.model.capability import Capability


class Level(StrEnum):
    """How much a requirement weighs: a broken MUST fails a proxy, a broken SHOULD warns."""

    MUST = "MUST"
    SHOULD = "SHOULD"


class JudgedOn(StrEnum):
    """On which exchanges a requirement is judged."""

    ALWAYS = "always"
    """Every answer."""
    CALLS = "calls"
    """Every answer in which the backend makes a tool call."""
    EXERCISED = "exercised"
    """Only where a scenario names it."""


class Stage(StrEnum):
    """What a requirement's check looks at, and so when it runs: `judging.judge` explains the order."""

    TARGET = "target"
    """Whether there is an answer at all. No check is needed: `judging.causes` finds what has no answer."""
    ERROR = "error"
    """Every answer that is an error."""
    FORM = "form"
    """The form of an answer, whatever the backend said. The wire grammar finds most of these without a check."""
    CONTENT = "content"
    """What an answer says, against what the script says. It means nothing where the form is broken."""
    ANSWER = "answer"
    """Content, too: the answer to a plain request, against the status, headers and error that its scenario expects.

    Such a row needs no check. One that it has looks at what else the answer must say.
    """
    SENSE = "sense"
    """What the backend reports that it received. It means nothing where the content is wrong."""
    SUBJECT = "subject"
    """No check of its own: scenarios whose `attribute_to` names the row attribute any violation of content to it."""
    TOGETHER = "together"
    """All exchanges of a scenario, side by side."""
    PARITY = "parity"
    """Two answers to the same turn, against each other."""


class Harm(StrEnum):
    """What a violation does to a client at its worst. In the order in which reports list findings."""

    CALLS = "calls"
    """Calls are lost, doubled, or run with wrong arguments."""
    TEXT = "text"
    """Text is lost, doubled, or not the one that was meant."""
    HANG = "hang"
    """A client waits, or asks without end."""
    ERROR = "error"
    """A client raises, or gets an error that does not say what is wrong."""
    FORM = "form"
    """Nothing that a person with a client would notice."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """Where a sentence stands."""

    seed: str
    """The name of the text."""
    line: int
    """Counted from 1."""
    quote: str
    """Words that are literally on that line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Requirement:
    """One row. A field that a row of the catalogue does not set has the default that stands here."""

    id: str
    """Lower-case words joined by dots, as in chat.stream.role-first."""
    level: Level
    text: str
    """One sentence for a developer with a broken client."""
    hint: str
    """What to do about it."""
    source: tuple[Citation, ...]
    """The texts that ask for it, at least one."""
    dialects: tuple[Dialect, ...] = tuple(Dialect)
    """The dialects whose answers it is about."""
    modes: tuple[Mode, ...] = tuple(Mode)
    """The modes whose answers it is about."""
    side: Side = Side.PROXY
    """Which end of the wire must keep it. Rows about clients have no stage: `judging.client_judge` judges them."""
    judged: JudgedOn = JudgedOn.EXERCISED
    stage: Stage = Stage.CONTENT
    invariant: bool = False
    """Content that holds of any answer: it can be judged although the right answer is not known."""
    spoils: frozenset[Facet] | None = None
    """What a violation spoils that does not say it itself. None: all that can be read, for a row of form; for any other
    row the parts of which it speaks (`facets`)."""
    needs: frozenset[Facet] | None = None
    """What must not be spoilt where it is judged. None: what an answer says, for a row of content, and what its backend
    received, for one of sense; nothing for the others."""
    on_failure: bool = False
    """Content that is still judged where there should have been an HTTP error: it says that there should have been."""
    arguments: ArgumentsMode | None = None
    """The way of streaming arguments that it is about; not applicable to a target that uses the other. None: both."""
    facets: tuple[Facet, ...] = ()
    """The parts of an exchange that it speaks of: the violations that name a part, and not a row, are of this row."""
    capability: Capability | None = None
    """What it asks a target to be able to do: one that plainly refuses that breaks it."""
    alike: bool = False
    """It means the same in every dialect of chat: a fault that breaks it in one breaks it in all."""
    at_crash: bool = False
    """A fault of it may show only where the backend process dies, so tests of faults must let it die."""
    on_time: bool = False
    """A violation of it rests on time: on a busy machine it may be seen of a target that keeps it. So it is reported
    only if it is seen again when the scenario is driven alone."""
    harm: Harm = Harm.FORM
    compat: bool = False
    """Whether a real client would break, lose, double or misread something when it is violated. If not, a violation is
    a note at the level `compat`; so is one that is `strict_only`, whatever stands here."""
    compat_why: str = ""
    """Why `compat` is true, where no client was measured: one sentence. "": `breaks` says it, or `compat` is false."""
    warns: str = ""
    """Which violations are a warning at the level `compat` although `compat` is true: one sentence. "": none is."""
    breaks: tuple[str, ...] = ()
    """Real clients that were measured to break when it is violated: "client, client: effect"."""

    @property
    def spoilt_by_it(self) -> frozenset[Facet]:
        """What a violation of it spoils that does not say it itself."""
        if self.spoils is not None:
            return self.spoils
        return UNREADABLE if self.stage is Stage.FORM else frozenset(self.facets) or CONTENT

    @property
    def needed(self) -> frozenset[Facet]:
        """What must not be spoilt where it is judged."""
        return _NEEDED.get(self.stage, UNTOUCHED) if self.needs is None else self.needs

    def speaks_of(self, form: Form) -> bool:
        """Whether it is about answers of this form."""
        return form.mode in self.modes and form.dialect in self.dialects

    @property
    def needs_script(self) -> bool:
        """Whether it can be judged only where the right answer is known."""
        return not (self.invariant or self.stage in {Stage.FORM, Stage.ERROR})


_NEEDED = {
    Stage.CONTENT: CONTENT,
    Stage.ANSWER: CONTENT,
    Stage.SENSE: frozenset({Facet.RECEIVED, Facet.HISTORY}),
    Stage.SUBJECT: CONTENT | {Facet.HISTORY},
}
"""Stage of a row → what it needs if it does not say it."""
