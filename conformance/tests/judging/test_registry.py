"""Registering checks: one per requirement, as a value that can be joined."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Iterator

import pytest

from wireproof.judging.checks import CHECKS, shapes
from wireproof.judging.registry import CheckError, Checks, Seen, no_header
from wireproof.reading.exchange import Exchange
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.violation import MemberFault, Members, Place, StatusDue, Violation

Make = Callable[..., Exchange]


def greeting(exchange: Exchange) -> Iterator[Seen]:
    yield Seen("no greeting", exchange.body_place)
    yield Seen("no smile")


def test_the_id_is_stamped_on_what_a_check_finds(whole: Make) -> None:
    check = Checks()
    assert check("my.greeting", "my.smile")(greeting) is greeting
    exchange = whole("text-hello", "Hm.")
    for name in ("my.greeting", "my.smile"):
        assert list(check.look(name, exchange)) == [
            Violation(requirement=name, seen="no greeting", place=exchange.body_place),
            Violation(requirement=name, seen="no smile"),
        ]


def test_all_that_was_seen_is_in_the_violation() -> None:
    about, place = Members(fault=MemberFault.MISSING, names=("a", "b")), Place(offset=1, length=2)
    due = StatusDue(came=200, due=400)
    lost = frozenset({Facet.USAGE})
    seen = Seen(
        "text",
        place,
        strict_only=True,
        hint="hint",
        kind="way",
        differs="cut",
        part=Facet.TEXT,
        spoils=lost,
        about=about,
        counts=True,
        status=due,
    )
    # Each field is another than by itself: none can be forgotten.
    assert all(getattr(seen, one.name) != one.default for one in dataclasses.fields(Seen))
    assert seen.of("my.row") == Violation(
        requirement="my.row",
        seen="text",
        place=place,
        strict_only=True,
        hint="hint",
        kind="way",
        differs="cut",
        part=Facet.TEXT,
        spoils=lost,
        about=about,
        counts=True,
        status=due,
    )
    assert str(about) == "a and b are missing"


def test_a_missing_header_is_named() -> None:
    seen = no_header("x-a", "say b", strict_only=True)
    assert (seen.seen, seen.strict_only, seen.spoils) == ("there is no x-a header, it should say b", True, UNTOUCHED)
    assert str(seen.about) == "x-a is missing among the headers"
    assert no_header("x-a").seen == "there is no x-a header"


def test_a_check_gets_all_exchanges_that_it_is_to_compare(whole: Make) -> None:
    check = Checks()
    check("my.pair")(lambda *exchanges: [Seen(f"{len(exchanges)} exchanges")])
    exchange = whole("text-hello", "Hm.")
    assert [found.seen for found in check.look("my.pair", exchange, exchange)] == ["2 exchanges"]


def test_a_requirement_without_a_check_shows_nothing(whole: Make) -> None:
    assert list(Checks().look("my.greeting", whole("text-hello", "Hm."))) == []


def test_an_id_is_registered_once() -> None:
    check = Checks()
    check("my.greeting")(greeting)
    with pytest.raises(CheckError, match=r"^my\.greeting has a check already"):
        check("my.greeting")(greeting)
    with pytest.raises(CheckError, match=r"^shapes\.late-id has a check already"):
        Checks(CHECKS, shapes.check)


def test_joined_checks_are_those_of_all_parts_and_leave_the_parts_alone() -> None:
    check = Checks()
    check("my.greeting")(greeting)
    joined = Checks(shapes.check, check)
    assert [*joined] == [*shapes.check, "my.greeting"]
    assert joined["my.greeting"] is greeting
    assert "my.greeting" not in CHECKS


def test_a_module_of_checks_can_be_loaded_again() -> None:
    assert [*importlib.reload(shapes).check] == ["shapes.late-id"]
