"""The reference proxy's wire and answers, scenario by scenario and form by form, as files that a person can read.

`snapshots/wire` guards against drift of our own; `snapshots/answers` is what any conforming proxy must answer.
After a wanted change: `python -m pytest conformance/tests/test_snapshots.py --snapshot-update`, then read the diff.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from wireproof.judging import stored_answers
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario
from wireproof.report import rendering
from wireproof.results.certify import certify
from wireproof.scenarios import SCENARIOS
from wireproof.targets.bundled import proxy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _pytest.mark import ParameterSet
    from syrupy.assertion import SnapshotAssertion
    from syrupy.location import PyTestLocation
    from syrupy.types import SnapshotIndex

    from wireproof.model.scenario import Form, Scenario
    from wireproof.results.certificate import Certificate

ROOT = Path(__file__).parents[2] / "snapshots"


def named(scenario: Scenario, form: Form) -> str:
    """The name of a case, `<dialect>/<scenario>.<mode>`."""
    return stored_answers.file_name(scenario.name, form).removesuffix(".txt")


# The proxy here has the mock of Codex behind it; its certificate in front of another agent is a test of its own.
FORMS = [(scenario, form) for scenario in SCENARIOS if scenario.backend is None for form in scenario.forms(Dialect)]
CASES = [pytest.param(scenario, form, id=named(scenario, form)) for scenario, form in FORMS]
CHATS = [case for case, (scenario, _) in zip(CASES, FORMS, strict=True) if isinstance(scenario, ConversationScenario)]

# Our folders are named for what they hold, not for this module; no other module writes there.
pytestmark = pytest.mark.filterwarnings(r"ignore:\s*Can not relate snapshot")


class Readable(SingleFileSnapshotExtension):
    """One text file per case, `snapshots/<folder>/<name of the case>.txt`; the name is `<dialect>/<scenario>.<mode>`.

    Syrupy reads the name of a snapshot back from the last part of its path.
    """

    _write_mode = WriteMode.TEXT
    file_extension = "txt"
    folder = ""

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        del test_location
        return str(ROOT / cls.folder)

    @classmethod
    def get_location(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        return f"{cls.dirname(test_location=test_location)}/{index}.{cls.file_extension}"

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        del test_location
        return Path(str(index)).name

    def serialize(self, data: object, **_: object) -> str:
        return str(data)


class Wire(Readable):
    folder = "wire"


class Answers(Readable):
    folder = "answers"


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    """The reference proxy, driven once over a socket."""
    with proxy() as target:
        return certify(target, SCENARIOS, load())


@pytest.mark.each(("scenario", "form"), CASES)
def test_wire(scenario: Scenario, form: Form, certificate: Certificate, snapshot: SnapshotAssertion) -> None:
    run = next(run for run in certificate.runs if run.scenario is scenario)
    assert rendering.document(run.exchanges[form]) == snapshot(name=named(scenario, form), extension_class=Wire)


@pytest.mark.each(("scenario", "form"), CHATS)
def test_answers(scenario: Scenario, form: Form, certificate: Certificate, snapshot: SnapshotAssertion) -> None:
    run = next(run for run in certificate.runs if run.scenario is scenario)
    assert stored_answers.document(run.exchanges[form]) == snapshot(name=named(scenario, form), extension_class=Answers)


@pytest.mark.parametrize(("folder", "cases"), [("wire", CASES), ("answers", CHATS)])
def test_no_file_is_left_of_a_case_that_is_gone(folder: str, cases: Sequence[ParameterSet]) -> None:
    found = {str(path.relative_to(ROOT / folder).with_suffix("")) for path in (ROOT / folder).rglob("*.*")}
    assert sorted(found - {str(case.id) for case in cases}) == []
