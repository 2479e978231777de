"""What the pytest plugin has an item for: a requirement in a scenario, in each form of answers; and what it says of it.

Items are collected before the target has been asked what it speaks, so the cases are those of every dialect that it may
speak; their verdicts are looked up in the one certificate of the session.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import PlainScenario
from wireproof.model.verdict import Outcome, Verdict
from wireproof.reading.applicable import by_form
from wireproof.results.cells import parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wireproof.model.catalogue import Catalogue
    from wireproof.model.scenario import Form, Scenario
    from wireproof.results.certificate import Certificate

PLAIN = "http"
"""The form of a plain request: it is sent once, in whichever dialect the target speaks."""
REST = "anything-else"
"""The requirement of a scenario's last case: whatever is broken in it without a case of its own."""
WORST = (Verdict.ERROR, Verdict.FAIL, Verdict.WARN)
"""What a case of all else is about, the worst first."""


@dataclass(frozen=True, order=True, slots=True)
class ItemCase:
    """One item: each part of it is one part of the item's id, and none has a character that a shell would read."""

    scenario: str
    form: str
    """As `form_name` writes it; "" in the case of all else."""
    requirement: str

    @property
    def key(self) -> str:
        """How files of known failures spell it."""
        return f"{self.scenario}:{self.requirement}"

    @classmethod
    def rest(cls, scenario: str) -> Self:
        """The case of all that has none in a scenario."""
        return cls(scenario, "", REST)


def form_name(scenario: Scenario, form: Form) -> str:
    """Surface, dialect and mode of answers, such as `chat-openai-json-stream` and `responses-whole`."""
    if isinstance(scenario, PlainScenario):
        return PLAIN
    return "-".join(dict.fromkeys((form.dialect.spec.surface, form.dialect, form.mode)))


def cases(scenarios: Iterable[Scenario], catalogue: Catalogue, dialects: Iterable[Dialect]) -> Iterator[ItemCase]:
    """The cases of a run, in the order of scenarios, forms and catalogue."""
    spoken = tuple(dialects) or tuple(Dialect)
    for scenario in scenarios:
        for form, rows in by_form(scenario, catalogue, spoken).items():
            yield from (ItemCase(scenario.name, form_name(scenario, form), row.id) for row in rows)
        yield ItemCase.rest(scenario.name)


def said(
    certificate: Certificate, catalogue: Catalogue, every: Iterable[ItemCase]
) -> Mapping[ItemCase, Sequence[Outcome]]:
    """What the certificate says of each case; a case that it says nothing of is left out.

    `every` are all cases of the session: what is broken elsewhere goes to the case of all else in its scenario.
    """
    known, found = frozenset(every), dict[ItemCase, list[Outcome]]()
    for form, one in _parts(certificate, catalogue):
        case = ItemCase(one.scenario, form, one.requirement)
        if case in known:
            found.setdefault(case, []).append(one)
        elif one.verdict in WORST:
            found.setdefault(ItemCase.rest(one.scenario), []).append(one)
    return found


def _parts(certificate: Certificate, catalogue: Catalogue) -> Iterator[tuple[str, Outcome]]:
    """Every part with the name of its form; last the outcomes of no form, which must not be lost if they fail."""
    scenarios = {run.scenario.name: run.scenario for run in certificate.runs}
    of_a_form = set[tuple[str, str]]()
    for (_, form), those in parts(certificate, catalogue).items():
        for one in those:
            of_a_form.add((one.scenario, one.requirement))
            yield form_name(scenarios[one.scenario], form), one
    for one in certificate.outcomes:
        if (one.scenario, one.requirement) not in of_a_form:
            yield "", one
