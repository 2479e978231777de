"""Editions: what is frozen is read as it was, and the catalogue of today is an edition or its difference is listed."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from wireproof.model import editions
from wireproof.model.catalogue import Catalogue, CatalogueError, load
from wireproof.model.editions import UnknownEditionError, changes, digest_of, frozen_text, parsed
from wireproof.model.requirement import Level, Requirement

FOLDER = Path(editions.__file__).parents[1] / "requirements" / "editions"
PAGE = Path(__file__).parents[3] / "docs" / "editions.md"


def later(catalogue: Catalogue) -> Catalogue:
    """A catalogue of tomorrow: a row came, one went, one weighs less."""
    first, second, *rest = catalogue.requirements
    new = dataclasses.replace(first, id="http.of-tomorrow")
    milder = dataclasses.replace(second, level=Level.SHOULD)
    return dataclasses.replace(catalogue, date="2027-01-01", requirements=(new, milder, *rest))


def test_the_newest_edition_is_the_catalogue_or_the_page_lists_what_differs() -> None:
    difference = changes(editions.at(editions.dates()[-1]), load())
    listed = PAGE.read_text(encoding="utf-8").partition("## Since then")[2]
    named = set(re.findall(r"^- `([a-z0-9.-]+)`", listed, re.MULTILINE))
    assert named == {*difference.added, *difference.withdrawn, *difference.changed}


@pytest.mark.parametrize("date", editions.dates())
def test_an_edition_is_frozen_as_it_is_read(date: str) -> None:
    edition = editions.at(date)
    assert frozen_text(edition) == (FOLDER / f"{date}.json").read_text(encoding="utf-8")
    assert edition.date == date
    assert edition.requirements


def test_what_a_frozen_catalogue_says_is_what_it_said() -> None:
    frozen = parsed(frozen_text(load()), current=load())
    assert frozen.requirements == load().requirements
    assert (frozen.later, dict(frozen.withdrawn)) == (frozenset(), {})
    assert not changes(frozen, load())


def test_a_later_catalogue_reads_an_older_edition_as_it_was() -> None:
    then, now = load(), later(load())
    read = parsed(frozen_text(then), current=now)
    gone, milder = then.requirements[0].id, then.requirements[1]
    assert read.later == {"http.of-tomorrow"}
    assert set(read.withdrawn) == {gone}
    assert read.by_id[milder.id].level is milder.level is Level.MUST
    assert digest_of(read) == digest_of(then) != digest_of(now)
    found = changes(read, now)
    assert (found.added, found.withdrawn) == (("http.of-tomorrow",), (gone,))
    assert found.changed == {milder.id: ("level: SHOULD, was MUST",)}


def test_what_a_row_says_to_people_decides_nothing() -> None:
    first, *rest = load().requirements
    other = dataclasses.replace(first, text="Another sentence.", hint="Do so.")
    assert digest_of(dataclasses.replace(load(), requirements=(other, *rest))) == digest_of(load())


def test_every_field_that_decides_is_frozen() -> None:
    """A new field of a row is either frozen or one of the words: there is no third."""
    fields = {one.name for one in dataclasses.fields(Requirement)}
    assert fields >= editions.WORDS
    for row in load().requirements[:5]:
        again = parsed(frozen_text(load()), current=load()).by_id[row.id]
        assert dataclasses.asdict(again) == dataclasses.asdict(row)


@pytest.mark.parametrize("date", ["2026-01-01", "", "../catalogue", "2026-11-22.json"])
def test_an_edition_that_is_not_there_is_named_with_those_that_are(date: str) -> None:
    with pytest.raises(UnknownEditionError, match=f"there are .*{editions.dates()[0]}"):
        editions.at(date)


def test_an_edition_is_found_by_its_rows() -> None:
    date = editions.dates()[0]
    assert editions.with_rows(date, digest_of(editions.at(date))).by_id == editions.at(date).by_id
    assert editions.of_result(load().date) is load()
    with pytest.raises(UnknownEditionError, match=f"^unknown edition {date} with these rows; this"):
        editions.with_rows(date, "0" * 64)
    with pytest.raises(UnknownEditionError, match=r"^unknown edition 2031-05-05; this"):
        editions.with_rows("2031-05-05", "0" * 64)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no edition"),
        ("[]", "no edition"),
        ('{"date": "2026-11-22"}', "no edition: 'rows'"),
        (json.dumps({"date": "d", "rows": {"http.a": {"level": "MAY"}}}), "edition d: http.a: level is 'MAY'"),
        (json.dumps({"date": "d", "rows": {"http.a": {"colour": 1}}}), "unknown field 'colour'"),
        (json.dumps({"date": "d", "rows": {"A": {}}}), "an id is lower-case words"),
    ],
)
def test_a_file_that_is_no_edition_is_refused(text: str, said: str) -> None:
    with pytest.raises(CatalogueError, match=re.escape(said)):
        parsed(text, current=load())
