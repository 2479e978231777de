"""What the catalogue says of a row, for people, and the JSON that commands print."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.text import Text

from wireproof.model.dialect import Surface
from wireproof.model.requirement import Level
from wireproof.report.lines import indented

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from wireproof.model.catalogue import Requirement
    from wireproof.model.scenario import Scenario


def explain(console: Console, row: Requirement, scenarios: Sequence[Scenario], seeds: Mapping[str, str]) -> None:
    """One row in full; `seeds` has the titles of the texts that it cites."""
    console.print(
        Text.assemble((row.id, "bold"), f"  {row.level}  {', '.join(row.modes)}; {', '.join(row.dialects)}"),
        soft_wrap=True,
    )
    cited = (f"Source “{seeds.get(one.seed, one.seed)}”, line {one.line}: “{one.quote}”" for one in row.source)
    named = ", ".join(scenario.name for scenario in scenarios) or "none"
    lines = (
        row.text, f"To do: {row.hint}", at_levels(row), *(f"Breaks {effect}" for effect in row.breaks), *cited,
        f"Scenarios: {named}", f"Page: docs/{page_of(row.id)}",
    )  # fmt: skip
    for line in lines:
        indented(console, Text(line))


def topic_of(requirement: str) -> str:
    """What tables and pages are ordered by: the first word of an id, and for those about answers the second, too."""
    first, second, *_ = requirement.split(".")
    return f"{first}.{second}" if first in set(Surface) and second in {"stream", "whole"} else first


def page_of(requirement: str) -> str:
    """The place of a requirement in the documentation, from the folder `docs` on."""
    return f"catalogue/{topic_of(requirement).replace('.', '-')}.md#{requirement}"


def at_levels(row: Requirement) -> str:
    """What a violation is at either level, and why."""
    if row.level is Level.MUST and not row.compat:
        return "At level strict a violation is a failure, at level compat a warning: it harms no real client."
    weight = "a failure" if row.level is Level.MUST else "a warning"
    said = (f"At both levels a violation is {weight}.", row.warns, row.compat_why)
    return " ".join(filter(None, said))


def as_json_text(data: object) -> str:
    """JSON for people and programs: as it is, but for bytes that no text has, which are escaped."""
    # Lone surrogates: some scripts hold them on purpose, and no UTF-8 output could be written with them.
    # Sets as lists, in an order that stays the same.
    return json.dumps(data, indent=2, ensure_ascii=False, default=sorted).encode(errors="backslashreplace").decode()
