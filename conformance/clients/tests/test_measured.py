"""What the catalogue says that real clients do with wrong answers is what they do: all of it is measured again."""

from __future__ import annotations

from dataclasses import replace

from behaviours import CHANGES, answers, behaviours
from measure import differences, pinned_versions, versions
from measuring import MEASURED, measure

from clients import installed
from wireproof_mocks.miniatures import FAULTS

PINNED = behaviours()
TO_DO = "if that is right, run `python conformance/clients/tests/measure.py --write` and python tools/generate.py"


def test_what_is_pinned_is_what_clients_do() -> None:
    installed()
    differing = list(differences(PINNED, measure(answers(PINNED))))
    assert not differing, "\n".join([*differing, TO_DO])


def test_the_versions_are_those_that_were_measured() -> None:
    installed()
    assert versions() == pinned_versions(), TO_DO


def test_each_way_to_answer_wrongly_is_that_of_a_miniature_or_made_here() -> None:
    assert {one.fault for one in PINNED if one.fault} <= FAULTS.keys()
    assert {(one.requirement, one.form) for one in PINNED if not one.fault} == CHANGES.keys()


def test_each_pinned_client_is_measured() -> None:
    assert {client for one in PINNED for client in one.effects} <= {one.name for one in MEASURED}


def test_what_a_client_does_otherwise_is_told() -> None:
    one = replace(PINNED[0], effects={"a": "exception", "b": "exception"})
    found = {(one.requirement, one.form): {"b": "the text is lost", "c": "exception"}}
    differing = list(differences([one], found))
    assert [line.partition(f"{one.form}: ")[2] for line in differing] == [
        "a: as usual; pinned is: exception",
        "b: the text is lost; pinned is: exception",
        "c: exception; pinned is: as usual",
    ]
    assert list(differences([one], {(one.requirement, one.form): dict(one.effects)})) == []
