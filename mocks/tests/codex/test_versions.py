from __future__ import annotations

from assay_mocks.codex.failures import CAUSES, INCOMPLETE
from assay_mocks.codex.methods import METHODS
from assay_mocks.codex.versions import NEWEST, VERSIONS


def test_0_169_accepts_187_methods_and_every_one_that_is_played() -> None:
    version = VERSIONS["0.169.0"]
    assert version is NEWEST
    assert len(set(version.methods)) == len(version.methods) == 187
    assert {*version.gated, *version.gated_fields} <= set(version.methods)


def test_0_89_still_has_the_v1_methods() -> None:
    version = VERSIONS["0.89.0"]
    assert len(set(version.methods)) == len(version.methods) == 53
    assert {"newConversation", "sendUserMessage", "interruptConversation"} <= set(version.methods)


def test_every_method_that_is_played_is_one_of_some_version() -> None:
    assert set(METHODS) <= {method for version in VERSIONS.values() for method in version.methods}


def test_every_version_knows_how_each_failure_looks() -> None:
    for version in VERSIONS.values():
        assert set(version.causes) == set(CAUSES)
        assert set(version.incomplete) == set(INCOMPLETE)
