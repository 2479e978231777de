"""The pages of `docs/`: what each requirement is judged and proved by, and where each sentence of a source text went.

Everything here is a function of data: the catalogue, the scenarios, and the miniatures that each requirement kills,
which come from outside, since the suite knows no miniature. Each page is a heading, a few sentences, and one table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from wireproof.model.catalogue import JudgedOn
from wireproof.model.dialect import Dialect
from wireproof.model.requirement import Harm
from wireproof.reading.applicable import applicable
from wireproof_pages.markup import note, shown, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wireproof.model.catalogue import Catalogue, Citation, Requirement
    from wireproof.model.scenario import Scenario

NOTE = note("the catalogue, the scenarios and the miniatures")
SHOWN = 3
"""How many scenarios a cell names before it counts."""
NONE = "**none yet**"
_KINDS = {JudgedOn.ALWAYS: "every {}", JudgedOn.CALLS: "every {} with a call", JudgedOn.EXERCISED: "where exercised"}
_HARMS = {
    Harm.CALLS: "calls lost or wrong", Harm.TEXT: "text lost or wrong", Harm.HANG: "waits", Harm.ERROR: "errors",
    Harm.FORM: "misread",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Held:
    """Words of a source text that a persona or a mock keeps, and the test that shows it."""

    source: Citation
    by: str
    """Which of them, as `wireproof` or a reader names it."""
    test: str
    """The file from the repository's root on, two colons, the name of the test."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Proofs:
    """What a page is made of. `kills` maps a requirement to the names of the miniatures that it kills."""

    catalogue: Catalogue
    scenarios: Sequence[Scenario]
    kills: Mapping[str, Sequence[str]]
    held: Sequence[Held] = ()
    """The words of source texts that no requirement holds: they ask something of a client or of a backend."""

    @cached_property
    def judging(self) -> Mapping[str, Sequence[str]]:
        """Requirement → the scenarios that are judged by it, those that exercise it by name first."""
        found: dict[str, list[Scenario]] = {row.id: [] for row in self.catalogue.requirements}
        for scenario in self.scenarios:
            for row in applicable(scenario, self.catalogue, Dialect):
                found[row.id].append(scenario)
        return {
            # False sorts before True; the sort is stable, so the order of the scenarios stays within both halves.
            name: [one.name for one in sorted(judged, key=lambda one: name not in one.exercises)]
            for name, judged in found.items()
        }


@dataclass(frozen=True, kw_only=True)
class SourceText:
    """A text that rows cite: its name and title, its normative lines (by number, from 1), names of some."""

    name: str
    title: str
    lines: Mapping[int, str]
    called: Mapping[int, str]

    def place(self, line: int) -> str:
        """What a line is called on the page."""
        return shown(self.called.get(line, f"line {line}"))


def requirements_page(proofs: Proofs) -> str:
    """The kill matrix: every requirement, the scenarios that judge it, and the miniatures that it kills."""
    rows = proofs.catalogue.requirements
    # `get`: a requirement that kills nothing has no entry, and the page shows that instead of failing.
    killing = sum(bool(proofs.kills.get(row.id)) for row in rows)
    judging = sum(bool(proofs.judging[row.id]) for row in rows)
    return _page(
        "Requirements and what proves them",
        f"**{killing} of {len(rows)}** requirements kill a miniature: a proxy with that one fault, which every other"
        f" requirement lets pass. {judging} of {len(rows)} are judged in a scenario. What one of them says:"
        " `wireproof explain ID`. The column *compat* says what a violation does to real clients, at worst; where"
        " it says"
        " *a warning*, none is harmed, so it fails the level strict alone.",
        ("requirement", "level", "compat", "judged on", "scenarios", "miniatures killed"),
        ((f"`{row.id}`", str(row.level), _compat(row), _judged(row), *_proof(proofs, row.id)) for row in rows),
    )


