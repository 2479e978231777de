"""Each miniature client is killed by its own requirement and no other, and the faultless one passes everything."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

import httpx
import pytest

from wireproof.clients.judged import certify_client, judge_client_function
from wireproof.clients.program import ClientCommand, ProgramClient, heed_interrupts
from wireproof.judging.client_checks import CLIENT_CHECKS
from wireproof.model.catalogue import load
from wireproof.model.dialect import DEFAULT, Dialect
from wireproof.model.scenario import Form, Mode
from wireproof.model.verdict import Verdict
from wireproof.scenarios.judged_clients import CLIENT_SCENARIOS
from wireproof_mocks.clients import FAULTS, FORMS, MiniatureClient, NoAnswerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof.clients.judged import Asked
    from wireproof.results.certificate import Certificate
    from wireproof_mocks.clients.forms import ReceivedAnswer

CASES = {
    f"{surface}-{mode}": Form(dialect, mode)
    for surface, dialect in {"chat": DEFAULT, "responses": Dialect.RESPONSES, "messages": Dialect.MESSAGES}.items()
    for mode in Mode
}
BROKEN = {Verdict.FAIL, Verdict.WARN}


def asking(kind: type[MiniatureClient], form: Form) -> Callable[[Asked], None]:
    def ask(asked: Asked) -> None:
        shape = FORMS[form.dialect.spec.surface]
        headers = shape.headers(asked.key)
        with httpx.Client(base_url=asked.base_url, transport=asked.transport, headers=headers, timeout=30.0) as http:
            client = kind(http, shape, model=asked.model, stream=form.mode is Mode.STREAM)
            for prompt in asked.prompts:
                with contextlib.suppress(NoAnswerError):
                    client.ask(prompt)

    return ask


def broken(certificate: Certificate) -> set[str]:
    return {one.requirement for one in certificate.outcomes if one.verdict in BROKEN}


@pytest.mark.parametrize("form", CASES.values(), ids=CASES)
def test_the_faultless_client_passes_with_nothing_unobserved(form: Form) -> None:
    certificate = judge_client_function(asking(MiniatureClient, form))
    assert broken(certificate) == set()
    assert certificate.unobserved == {}
    assert {found for run in certificate.runs for found in run.exchanges} == {form}


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.prepare is None])
def test_a_client_is_killed_by_its_own_requirement_and_no_other(name: str) -> None:
    row = load().find(FAULTS[name].breaks)
    for form in CASES.values():
        certificate = judge_client_function(asking(FAULTS[name].kind, form))
        applies = row.speaks_of(form) and not CLIENT_CHECKS[row.id].absent(form)
        assert broken(certificate) == ({row.id} if applies else set()), form


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.prepare is not None])
def test_a_program_is_killed_by_its_own_requirement_and_no_other(name: str) -> None:
    """Faults of a process show only where there is one."""
    heed_interrupts()  # as the command and the suite do: these tests may run in the background of a shell
    leaving = [one for one in CLIENT_SCENARIOS if one.leaves]
    for fault, found in {"": set[str](), name: {FAULTS[name].breaks}}.items():
        words = (sys.executable, "-m", "wireproof_mocks.clients", "--stream", *(["--fault", fault] if fault else []))
        client = ProgramClient(command=ClientCommand(words=words, variables={}))
        assert broken(certify_client(client, scenarios=leaving)) == found


class _PiecesDecodedAlone(MiniatureClient):
    """Reads each piece of a stream as text by itself, so that a character that two pieces share is lost."""

    def read(self, response: httpx.Response) -> ReceivedAnswer:
        pieces = response.iter_bytes
        response.iter_bytes = lambda *_: (piece.decode(errors="replace").encode() for piece in pieces())  # type: ignore[method-assign]
        return super().read(response)


@pytest.mark.parametrize("form", [form for form in CASES.values() if form.mode is Mode.STREAM])
def test_a_client_that_loses_the_characters_at_the_ends_of_pieces_is_found_by_both_that_it_spoils(form: Form) -> None:
    certificate = judge_client_function(asking(_PiecesDecodedAlone, form))
    assert broken(certificate) == {"client.text-replayed", "client.call-replayed"}
