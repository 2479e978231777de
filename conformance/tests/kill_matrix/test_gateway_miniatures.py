"""Each fault of a gateway is found in front of an upstream, under its own requirement and no other."""

from __future__ import annotations

import dataclasses
import http.client
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.target import Backend, Target
from wireproof.model.verdict import Verdict
from wireproof.results.certify import certify
from wireproof.scenarios import SCENARIOS
from wireproof.targets.gateway import upstream
from wireproof_mocks.miniatures.middleware import WithFaults
from wireproof_mocks.miniatures.turn_faults import GATEWAY_FAULTS
from wireproof_proxy.http.wsgi import wsgi_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from wireproof_mocks.miniatures import Fault

PLAYED = [
    one
    for one in SCENARIOS
    if one.backend is Backend.ENDPOINT
    or one.name.startswith("untouched-")
    or one.name in {"text-hello", "tool-loop", "finish-length", "messages-stop-sequence", "param-sampling"}
]
BROKEN = {Verdict.FAIL, Verdict.WARN, Verdict.ERROR}
OF_THE_CONNECTION = {"date", "server", "transfer-encoding"}
SECONDS = 30.0


@dataclasses.dataclass(frozen=True)
class PassingOn:
    """A gateway that passes everything on to the upstream at this host and port."""

    upstream: str

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterator[bytes]:
        """Answer as the upstream does, piece by piece."""
        sent = {
            name.removeprefix("HTTP_").replace("_", "-"): value
            for name, value in environ.items()
            if name == "CONTENT_TYPE" or (name.startswith("HTTP_") and name not in {"HTTP_HOST", "HTTP_CONNECTION"})
        }
        with closing(http.client.HTTPConnection(self.upstream, timeout=SECONDS)) as connection:
            connection.request(environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["wsgi.input"].read(), sent)
            answer = connection.getresponse()
            kept = [item for item in answer.getheaders() if item[0].lower() not in OF_THE_CONNECTION]
            start_response(f"{answer.status} {answer.reason}", kept)
            yield from iter(partial(answer.read1, 2**16), b"")


@pytest.fixture(scope="module")
def behind() -> Iterator[Target]:
    """The upstream as a target, for gateways in front of it."""
    with upstream() as up:
        yield Target(
            base_url=up.base_url, model="codex", api_key=up.key, dialects=(Dialect.OPENAI_JSON, Dialect.MESSAGES),
            default_mode=Dialect.OPENAI_JSON, backend=Backend.ENDPOINT,
        )  # fmt: skip


def broken(behind: Target, *faults: Fault) -> set[str]:
    gateway = WithFaults(app=PassingOn(behind.base_url.removeprefix("http://").removesuffix("/v1")), faults=faults)
    with wsgi_server(gateway, "127.0.0.1", 0, turns=16) as server:
        target = dataclasses.replace(behind, base_url=server.url)
        certificate = certify(target, PLAYED, load())
    assert certificate.counts[Verdict.PASS] > 50
    return {one.requirement for one in certificate.outcomes if one.verdict in BROKEN}


def test_without_a_fault_nothing_is_found(behind: Target) -> None:
    assert broken(behind) == set()


@pytest.mark.parametrize("fault", GATEWAY_FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_found_under_its_own_requirement(behind: Target, fault: Fault) -> None:
    assert broken(behind, fault) == {fault.breaks}


def test_every_row_has_a_fault() -> None:
    rows = {one.exercises[0] for one in SCENARIOS if one.backend is Backend.ENDPOINT}
    assert {fault.breaks for fault in GATEWAY_FAULTS} == rows
