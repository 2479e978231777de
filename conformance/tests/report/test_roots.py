"""Where to begin: what explains most of what is wrong stands on the first screen, in the right words."""

from __future__ import annotations

import io
import sys
from collections import Counter
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from saved_recordings import CONFIGURATION, save

from wireproof.cli.results import show
from wireproof.cli.saved import EVERY, certificate_of
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.target import Target
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.report import terminal
from wireproof.report.data import report_of
from wireproof.report.markdown import markdown
from wireproof.report.page import page
from wireproof.report.roots import FEW, SHOWN, roots
from wireproof.results import folder
from wireproof.results.certify import certify
from wireproof.results.document import Common, Found, Report, SeenAt
from wireproof.scenarios import SCENARIOS
from wireproof.targets.bundled import KEEPALIVE, SETTINGS
from wireproof.targets.launch import launch
from wireproof_mocks.miniatures import FAULTS
from wireproof_mocks.miniatures.param_faults import PARAM_FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wireproof.results.certificate import Certificate

KEY = "key-of-the-roots"
TALKS = ("text-hello", "call-one", "choices-text", "tool-loop")
ROWS, COLUMNS = 24, 80


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Certificate]:
    path = tmp_path_factory.mktemp("saved")
    save("stubllm", path)
    result = folder.read(path)
    return result.report, certificate_of(result.report, result.archive(EVERY), load())


def first_screen(report: Report, certificate: Certificate) -> str:
    """What a terminal of 80 by 24 shows of the report before a person scrolls, with long lines wrapped as it does."""
    console = Console(file=io.StringIO(), width=COLUMNS, color_system=None)
    terminal.report(console, report, certificate, load())
    assert isinstance(console.file, io.StringIO)
    shown, left = [], ROWS
    for line in console.file.getvalue().split("\n"):
        left -= max(ceil(len(line) / COLUMNS), 1)
        if left < 0:
            break
        shown.append(line)
    return "\n".join(shown)


# Findings made by hand.


def found(
    requirement: str, seen: str, *, cause: str = "", kind: str = "", exchanges: int = 1, came: int | None = None
) -> Found:
    places = tuple(
        SeenAt(
            scenario=f"s{number}", dialect=Dialect.OPENAI_JSON, mode=next(iter(load().by_id[requirement].modes)),
            exchange=0, seen=seen, offset=None, length=None, frame=None, came=came, due=came and 400,
        )
        for number in range(exchanges)
    )  # fmt: skip
    return Found(
        requirement=requirement, strict=Verdict.FAIL, compat=Verdict.FAIL, known="", seen=seen,
        cause=Common(says=cause, exchanges=exchanges, hidden=0, kind=kind) if cause else None,
        scenarios=("s0",), places=places, request="", excerpt=None,
    )  # fmt: skip


def with_findings(report: Report, *those: Found) -> Report:
    rows = {one.id: replace(next(iter(report.requirements.values())), id=one.id) for one in load().requirements}
    strict = replace(report.configuration, level=VerdictLevel.STRICT)
    return replace(report, findings=those, requirements=rows, configuration=strict)


def names(*beginnings: str) -> list[str]:
    return [row.id for row in load().requirements if row.id.startswith(beginnings)]


def test_seventy_broken_requirements_are_three_things(stub: tuple[Report, Certificate]) -> None:
    params = [found(name, "refused too late", came=200 + number % 2) for number, name in enumerate(names("param."))]
    streams = [found(name, "the event has no type") for name in names("responses.stream.")]
    chats = [found(name, f"choice {number}: no role") for number, name in enumerate(names("chat.stream."))]
    others = [found(name, "the image is lost") for name in names("turn.")[:8]]
    report = with_findings(stub[0], *others, *params, *streams, *chats)
    assert len(report.findings) >= 70
    there = roots(report)
    assert [(len(one.broken), one.says) for one in there.shown] == sorted(
        [
            (len(chats), "chat.stream: choice 0: no role"),
            (len(streams), "responses.stream: the event has no type"),
            (len(params), "param: requests are answered HTTP 200 or 201, they should be 400"),
        ],
        reverse=True,
    )
    explained, broken = len(report.findings) - len(others), len(report.findings)
    assert there.title.startswith(f"3 things explain {explained} of {broken} broken requirements")
    for text in (first_screen(report, stub[1]), markdown(report).partition("## What is wrong")[0]):
        plain = text.replace("\\", "")
        assert all(one.says in plain for one in there.shown)
    assert all(one.says in page(report, ()).partition('id="findings-title"')[0] for one in there.shown)


