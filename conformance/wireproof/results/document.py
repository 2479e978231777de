"""The one form of a result: all that a run found out about a target, as data that every report renders.

It is what `report.json` in the folder of a result holds, field by field; `schemas/wireproof/report.json` is generated
from it. What is said of the target is in `target_facts`, and the transcripts stand in a file of their own beside it.
What a target said stands in texts as it was received, so a rendering escapes it for its own medium. No secret stands in
it, see `masking`.
"""

# ruff: noqa: TC001 (pydantic reads the annotations)

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from wireproof.model.dialect import Dialect, Surface
from wireproof.model.requirement import Harm, Level
from wireproof.model.scenario import Mode
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.results.target_facts import Facts, ReportPart

FORMAT = 1
"""The number of this form; a file of another one is refused."""


class _Judged(ReportPart):
    """What has a verdict at each level."""

    strict: Verdict
    compat: Verdict

    def at(self, level: VerdictLevel) -> Verdict:
        """The verdict at a level."""
        return self.strict if level is VerdictLevel.STRICT else self.compat


class Ended(StrEnum):
    """How a run ended."""

    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    """Before all scenarios were driven; what had been driven is judged."""
    UNREACHABLE = "unreachable"
    """The target could not be reached or driven; nothing is judged."""
    FAILED = "failed"
    """Wireproof itself failed; nothing is judged, and the transcripts have what was driven."""


class Summary(StrEnum):
    """What a level of a result adds up to."""

    CERTIFIED = "certified"
    NOT_CERTIFIED = "not certified"
    PARTIAL = "certified in part"
    NONE = "no certificate"
    # Of a run of selected scenarios, which is no certificate however well it goes.
    KEPT = "nothing broken"
    BROKEN = "broken"
    UNSEEN = "not all observed"


@dataclass(frozen=True, kw_only=True)
class MadeWith(ReportPart):
    """What made the result."""

    wireproof: str
    python: str
    system: str
    """The operating system and its release."""


@dataclass(frozen=True, kw_only=True)
class Edition(ReportPart):
    """The catalogue of requirements."""

    date: str
    """Its date, as ISO 8601."""
    requirements: int
    """How many it has."""


@dataclass(frozen=True, kw_only=True)
class Configuration(ReportPart):
    """How the run was asked for."""

    command: str
    """The command that certifies the same target again; values that may be secret are masked."""
    jobs: int
    """How many exchanges were to run at the same time."""
    at_a_time: int
    """How many the target was found to serve at the same time; 0: not known."""
    selection: tuple[str, ...]
    """The scenarios and requirements that were selected by name; empty for a whole run."""
    level: VerdictLevel
    """The level that decides the exit status."""
    allow_partial: bool
    """Whether a partial result is accepted."""
    known: dict[str, str]
    """`<scenario>:<requirement>` → why its failure is accepted."""


@dataclass(frozen=True, kw_only=True)
class AtLevel(ReportPart):
    """The result at one level."""

    summary: Summary
    status: int
    """The exit status that it has if it decides."""
    counts: dict[Verdict, int]
    """How many outcomes have each verdict; known failures are not counted."""
    broken: tuple[str, ...]
    """The requirements that are broken, known failures left out."""
    unobserved: dict[str, str]
    """The MUSTs that were not observed → why."""
    hidden: dict[str, str] = field(default_factory=dict)
    """Those of them that could not be observed behind a broken requirement → which one."""


@dataclass(frozen=True, kw_only=True)
class RequirementShown(ReportPart):
    """A requirement that something is said about."""

    id: str
    level: Level
    harm: Harm
    """What breaking it does to a client at its worst."""
    text: str
    hint: str
    breaks: tuple[str, ...]
    """Real clients that break on what was seen; empty where it is kept, and where what breaks it breaks no client."""


@dataclass(frozen=True, kw_only=True)
class SeenAt(ReportPart):
    """Where something was seen: an exchange, and a range of bytes in its answer."""

    scenario: str
    dialect: Dialect
    mode: Mode
    exchange: int
    """The number of the exchange in its scenario, counted from 0."""
    seen: str
    offset: int | None
    """Where the bytes begin in the body of the answer; null: the exchange as a whole."""
    length: int | None
    """How many there are; 0 for the end of the body."""
    frame: int | None
    """The frame of the stream that they are in, counted from 0."""
    in_request: bool = False
    """The bytes stand in the body of the request, since the client is judged that sent it."""
    came: int | None = None
    """The HTTP status that came, where the status is what is wrong; null: something else is."""
    due: int | None = None
    """The one that should have come."""


@dataclass(frozen=True, kw_only=True)
class ShownBytes(ReportPart):
    """The bytes at a place, with what stands around them, readable."""

    before: str
    at: str
    after: str
    where: str


@dataclass(frozen=True, kw_only=True)
class Common(ReportPart):
    """What made several exchanges fail alike."""

    says: str
    exchanges: int
    """How many show it."""
    hidden: int
    """How many of them show nothing else."""
    kind: str = ""
    """What it is without its numbers: causes of one kind are one thing to a person. "": as `says`."""


