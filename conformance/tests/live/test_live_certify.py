"""The whole command against an endpoint with a model: what it says, what it costs, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result
from live_endpoint import KEY, MODEL, Server, serving
from live_goods import PLAIN

from wireproof.cli import root
from wireproof.results.certificate import ExitStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

ENOUGH = 90


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(PLAIN) as server:
        yield server


def certified(server: Server, *more: str) -> Result:
    words = ("certify", "--url", server.url(PLAIN.name), "--api-key-env", "LIVE_KEY", *more)
    return CliRunner().invoke(root.root, words, env={"LIVE_KEY": KEY})


def test_a_whole_run_says_its_cost_fits_in_90_requests_and_is_partial(server: Server) -> None:
    result = certified(server)
    assert result.exit_code == ExitStatus.PARTIAL, result.output
    said = result.output.splitlines()[0]
    assert said.startswith(f"a model answers at {server.url(PLAIN.name)}: the run sends 85 requests")
    assert "up to 100 requests and 20,000 tokens" in said
    assert f"model {MODEL}, live backend, openai-json, responses" in result.output
    assert "nothing broken" in result.output
    assert server.requests[PLAIN.name] <= ENOUGH


def test_a_partial_result_can_be_accepted_and_one_scenario_asked_for(server: Server) -> None:
    result = certified(server, "--only", "live-say", "--model", MODEL)
    assert result.exit_code == ExitStatus.CERTIFIED, result.output
    assert "the run sends 4 requests" in result.output


@pytest.mark.parametrize("bound", [("--max-requests", "101"), ("--max-tokens", "20001")])
def test_more_than_the_usual_cost_needs_consent(server: Server, bound: tuple[str, str]) -> None:
    result = certified(server, "--only", "live-say", *bound)
    assert result.exit_code == ExitStatus.USAGE
    assert "--yes accepts more than 100 and 20,000" in result.output
    asked = server.requests[PLAIN.name]
    accepted = certified(server, "--only", "live-say", *bound, "--yes")
    assert accepted.exit_code == ExitStatus.CERTIFIED, accepted.output
    assert server.requests[PLAIN.name] - asked > 4


def test_a_bound_leaves_the_rest_unobserved(server: Server) -> None:
    result = certified(server, "--only", "live-say", "--max-requests", "5")
    assert result.exit_code == ExitStatus.PARTIAL
    assert "the run's 5 requests are spent; --max-requests sets the bound" in result.output
    assert server.requests[PLAIN.name] == 5, "those count that find out what the target is"


def test_a_bound_counts_every_run(server: Server) -> None:
    result = certified(server, "--only", "live-say", "--max-requests", "9", "--repeat", "3")
    assert result.exit_code == ExitStatus.PARTIAL
    assert "each of 3 runs sends 4 requests" in result.output
    assert server.requests[PLAIN.name] == 9