def test_one_cause_in_several_findings_is_one_thing(stub: tuple[Report, Certificate]) -> None:
    kind = "error: there is nothing"
    chat = found("chat.stream.headers", "x", cause="HTTP 404: there is nothing", kind=kind, exchanges=9)
    responses = found("responses.stream.headers", "y", cause="HTTP 500: there is nothing", kind=kind, exchanges=3)
    other = found("turn.images", "z", cause="no call ever came back")
    few = [found(name, "p") for name in names("http.auth.", "http.models.")]
    there = roots(with_findings(stub[0], chat, responses, other, *few))
    both = next(one for one in there.shown if one.says.startswith("HTTP 404"))
    assert both.broken == ("chat.stream.headers", "responses.stream.headers")


def test_few_findings_speak_for_themselves(stub: tuple[Report, Certificate]) -> None:
    few = [found(name, "p") for name in names("param.")[:FEW]]
    assert roots(with_findings(stub[0], *few)).shown == ()
    assert "explain" not in markdown(with_findings(stub[0], *few))
    assert len(roots(with_findings(stub[0], *few, found("turn.images", "q"))).shown) == 2


def test_what_is_accepted_or_only_a_warning_explains_nothing(stub: tuple[Report, Certificate]) -> None:
    those = [found(name, "p") for name in names("param.")]
    known = [replace(one, known="agreed") for one in those]
    warned = [replace(one, strict=Verdict.WARN) for one in those]
    assert roots(with_findings(stub[0], *known, *warned)).broken == 0
    compat = [replace(one, compat=Verdict.WARN) for one in those]
    report = with_findings(stub[0], *compat)
    lenient = replace(report, configuration=replace(report.configuration, level=VerdictLevel.COMPAT))
    assert (roots(report).broken, roots(lenient).broken) == (len(those), 0)


def test_what_a_target_says_is_visible_and_short(stub: tuple[Report, Certificate]) -> None:
    those = [found(name, "\x1b[31m" + "x" * 500) for name in names("http.")]
    (one,) = roots(with_findings(stub[0], *those)).shown[:1]
    assert "\x1b" not in str(one)
    assert len(str(one)) < 200


def test_the_command_prints_it(stub: tuple[Report, Certificate], capsys: pytest.CaptureFixture[str]) -> None:
    show(stub[0], stub[1], load(), form="terminal", demonstration=False)
    lines = capsys.readouterr().out.splitlines()
    assert "strict: not certified" in lines[0]
    assert lines[1].rstrip(":") == roots(stub[0]).title
    assert lines[2].startswith("  1. ")


# Miniatures that combine several faults.


@pytest.fixture(scope="module")
def miniature_server() -> Iterator[str]:
    env = {**SETTINGS, "PROXY_API_KEY": KEY}
    command = [sys.executable, "-m", "wireproof_mocks.miniatures"]
    with launch(command, env=env, url="http://127.0.0.1:{port}/none/v1") as launched:
        yield launched.base_url.removesuffix("/none/v1")


def certified(base_url: str, played: tuple[str, ...]) -> tuple[Report, Certificate]:
    target = Target(
        base_url=base_url, model="codex", api_key=KEY, timeout=6.0, keepalive=KEEPALIVE, dialects=(Dialect.OPENAI_JSON,)
    )
    certificate = certify(target, [one for one in SCENARIOS if one.name.startswith(played)], load())
    return report_of(certificate, load(), CONFIGURATION, folder.versions()), certificate


def of_each(faults: object) -> list[str]:
    """One fault for each requirement."""
    assert isinstance(faults, tuple)
    return [fault.name for fault in {fault.breaks: fault for fault in reversed(faults)}.values()]


@pytest.mark.parametrize(
    "played", [pytest.param((*TALKS, "param-"), id="few"), pytest.param(("",), id="all", marks=pytest.mark.nightly)]
)
def test_three_combined_faults_are_the_three_things_on_the_first_screen(
    miniature_server: str, played: tuple[str, ...]
) -> None:
    names_ = [*of_each(PARAM_FAULTS), "tools-never-offered", "no-request-id", "text-trimmed", "model-without-owner"]
    assert set(names_) <= FAULTS.keys()
    report, certificate = certified(f"{miniature_server}/{'+'.join(names_)}/v1", played)
    there = roots(report)
    assert there.broken > SHOWN
    says = [one.says for one in there.shown]
    params = next(one for one in there.shown if one.says.startswith("param: requests are answered HTTP 200"))
    assert len(params.broken) >= 10
    assert any("call" in one for one in says), says
    screen = first_screen(report, certificate)
    assert all(one in screen for one in says)
    assert there.explained >= 0.6 * there.broken, Counter(one.requirement for one in report.findings)


def test_a_recording_of_a_stranger_begins_with_what_explains_most(tmp_path: Path) -> None:
    report = save("lm-proxy", tmp_path)
    there = roots(report)
    explained = [len(one.broken) + one.hidden for one in there.shown]
    assert len(explained) == SHOWN
    assert explained == sorted(explained, reverse=True)
    assert there.shown[0].says.startswith("param: requests are answered HTTP 422")
