from __future__ import annotations

from operator import attrgetter

import pytest
from wireproof_fidelity.table import RECORDINGS

from wireproof_codex.methods.table import METHODS
from wireproof_codex.versions import version as versions
from wireproof_codex.versions.changes import RECORDED, STABLE
from wireproof_codex.versions.failures import CAUSES_0_89, INCOMPLETE_0_89
from wireproof_codex.versions.marks import known, minor
from wireproof_codex.versions.names import FIELDS, hidden_fields
from wireproof_codex.versions.version import NEWEST, VERSIONS, derive, unmeasured

# How many requests each version was seen to accept. Of newer ones the recordings list them (`test_names`).
ACCEPTED = {
    "0.89.0": 53,
    "0.90.0": 54,
    "0.92.0": 55,
    "0.93.0": 56,
    "0.95.0": 59,
    "0.96.0": 60,
    "0.99.0": 63,
    "0.104.0": 66,
    "0.105.0": 69,
    "0.106.0": 74,
    "0.107.0": 74,
    "0.110.0": 57,
    "0.113.0": 62,
    "0.114.0": 64,
    "0.115.0": 72,
    "0.118.0": 74,
    "0.125.0": 89,
    "0.134.0": 111,
    "0.142.0": 124,
    "0.150.0": 156,
    "0.160.0": 170,
    "0.169.0": 187,
}


@pytest.mark.parametrize(("number", "count"), ACCEPTED.items(), ids=ACCEPTED)
def test_a_version_accepts_as_many_methods_as_it_was_seen_to(number: str, count: int) -> None:
    methods = VERSIONS[number].requests.methods
    assert len(methods) == len(set(methods)) == count


@pytest.mark.each("number", VERSIONS)
def test_every_version_knows_all_that_it_needs(number: str) -> None:
    version = VERSIONS[number]
    assert version.number == number
    assert set(version.failures.causes) == set(CAUSES_0_89)
    assert set(version.failures.incomplete) == set(INCOMPLETE_0_89)
    assert {*version.requests.gated_methods, *version.requests.gated_params} <= {*version.requests.methods}


def test_every_stable_version_is_played_and_made_once() -> None:
    numbers = STABLE
    assert list(VERSIONS) == numbers == sorted(set(numbers), key=lambda one: [int(part) for part in one.split(".")])
    assert VERSIONS["0.142.5"] is VERSIONS["0.142.5"]
    assert list(VERSIONS.values())[-1] is NEWEST
    assert "0.91.0" not in VERSIONS


def test_a_version_that_was_not_measured_is_played_as_the_newest_one_before_it() -> None:
    for number, version in VERSIONS.items():
        earlier = [recorded for recorded in RECORDED if minor(recorded) <= minor(number)]
        assert version.played_as == (number if number in earlier else earlier[-1])
        assert (unmeasured(version) is None) is (number in earlier)
        if not version.seen_in:
            played = derive(version.played_as)
            assert version.requests.methods == played.requests.methods
            assert (version.messages, version.turns, version.stored) == (played.messages, played.turns, played.stored)
    assert unmeasured(VERSIONS["0.142.5"]) == "Codex 0.142.5 was not measured: it is played as 0.142.0"


def test_of_a_version_that_was_not_measured_the_changes_before_it_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "RECORDED", ["0.125.0"])
    made = derive("0.129.0")
    assert made.seen_in == ("0.128.0", "0.129.0")
    seen = "it is played as 0.125.0, with the changes seen in 0.128.0, 0.129.0"
    assert unmeasured(made) == f"Codex 0.129.0 was not measured: {seen}"


def test_what_is_called_recorded_was_recorded() -> None:
    assert set(RECORDED) == {path.name for path in RECORDINGS.iterdir() if path.is_dir()}


def test_patches_are_alike_but_for_their_number() -> None:
    assert VERSIONS["0.153.4"].requests.methods == VERSIONS["0.153.0"].requests.methods
    assert VERSIONS["0.153.4"].messages.hidden == VERSIONS["0.153.0"].messages.hidden


def test_every_method_that_is_played_is_one_of_some_version() -> None:
    assert set(METHODS) <= {method for version in VERSIONS.values() for method in version.requests.methods}


def test_the_newest_hides_only_what_went() -> None:
    for place, names in hidden_fields(NEWEST.number).items():
        assert names <= {name for number in VERSIONS for name in known(FIELDS[place], number)}
    assert hidden_fields(NEWEST.number)["modelProvider/capabilities/read"] == {"namespaceTools"}
    assert set(NEWEST.messages.hidden) == set(FIELDS)


@pytest.mark.parametrize(
    ("change", "before", "since"),
    [
        ("requests.opt_out", "0.98.0", "0.99.0"),
        ("messages.emitted_at", "0.144.6", "0.145.0"),
        ("requests.checks_turn_id", "0.133.0", "0.134.0"),
        ("calls.single_text", "0.113.0", "0.114.0"),
        ("turns.ends_with_last_text", "0.145.0", "0.146.0"),
    ],
)
def test_a_change_holds_from_the_version_in_which_it_was_seen(change: str, before: str, since: str) -> None:
    value = attrgetter(change)
    assert (value(VERSIONS[before]), value(VERSIONS[since])) == (False, True)


def test_counts_and_ends_are_sent_when_they_were_seen_to_be() -> None:
    early = {number: VERSIONS[number].counts.early for number in ("0.130.0", "0.131.0")}
    assert early == {"0.130.0": True, "0.131.0": False}
    unsent = {number: "rawResponse/completed" in VERSIONS[number].messages.unsent for number in ("0.144.6", "0.145.0")}
    assert unsent == {"0.144.6": True, "0.145.0": False}
    metadata = {
        number: VERSIONS[number].messages.hidden.get("rawResponse/completed") for number in ("0.150.0", "0.151.0")
    }
    assert metadata == {"0.150.0": {"usageMetadata"}, "0.151.0": frozenset()}


def test_a_turn_without_input_asks_the_model_when_it_was_seen_to() -> None:
    asked = {number: VERSIONS[number].turns.without_input for number in ("0.132.0", "0.133.0")}
    assert asked == {"0.132.0": "refused", "0.133.0": "asks"}
