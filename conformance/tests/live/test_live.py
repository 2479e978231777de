"""The suite against endpoints with a model: none without a defect is accused, each with one is found by its row.

A sample of the defects is driven; all of them with `--whole`, as in the nightly run. The endpoints are of our own
making: see `live_endpoint`.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from live_defects import (
    CHAT_STREAM,
    CHAT_WHOLE,
    HTTP,
    RESPONSES_STREAM,
    RESPONSES_WHOLE,
    Defect,
)
from live_defects import (
    DEFECTS as PLANTED,
)
from live_defects import (
    REQUESTS as REQUESTED,
)
from live_endpoint import KEY, MODEL, Endpoint, Server, serving
from live_goods import CHATTY, GOODS, IDLE, LAZY, MODELS, NEWER, OLDER, PLAIN, SLOW, SPARE, SPARING, UNFORCED, UNLIMITED
from live_reports import REPORTED, SEVERAL
from live_tastes import MOODY

from wireproof.judging.checks import CHECKS
from wireproof.judging.judge import judge_runs
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.target import Backend, Target
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.requests.cost import cost
from wireproof.results.archive import load as load_runs
from wireproof.results.archive import save
from wireproof.results.certify import certify
from wireproof.scenarios.live import LIVE
from wireproof.targets.budget import REQUESTS as USUAL
from wireproof.targets.budget import TOKENS, Budget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.tests.conftest import TinyServer

    from wireproof.model.scenario import JsonObject, Scenario
    from wireproof.results.certificate import Certificate

pytestmark = pytest.mark.sampled(30)

TARGET = Target(
    base_url="http://127.0.0.1:1/v1",
    model=MODEL,
    api_key=KEY,
    backend=Backend.LIVE,
    dialects=(Dialect.OPENAI_JSON, Dialect.RESPONSES),
)
REQUESTS = 90
"""How many requests a run may need where the model obeys."""
PREFLIGHT = 3
"""How many of them finding out what the endpoint is takes: the models, and a text of each surface."""
FOUND = 0.97
"""The part of the defects that must be found by their rows: that fail, or are warned of."""
STEP = 19
"""Without `--whole`, every so many defects are driven."""
DEFECTS: tuple[Defect, ...] = (*REPORTED, *PLANTED)
WARNED = frozenset(
    {
        "images-dropped",
        "unknown-model-answered",
        "listed-not-found",
        "previous-unnamed",
        "browser-refused",
        "events-sequence-zero",
        "stream-no-done",
        "stream-role-each",
        "stream-created-each",
        "stream-event-line",
        "response-tools-empty",
        "events-done",
        "events-from-one",
        "events-unnamed",
        "error-trace",
    }
)
"""Defects that a run warns of by default: no client was seen to break on them, or their row is only a should."""
UNSEEN = frozenset(
    {
        # OpenAI's types in Python let it be left out, and all measured clients read such a chunk as with null.
        "stream-finish-unnamed",
    }
)
"""Defects that no row that names them finds."""
DRAWN = (*random.Random(24).sample(PLANTED, 84), *REPORTED)  # noqa: S311 (the same ones each time)
"""The defects by which the judge is measured: some of the tables, drawn anew, and all that were reported."""
PAGE = Path(__file__).parents[3] / "docs" / "live.md"
TABLES = {
    "chat completions, whole": CHAT_WHOLE,
    "chat completions, streamed": CHAT_STREAM,
    "Responses, whole": RESPONSES_WHOLE,
    "Responses, streamed": RESPONSES_STREAM,
    "what of a request reaches the model": REQUESTED,
    "HTTP": HTTP,
    "what users of servers report": REPORTED,
}
"""How the page names them."""
BROKEN = {Verdict.FAIL, Verdict.WARN}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(*GOODS, *MODELS, *MOODY, UNFORCED, *(one.endpoint for one in DEFECTS)) as server:
        yield server


def run(
    server: Server, endpoint: Endpoint, budget: Budget | None = None, scenarios: Sequence[Scenario] = LIVE
) -> Certificate:
    target = replace(TARGET, base_url=server.url(endpoint.name))
    return certify(target, scenarios, load(), budget=budget)


def accused(certificate: Certificate) -> dict[str, str]:
    """What fails at the level of live endpoints → what was seen."""
    return {
        outcome.key: str(outcome.findings[:1])
        for outcome in certificate.outcomes
        if outcome.at(VerdictLevel.COMPAT) in {Verdict.FAIL, Verdict.ERROR}
    }


def broken(certificate: Certificate) -> set[str]:
    return {outcome.requirement for outcome in certificate.outcomes if outcome.verdict in BROKEN}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("endpoint", GOODS, ids=lambda one: one.name)
def test_no_endpoint_without_a_defect_is_accused(endpoint: Endpoint, server: Server) -> None:
    certificate = run(server, endpoint)
    assert accused(certificate) == {}
    assert {o.verdict for o in certificate.outcomes} & {Verdict.PASS}
    assert server.requests[endpoint.name] <= REQUESTS - PREFLIGHT + (1 if endpoint in SPARING else 0)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("endpoint", MOODY, ids=lambda one: one.name)
def test_no_endpoint_in_the_taste_of_a_server_is_accused_whatever_mood_its_model_has(
    endpoint: Endpoint, server: Server
) -> None:
    certificate = run(server, endpoint)
    assert accused(certificate) == {}
    assert {o.verdict for o in certificate.outcomes} & {Verdict.PASS}


def test_of_a_model_that_obeys_everything_is_observed(server: Server) -> None:
    certificate = run(server, PLAIN)
    assert {o.key: o.reason for o in certificate.outcomes if o.verdict is Verdict.NOT_OBSERVED} == {}
    assert broken(certificate) == set()


def test_a_model_that_needs_two_tries_gets_them(server: Server) -> None:
    certificate = run(server, LAZY)
    assert {o.key: o.reason for o in certificate.outcomes if o.verdict is Verdict.NOT_OBSERVED} == {}
    assert any(one.earlier for run in certificate.runs for those in run.exchanges.values() for one in those)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("endpoint", [CHATTY, IDLE, SLOW], ids=lambda one: one.name)
def test_a_model_that_does_not_do_what_it_is_asked_is_no_finding(endpoint: Endpoint, server: Server) -> None:
    certificate = run(server, endpoint)
    assert accused(certificate) == {}
    assert broken(certificate) == set()


def test_a_limit_of_tokens_has_the_name_that_the_endpoint_takes(server: Server) -> None:
    certificate = run(server, NEWER)
    (adjustment,) = certificate.target.adjusted.items()
    assert (adjustment[0], adjustment[1].instead, adjustment[1].status) == ("max_tokens", "max_completion_tokens", 400)
    # Nothing is lost by it: answers are cut all the same.
    assert {o.key: o.reason for o in certificate.outcomes if o.verdict is Verdict.NOT_OBSERVED} == {}
    assert sent_with(certificate, "max_tokens") <= {"live-param-max-tokens"}


def test_of_two_names_the_one_that_is_not_taken_is_an_absence(server: Server) -> None:
    certificate = run(server, OLDER)
    assert certificate.target.adjusted == {}
    reasons = {o.key: o.reason for o in certificate.outcomes if o.verdict is Verdict.NOT_OBSERVED}
    assert {key.partition(":")[0] for key in reasons} == {"live-length-completion"}
    assert all(reason.startswith("the target refuses max_completion_tokens: ") for reason in reasons.values())


def test_what_a_prompt_can_do_without_is_left_out_and_what_it_is_about_is_an_absence(server: Server) -> None:
    certificate = run(server, SPARE)
    assert {name: one.instead for name, one in certificate.target.adjusted.items()} == {
        "parallel_tool_calls": "", "stream_options": "",
    }  # fmt: skip
    assert sent_with(certificate, "stream_options") == set()
    reasons = {o.key: o.reason for o in certificate.outcomes if o.verdict is Verdict.NOT_OBSERVED}
    assert reasons["live-stop:chat.whole.text"].startswith("the target refuses stop: ")
    assert "live-calls-two:chat.whole.calls-all-in-order" not in reasons


def test_a_server_that_forces_no_call_at_all_lacks_that_and_has_no_fault(server: Server) -> None:
    certificate = run(server, UNFORCED)
    assert accused(certificate) == {}
    reasons = {o.reason for o in certificate.outcomes if o.requirement == "turn.tool-choice-forced"}
    assert {one.partition(":")[0] for one in reasons} == {"the target refuses tool_choice"}


def test_where_no_limit_is_taken_only_what_is_about_limits_is_not_observed(server: Server) -> None:
    certificate = run(server, UNLIMITED)
    assert all(one.instead == "" for one in certificate.target.adjusted.values())
    reasons = {o.key: o.reason for o in certificate.outcomes if o.verdict is Verdict.NOT_OBSERVED}
    assert {key.partition(":")[0] for key in reasons} == {"live-length", "live-length-completion"}


def test_what_requests_did_without_is_judged_alike_in_a_saved_run(server: Server, tmp_path: Path) -> None:
    scenarios = [one for one in LIVE if one.name in {"live-say", "live-calls-two"}]
    certificate = run(server, SPARE, scenarios=scenarios)
    save(tmp_path / "run.gz", certificate.target, certificate.runs)
    again = load_runs(tmp_path / "run.gz", scenarios)
    assert again.target.adjusted == certificate.target.adjusted != {}
    assert judge_runs(again.runs, again.target, load(), checks=CHECKS).outcomes == certificate.outcomes


def sent_with(certificate: Certificate, member: str) -> set[str]:
    """The scenarios of which a request that was judged has a member."""
    return {
        run.scenario.name
        for run in certificate.runs
        for those in run.exchanges.values()
        for one in those
        if f'"{member}"'.encode() in one.transcript.request_body
    }


@pytest.mark.parametrize("endpoint", [IDLE, CHATTY], ids=lambda one: one.name)
def test_tries_that_cannot_succeed_cost_little(endpoint: Endpoint, server: Server) -> None:
    before = server.requests.get(endpoint.name, 0)
    certificate = run(server, endpoint, Budget(requests=USUAL - PREFLIGHT, tokens=TOKENS))
    assert server.requests[endpoint.name] - before <= USUAL - PREFLIGHT
    assert not [o.key for o in certificate.outcomes if "spent" in o.reason]


def test_what_a_model_did_not_do_is_not_observed_and_says_why(server: Server) -> None:
    scenarios = [one for one in LIVE if one.name in {"live-say", "live-length"}]
    certificate = run(server, CHATTY, scenarios=scenarios)
    reasons = {o.key: o.reason for o in certificate.outcomes if o.verdict is Verdict.NOT_OBSERVED}
    assert reasons["live-say:chat.stream.text"] == "the model did not do what was asked in 2 tries"
    # The stream, which comes first, has shown that this model says the same again.
    assert reasons["live-say:chat.whole.text"] == "the model did not do what was asked in 1 try"
    # What holds of any answer was seen all the same, and a chatty model is cut as any other.
    assert "live-say:chat.whole.usage" not in reasons
    assert "live-length:chat.whole.finish" not in reasons
    assert "live-say:chat.stream.utf8" not in reasons
    # Nobody offered it a tool; and a stream is compared with the whole answer, whatever both say.
    assert "live-say:chat.whole.calls-all-in-order" not in reasons
    assert "live-say:chat.stream.parity" not in reasons


def test_a_call_that_a_model_wrote_into_its_text_is_named_as_such(server: Server) -> None:
    (written,) = (one for one in DEFECTS if str(one) == "calls-as-text")
    scenarios = [one for one in LIVE if one.name in {"live-call", "live-choice-named"}]
    certificate = run(server, written.endpoint, scenarios=scenarios)
    found = {f.violation.requirement: f.violation.seen for o in certificate.outcomes for f in o.findings}
    assert '; it came as text: "<tool_call>get_time' in found["turn.tool-choice-forced"]
    reasons = {o.reason for o in certificate.outcomes if o.scenario == "live-call" and "asked" in o.reason}
    assert reasons
    assert all('; it called a tool in its text: "<tool_call>' in reason for reason in reasons)


def test_what_is_left_when_a_bound_is_reached_is_not_observed(server: Server) -> None:
    before = server.requests.get(PLAIN.name, 0)
    certificate = run(server, PLAIN, Budget(requests=9))
    assert server.requests[PLAIN.name] - before == 9
    reasons = {o.reason for o in certificate.outcomes if o.verdict is Verdict.NOT_OBSERVED}
    assert reasons == {"the run's 9 requests are spent; --max-requests sets the bound"}
    assert broken(certificate) == set()


def found(defect: Defect, server: Server) -> Verdict:
    """What becomes of a run by default because of the rows that name a defect."""
    named = [one for one in run(server, defect.endpoint).outcomes if one.requirement in defect.names]
    if any(one.at(VerdictLevel.COMPAT) is Verdict.FAIL for one in named):
        return Verdict.FAIL
    return Verdict.WARN if any(one.verdict in BROKEN for one in named) else Verdict.PASS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The defects: all of them with `--whole`, else a sample."""
    if "defect" in metafunc.fixturenames:
        metafunc.parametrize("defect", DEFECTS if metafunc.config.getoption("whole") else DEFECTS[::STEP], ids=str)