def source_page(text: SourceText, proofs: Proofs) -> str:
    """Where each normative line of such a text went: to requirements and their proof, or to the exclusions."""
    catalogue = proofs.catalogue
    # Also lines that are cited without being listed as normative: `unlisted` reports them, the page still shows them.
    lines = sorted({*text.lines, *_cited(text, catalogue), *_kept(text, proofs.held)})
    cited = {line: _entries(text, line, proofs) for line in lines}
    required = sum(any(entry.requirement for entry in entries) for entries in cited.values())
    # A line of which one half is required and the other left out counts as required.
    excluded = sum(all(entry.reason for entry in entries) for entries in cited.values() if entries)
    kept = sum(bool(entries) for entries in cited.values()) - required - excluded
    others = f", {kept} by a persona or a mock" if kept else ""
    return _page(
        text.title,
        f"Of {len(cited)} lines that say what to do, {required} are held by requirements{others} and {excluded} are"
        " left out with a reason. The words are the text's own; what stands under them proves them.",
        ("line", "words", "requirement", f"scenarios{' or test' * bool(kept)}", "miniatures killed"),
        (cells for line, entries in cited.items() for cells in _line_rows(text, line, entries, proofs)),
    )


def uncited(text: SourceText, catalogue: Catalogue, held: Sequence[Held] = ()) -> tuple[int, ...]:
    """The normative lines that no requirement cites, no exclusion names, and no persona or mock holds."""
    return tuple(sorted(text.lines.keys() - _cited(text, catalogue) - _kept(text, held)))


def unlisted(text: SourceText, catalogue: Catalogue, held: Sequence[Held] = ()) -> tuple[int, ...]:
    """The lines that are cited, excluded or held without being listed as normative."""
    return tuple(sorted((_cited(text, catalogue) | _kept(text, held)) - text.lines.keys()))


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """Words of a line and the requirement that cites them, the persona or mock that holds them, or why none does."""

    quote: str
    requirement: str = ""
    held: Held | None = None
    reason: str = ""


def _entries(text: SourceText, line: int, proofs: Proofs) -> list[_Entry]:
    """What is said of a line, in the order of its words."""
    catalogue = proofs.catalogue
    required = [
        _Entry(quote=source.quote, requirement=row.id)
        for row in catalogue.requirements
        for source in row.source
        if _at(source, text, line)
    ]
    excluded = [
        _Entry(quote=one.source.quote, reason=one.reason) for one in catalogue.excluded if _at(one.source, text, line)
    ]
    held = [_Entry(quote=one.source.quote, held=one) for one in proofs.held if _at(one.source, text, line)]
    words = text.lines.get(line, "")
    # By the quote, too: `groupby` below needs equal quotes side by side.
    return sorted([*required, *held, *excluded], key=lambda entry: (words.find(entry.quote), entry.quote))


def _line_rows(text: SourceText, line: int, entries: Sequence[_Entry], proofs: Proofs) -> Iterator[tuple[str, ...]]:
    """The rows of a line: the first has its name, and only those whose words differ from the row above have words."""
    if not entries:
        yield text.place(line), "", NONE, "", ""
    place = text.place(line)
    for quote, group in groupby(entries, key=lambda entry: entry.quote):
        words = shown(quote)
        for entry in group:
            yield place, words, *_held(entry, proofs)
            place = words = ""


def _held(entry: _Entry, proofs: Proofs) -> tuple[str, str, str]:
    if entry.reason:
        return f"left out: {shown(entry.reason)}", "", ""
    if entry.held:
        path, _, name = entry.held.test.partition("::")
        return entry.held.by, f"[`{name}`](../../{path})", ""
    return f"`{entry.requirement}`", *_proof(proofs, entry.requirement)


def _proof(proofs: Proofs, requirement: str) -> tuple[str, str]:
    """The two cells that prove a requirement: its scenarios and its miniatures."""
    names = proofs.judging[requirement]
    shown = ", ".join(f"`{name}`" for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (shown + more) or NONE, ", ".join(proofs.kills.get(requirement, ())) or NONE


def _compat(row: Requirement) -> str:
    return _HARMS[row.harm] if row.compat else "a warning"


def _judged(row: Requirement) -> str:
    answer = "answer" if len(row.modes) > 1 else {"stream": "stream", "whole": "whole answer"}[row.modes[0]]
    return _KINDS[row.judged].format(answer)


def _at(source: Citation, text: SourceText, line: int) -> bool:
    return (source.seed, source.line) == (text.name, line)


def _cited(text: SourceText, catalogue: Catalogue) -> set[int]:
    required = [source for row in catalogue.requirements for source in row.source]
    every = [*required, *(one.source for one in catalogue.excluded)]
    return {source.line for source in every if source.seed == text.name}


def _kept(text: SourceText, held: Sequence[Held]) -> set[int]:
    return {one.source.line for one in held if one.source.seed == text.name}


def _page(title: str, lead: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join([f"# {title}", "", NOTE, "", lead, "", table(head, rows), ""])
