"""The catalogue as pages of `docs/catalogue/`: one for each topic, with all that is known of its requirements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wireproof.model.requirement import Harm, Level
from wireproof.report.explain import page_of, topic_of
from wireproof_pages.markup import shown
from wireproof_pages.proof_pages import NOTE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wireproof.model.catalogue import Catalogue, Requirement
    from wireproof_pages.proof_pages import Proofs

SHOWN = 6
"""How many scenarios of a requirement are named; the others are counted."""
HARMS: Mapping[Harm, str] = {
    Harm.CALLS: "calls are lost, doubled, or run with wrong arguments",
    Harm.TEXT: "text is lost, doubled, or not the one that was meant",
    Harm.HANG: "a client waits, or asks without end",
    Harm.ERROR: "a client raises, or gets an error that does not say what is wrong",
    Harm.FORM: "nothing that a person with a client would notice",
}
"""What a violation does at its worst."""


def catalogue_pages(proofs: Proofs) -> dict[str, str]:
    """Path below `docs` → text of a page, for each topic, and of the one that leads to them."""
    topics: dict[str, list[Requirement]] = {}
    for row in proofs.catalogue.requirements:
        topics.setdefault(topic_of(row.id), []).append(row)
    pages = {page_of(rows[0].id).partition("#")[0]: _page(topic, rows, proofs) for topic, rows in topics.items()}
    return {"catalogue/index.md": _index(topics, proofs.catalogue), **pages}


def _index(topics: Mapping[str, Sequence[Requirement]], catalogue: Catalogue) -> str:
    lines = [
        "# The catalogue", "", NOTE, "",
        f"{len(catalogue.requirements)} requirements, as of {catalogue.date}; [its editions](../editions.md).", "",
        "| topic | requirements | MUST |", "| --- | --: | --: |",
    ]  # fmt: skip
    for topic, rows in topics.items():
        file = page_of(rows[0].id).partition("#")[0].removeprefix("catalogue/")
        musts = sum(row.level is Level.MUST for row in rows)
        lines.append(f"| [{topic}]({file}) | {len(rows)} | {musts} |")
    return "\n".join(lines) + "\n"


def _page(topic: str, rows: Sequence[Requirement], proofs: Proofs) -> str:
    lines = [f"# {topic}", "", NOTE, "", "[All topics](index.md)", ""]
    for row in rows:
        lines += [*_row(row, proofs), ""]
    return "\n".join(lines).rstrip() + "\n"


def _row(row: Requirement, proofs: Proofs) -> Iterator[str]:
    yield f'<a id="{row.id}"></a>'
    yield f"## `{row.id}`"
    yield ""
    yield f"**{row.level}** {shown(row.text)}"
    yield ""
    yield f"- where: {' and '.join(row.modes)}; {', '.join(row.dialects)}"
    yield f"- weight: {_weight(row)}"
    yield f"- to do: {shown(row.hint)}"
    yield from (f"- breaks {shown(effect)}" for effect in row.breaks)
    seeds = proofs.catalogue.seeds
    yield from (
        f"- source: {shown(seeds.get(one.seed, one.seed))}, line {one.line}: {_code(one.quote)}" for one in row.source
    )
    yield f"- scenarios: {_named(proofs.judging[row.id])}"
    yield f"- killed miniatures: {_named(proofs.kills.get(row.id, ()))}"


def _weight(row: Requirement) -> str:
    if row.level is Level.MUST and not row.compat:
        return "a violation fails strict and is a warning at compat: it harms no real client"
    weight = "fails both levels" if row.level is Level.MUST else "is a warning at both levels"
    said = (f"a violation {weight}; at its worst {HARMS[row.harm]}.", shown(row.warns), shown(row.compat_why))
    return " ".join(filter(None, said))


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(f"`{name}`" for name in names[:SHOWN]) + more or "none"


def _code(words: str) -> str:
    """Words as code, between more backticks than stand in them."""
    fence = "`" * (max(map(len, re.findall("`+", words)), default=0) + 1)
    return f"{fence} {words} {fence}" if "`" in words else f"`{words}`"