def test_a_defect_is_found_by_a_row_that_names_it(defect: Defect, server: Server) -> None:
    name = str(defect)
    expected = Verdict.WARN if name in WARNED else Verdict.PASS if name in UNSEEN else Verdict.FAIL
    assert found(defect, server) is expected


@pytest.mark.parametrize("those", [DEFECTS, DRAWN], ids=["all", "drawn"])
def test_nearly_all_defects_are_found(those: Sequence[Defect]) -> None:
    assert sum(str(one) in UNSEEN for one in those) <= (1 - FOUND) * len(those)
    assert {str(defect) for defect in DEFECTS} >= WARNED | UNSEEN
    assert not WARNED & UNSEEN


def test_every_defect_has_a_name_of_its_own_and_rows_of_the_catalogue() -> None:
    names = [str(defect) for defect in DEFECTS]
    assert len(set(names)) == len(names) >= 60
    assert {name for defect in DEFECTS for name in defect.names} <= set(load().by_id)


def test_the_page_counts_the_defects_and_names_the_cost() -> None:
    said = PAGE.read_text(encoding="utf-8")
    rows = [line for line in said.splitlines() if line.startswith(tuple(f"| {name} |" for name in TABLES))]
    assert rows == [f"| {name} | {len(table)} |" for name, table in TABLES.items()]
    fails = len(DEFECTS) - len(WARNED) - len(UNSEEN)
    assert f"{sum(one.thread != SEVERAL for one in REPORTED)} of the {len(REPORTED)} name the thread" in said
    counted = f"{len(DEFECTS)} endpoints with one defect each: {fails} fail by default, {len(WARNED)} are warned of, "
    counted += f"{len(UNSEEN)} is not seen"
    assert counted in " ".join(said.split())
    seen = [one for one in DRAWN if str(one) not in UNSEEN]
    parts = [len(seen), sum(str(one) not in WARNED for one in seen)]
    named, failing = (f"{part} ({100 * part / len(DRAWN):.1f} %)" for part in parts)
    drawn = f"Of 84 drawn from the first six tables and the {len(REPORTED)} reported, {named} are found by a row that "
    drawn += f"names them, and {failing} fail by default"
    assert drawn in " ".join(said.split())
    least = cost(LIVE, TARGET)
    assert f"**{least.requests} requests, which with their answers have at most {least.tokens:,}\ntokens**" in said


@pytest.mark.parametrize(
    ("error", "broken"),
    [
        ({"type": "error", "error": {"type": "invalid_request_error", "message": "messages: missing"}}, set()),
        ({"error": {"type": "invalid_request_error", "message": "messages: missing"}}, {"messages.error.envelope"}),
        (None, {"messages.param.required"}),
    ],
    ids=["as published", "as in chat", "none"],
)
def test_a_refusal_of_messages_has_the_form_of_their_errors(
    error: JsonObject | None, broken: set[str], tiny: TinyServer
) -> None:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": []}
    ended = {"stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 0}}
    tiny.respond = lambda one: one.whole(error, "400 No") if error else one.whole({**message, **ended})
    target = replace(TARGET, base_url=tiny.base_url, dialects=(Dialect.MESSAGES,))
    certificate = certify(target, [one for one in LIVE if one.name == "live-messages-refused"], load())
    assert len(tiny.requests) == 1
    assert {one.requirement for one in certificate.outcomes if one.verdict in {Verdict.FAIL, Verdict.WARN}} == broken