@dataclass(frozen=True, kw_only=True)
class Found(_Judged):
    """One thing that is wrong with the target, however often it was seen."""

    requirement: str
    strict: Verdict
    compat: Verdict
    known: str
    """Why it is accepted; "": it is not."""
    seen: str
    """What was seen in the first place."""
    cause: Common | None
    """What made several exchanges fail alike; null: no cause is known."""
    scenarios: tuple[str, ...]
    places: tuple[SeenAt, ...]
    request: str
    """A curl command that sends the request of the first place again; "": there is no place."""
    excerpt: ShownBytes | None
    """The bytes of the first place."""


@dataclass(frozen=True, kw_only=True)
class Cell(_Judged):
    """The verdict on a requirement in one form of answers, over all scenarios."""

    requirement: str
    dialect: Dialect
    mode: Mode
    strict: Verdict
    compat: Verdict
    known: bool
    """All that fails or warns in it is accepted."""
    reason: str
    """Why it was not judged, or passes with a reservation; "": neither."""
    scenarios: int
    """In how many scenarios it was judged."""


@dataclass(frozen=True, kw_only=True)
class ScenarioVerdict(_Judged):
    """The verdict on a requirement in one scenario."""

    scenario: str
    requirement: str
    strict: Verdict
    compat: Verdict
    reason: str
    """Why it was not judged, or passes with a reservation."""
    known: str
    """Why its failure is accepted; "": it is not."""
    places: tuple[SeenAt, ...]
    """Where it is broken."""


@dataclass(frozen=True, kw_only=True)
class FormDriven(ReportPart):
    """A scenario in one form."""

    scenario: str
    dialect: Dialect
    mode: Mode
    exchanges: int
    seconds: float
    """How long its exchanges took, together."""
    first_byte: float | None
    """Seconds until the first byte of its first answer; null: none came."""
    reason: str
    """Why it was not driven; "": it was."""


@dataclass(frozen=True, kw_only=True)
class Repeated(ReportPart):
    """One run of those of a repeated one."""

    status: int
    """The exit status that it has by itself."""
    began: str
    seconds: float
    shown: bool
    """Whether the rest of the report is of this run."""
    folder: str
    """Where its own result stands, below that of the report; "": nowhere."""


@dataclass(frozen=True, kw_only=True)
class Flaky(ReportPart):
    """A requirement that is broken in some runs and not in all, in one form of answers."""

    requirement: str
    dialect: Dialect
    mode: Mode
    strict: tuple[Verdict, ...]
    """The verdict of each run."""
    compat: tuple[Verdict, ...]
    seen: str
    """What was seen where it was first broken."""
    scenarios: tuple[str, ...]
    """The scenarios in which it was broken, in any run."""

    def at(self, level: VerdictLevel) -> tuple[Verdict, ...]:
        """The verdict of each run at a level."""
        return self.strict if level is VerdictLevel.STRICT else self.compat


class Ready(StrEnum):
    """Whether a client can be used with a target."""

    BREAKS = "breaks"
    """It fails, or does something else than the model said, on ordinary answers."""
    WORKS_BUT = "works but"
    """What breaks it came where something went wrong anyway, is a matter that its user gets along with, or was measured
    with no client."""
    NOT_KNOWN = "not known"
    """Nothing that breaks it was seen, and a fault hides some of what could."""
    WORKS = "works"
    """None of what was measured to break it was seen."""


@dataclass(frozen=True, kw_only=True)
class ClientReady(ReportPart):
    """What a result says to the users of a client."""

    client: str
    surface: Surface
    ready: Ready
    broken: dict[str, tuple[str, ...]]
    """Requirement → what the client was measured to do on what was seen, or what any may."""
    unobserved: tuple[str, ...]
    """The requirements whose violation breaks it and that were not observed."""


@dataclass(frozen=True, kw_only=True)
class Transcripts(ReportPart):
    """The file beside the report that holds what was sent and received."""

    file: str
    """Its name."""
    sha256: str
    scenarios: int
    exchanges: int


@dataclass(frozen=True, kw_only=True)
class Report(ReportPart):
    """The result of a run."""

    format: int
    ended: Ended
    reason: str
    """Why it ended before its end; "": it did not."""
    status: int
    """The exit status."""
    began: str
    """When it began, in ISO 8601, UTC."""
    seconds: float
    """How long it took."""
    versions: MadeWith
    catalogue: Edition
    configuration: Configuration
    target: Facts | None
    """null: it could not be reached."""
    levels: dict[VerdictLevel, AtLevel]
    """The result at each level; empty where nothing is judged."""
    requirements: dict[str, RequirementShown]
    """All requirements that something is said about, by id, in the order of the catalogue."""
    findings: tuple[Found, ...]
    """What is wrong, in the order of what it does to clients."""
    cells: tuple[Cell, ...]
    outcomes: tuple[ScenarioVerdict, ...]
    driven: tuple[FormDriven, ...]
    transcripts: Transcripts | None
    """null: nothing was driven."""
    repeats: tuple[Repeated, ...] = ()
    """The runs of one that was repeated, in their order; empty for a single run."""
    flaky: tuple[Flaky, ...] = ()
    """What is broken in some of them and not in all."""
    clients: tuple[ClientReady, ...] = ()
    """Real clients that were measured on the surfaces that the target serves; empty of a selection."""
