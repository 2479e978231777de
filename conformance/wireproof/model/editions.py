"""Editions: the catalogue as it was at a date, frozen, so that a result is judged by the rows that it was made by.

`requirements/editions/DATE.json` holds of each row what decides a verdict, one row in a line; what a row says to people
(its sentence, hint and sources) is taken from the row of today. `frozen_text` writes such a file, `docs/freeze.py` puts
it there, and no frozen file changes after the release that brought it.

A check that would find more than it did when an edition was frozen is a new row with a new id: older editions do not
have it, and the judge passes over what it finds (`Catalogue.later`). So a newer suite never fails an old certificate. A
row that was withdrawn since has no check any more; an older edition is judged without it, and says so
(`Catalogue.withdrawn`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from wireproof.model.catalogue import Catalogue, CatalogueError, load, read_fields
from wireproof.model.requirement import Requirement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from importlib.resources.abc import Traversable

WORDS = frozenset({"id", "text", "hint", "source", "breaks", "compat_why", "warns"})
"""The fields of a row that decide no verdict, and its id."""
_READ = frozenset({"spoils", "needs"})
"""What is read of a row at all behind which fault: the judge's own, which tells no right answer from a wrong one."""
_DECIDING = tuple(one for one in dataclasses.fields(Requirement) if one.name not in WORDS | _READ)
_ALWAYS = frozenset({"dialects", "modes"})
"""Fields that stand in every frozen row: their default grows with the dialects that there are."""


class UnknownEditionError(LookupError):
    """No edition has this date, or none with these rows; the message offers those that there are."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What differs between two catalogues, in what decides verdicts."""

    added: tuple[str, ...]
    withdrawn: tuple[str, ...]
    changed: Mapping[str, tuple[str, ...]]
    """Requirement → each field that differs, as `level: SHOULD, was MUST`."""

    def __bool__(self) -> bool:
        """Whether anything does."""
        return bool(self.added or self.withdrawn or self.changed)


def dates() -> tuple[str, ...]:
    """The dates of the editions that are frozen, the oldest first."""
    return tuple(sorted(entry.name.removesuffix(".json") for entry in _folder().iterdir()))


def at(date: str) -> Catalogue:
    """The frozen edition of a date.

    Raises:
        UnknownEditionError: there is none.
    """
    if date not in dates():
        raise UnknownEditionError(f"there is no edition {date}; there are {_named(dates())}")
    return _frozen(date)


def of_result(date: str) -> Catalogue:
    """The catalogue of that date, the current one if it is of that date.

    Raises:
        UnknownEditionError: there is none.
    """
    return load() if load().date == date else at(date)


def with_rows(date: str, digest: str) -> Catalogue:
    """The catalogue of that date with exactly these rows, the current one or an edition.

    Raises:
        UnknownEditionError: there is none.
    """
    there = [load(), *(_frozen(one) for one in dates())]
    found = next((one for one in there if (one.date, digest_of(one)) == (date, digest)), None)
    if found is not None:
        return found
    known = _named(tuple(dict.fromkeys(one.date for one in there)))
    other = " with these rows" if any(one.date == date for one in there) else ""
    raise UnknownEditionError(f"unknown edition {date}{other}; this version of Wireproof knows {known}")


def digest_of(catalogue: Catalogue) -> str:
    """What names the rows of a catalogue, as far as they decide verdicts."""
    return hashlib.sha256(frozen_text(catalogue).encode()).hexdigest()


def frozen_text(catalogue: Catalogue) -> str:
    """The text of an edition's file."""
    rows = {row.id: _deciding(row) for row in catalogue.requirements} | {
        name: dict(table) for name, table in catalogue.withdrawn.items()
    }
    lines = (f"  {json.dumps(name)}: {json.dumps(table)}" for name, table in sorted(rows.items()))
    body = ",\n".join(lines)
    return f'{{\n "date": {json.dumps(catalogue.date)},\n "rows": {{\n{body}\n }}\n}}\n'


def changes(before: Catalogue, after: Catalogue) -> Changes:
    """What a later catalogue has changed."""
    old, new = ({row.id: _deciding(row) for row in one.requirements} for one in (before, after))
    old |= {name: dict(table) for name, table in before.withdrawn.items()}
    differing = {name: tuple(_differing(old[name], table)) for name, table in new.items() if name in old}
    return Changes(
        added=tuple(name for name in new if name not in old),
        withdrawn=tuple(name for name in old if name not in new),
        changed={name: fields for name, fields in differing.items() if fields},
    )


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for one in _DECIDING:
        before, after = (table.get(one.name, _plain(one.default)) for table in (old, new))
        if before != after:
            yield f"{one.name}: {_said(after)}, was {_said(before)}"


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _deciding(row: Requirement) -> dict[str, Any]:
    """The fields of a row that decide verdicts and are not the default."""
    values = {one.name: (getattr(row, one.name), one.default) for one in _DECIDING}
    return {name: _plain(value) for name, (value, default) in values.items() if name in _ALWAYS or value != default}


def _plain(value: object) -> object:
    """A value of a row as JSON has it."""
    if isinstance(value, Enum):
        return value.value
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


@cache
def _frozen(date: str) -> Catalogue:
    text = _folder().joinpath(f"{date}.json").read_text(encoding="utf-8")
    return parsed(text, current=load())


def parsed(text: str, *, current: Catalogue) -> Catalogue:
    """The catalogue of an edition's file; the words of its rows are those of the current catalogue.

    Raises:
        CatalogueError: it is no such file.
    """
    try:
        data = json.loads(text)
        date, rows = data["date"], data["rows"]
        there = {name: read_fields(f"edition {date}", name, table) for name, table in rows.items()}
    except (LookupError, TypeError, ValueError) as error:  # a CatalogueError is a ValueError
        raise error if isinstance(error, CatalogueError) else CatalogueError(f"no edition: {error}") from error
    return dataclasses.replace(
        current,
        date=date,
        # In the order of today's catalogue, which is that of reports.
        requirements=tuple(_row(row, there[row.id]) for row in current.requirements if row.id in there),
        later=frozenset(row.id for row in current.requirements if row.id not in there),
        withdrawn={name: rows[name] for name in there if name not in current.by_id},
    )


def _row(words: Requirement, fields: Mapping[str, Any]) -> Requirement:
    said = {name: getattr(words, name) for name in WORDS | _READ}
    return Requirement(**said, **fields)


def _folder() -> Traversable:
    return files("wireproof").joinpath("requirements", "editions")


def _named(names: Sequence[str]) -> str:
    return ", ".join(names)
