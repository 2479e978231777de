from __future__ import annotations

import dataclasses
import importlib
import re
import shlex
import sys
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import httpcore  # noqa: F401 (httpx loads it late; an inner run must find it loaded, or it loads it again)
import pytest

from wireproof.cli import plan  # at the head: what an inner run loads first is forgotten behind it
from wireproof.model.catalogue import Level, load
from wireproof.model.dialect import CHATS, ArgumentsMode, Dialect
from wireproof.model.verdict import Outcome, Verdict
from wireproof.pytest_plugin.cases import REST, ItemCase, cases, said
from wireproof.reading.applicable import keys
from wireproof.results import folder
from wireproof.results.certificate import ExitStatus
from wireproof.results.certify import InterruptedRun, certify
from wireproof.results.document import Ended
from wireproof.scenarios import SCENARIOS
from wireproof.targets.launch import executable
from wireproof.targets.options import RunOptions, TargetOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conformance.tests.conftest import TinyServer

    from wireproof.model.catalogue import Catalogue
    from wireproof.model.scenario import Scenario
    from wireproof.model.target import Target
    from wireproof.results.certificate import Certificate

    Suite = Callable[..., pytest.RunResult]

pytestmark = pytest.mark.sampled(5)

pytest_plugins = ["pytester"]

CASES = tuple(cases(SCENARIOS, load(), Dialect))
PROXY = shlex.quote(executable("wireproof-proxy"))
"""The bundled proxy, as the line of a command."""
OWN = {case.scenario: case for case in reversed(CASES) if case.form}
"""A case that is a scenario's own."""
MODULE = "wireproof.suites.test_conformance"
LINE = re.compile(rf"{MODULE}::(\S+) (PASSED|FAILED|SKIPPED|XFAIL)", re.MULTILINE)
RESULTS = {
    Verdict.ERROR: "FAILED",
    Verdict.FAIL: "FAILED",
    Verdict.WARN: "XFAIL",
    Verdict.NOT_OBSERVED: "SKIPPED",
    Verdict.NOT_APPLICABLE: "SKIPPED",
    Verdict.PASS: "PASSED",
}
"""What pytest says of a case, the worst verdict first."""


def item(scenario: str, requirement: str, form: str = "chat-openai-json-stream") -> str:
    """How an item's id ends."""
    return f"{scenario}::{form}::{requirement}"


def name(case: ItemCase) -> str:
    """How the id of a case's item ends."""
    return "::".join(filter(None, (case.scenario, case.form, case.requirement)))


def miniature(name: str) -> str:
    return shlex.join([sys.executable, "-m", "wireproof_mocks.miniatures", name])


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Suite:
    """The suite under a pytest of its own, inside this process: there all modules are loaded already.

    What the inner one loads first is forgotten behind it: httpx, which loads its transport late, would then know two of
    it. Syrupy keeps its session in a global, and that of the pytest around this one would be lost.
    """

    for module in ("httpcore", "anyio._backends._asyncio"):
        importlib.import_module(module)

    def run(*arguments: str, suite: Sequence[str] = ("wireproof.suites",)) -> pytest.RunResult:
        quiet = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "-p", "no:syrupy", "-W", "error")
        return pytester.runpytest_inprocess(*quiet, "--pyargs", *suite, *arguments)

    return run


def results(run: pytest.RunResult) -> dict[str, str]:
    """Item → what pytest says of it, in order."""
    return dict(LINE.findall(run.stdout.str()))


class Engine:
    """The engine that `wireproof certify` uses, as the plugin calls it; drives a part, and keeps what it made."""

    def __init__(self) -> None:
        self.only = {"models", "auth-missing", "text-hello", "call-one"}
        self.asked: list[tuple[Target, tuple[Scenario, ...], dict[str, Any]]] = []
        self.made: list[Certificate] = []

    def __call__(self, target: Target, scenarios: Sequence[Scenario], catalogue: Catalogue, **how: Any) -> Certificate:
        assert catalogue == load()
        self.asked.append((target, tuple(scenarios), how))
        driven = [scenario for scenario in scenarios if scenario.name in self.only]
        self.made.append(certify(target, driven, catalogue, **how))
        return self.made[-1]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    found = Engine()
    monkeypatch.setattr(plan, "certify", found)
    return found


def verdicts(engine: Engine) -> dict[str, str]:
    """The same from the one certificate that the engine made."""
    [certificate] = engine.made
    worst: dict[str, Verdict] = {}
    for case, found in said(certificate, load(), CASES).items():
        assert case.form
        worst[name(case)] = min((one.verdict for one in found), key=list(RESULTS).index)
    items = {name(case): RESULTS[worst[name(case)]] if name(case) in worst else None for case in CASES}
    return {one: result or ("PASSED" if one.endswith(REST) else "SKIPPED") for one, result in items.items()}


OF_THE_OPTIONS = [
    "wireproof", "wireproof.model", "wireproof.model.capability", "wireproof.model.dialect", "wireproof.model.side",
    "wireproof.model.target", "wireproof.model.verdict", "wireproof.pytest_plugin", "wireproof.pytest_plugin.plugin",
    "wireproof.pytest_plugin.stash", "wireproof.targets", "wireproof.targets.kinds", "wireproof.targets.option",
    "wireproof.targets.options",
]  # fmt: skip
"""All that the plugin imports of the suite in a session that does not ask for it."""


def test_without_a_target_nothing_is_imported_but_the_options(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(f"""
        import sys

        def test_something_else():
            assert sorted(name for name in sys.modules if name.partition(".")[0] == "wireproof") == {OF_THE_OPTIONS}
            assert not {{"httpx", "rich", "click", "jsonschema_rs", "pydantic"}} & set(sys.modules)
    """)
    run = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "-W", "error")
    run.assert_outcomes(passed=1)


def test_without_a_target_the_suite_has_no_items(suite: Suite) -> None:
    run = suite()
    run.assert_outcomes()
    assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_all_options_begin_alike(suite: Suite) -> None:
    helped = suite("--help").stdout.str().partition("certify an OpenAI-compatible proxy")[2].partition("\n\n")[0]
    assert set(re.findall(r"^  (--[a-z]+-)", helped, re.MULTILINE)) == {"--wireproof-"}


def test_every_option_of_certify_is_an_option_of_the_plugin(suite: Suite) -> None:
    helped = " ".join(suite("--help").stdout.str().split())
    for option in (*TargetOptions.options(), *RunOptions.options()):
        assert f"--wireproof-{option.name}" in helped
        assert option.full_help in helped


@pytest.mark.parametrize(("said", "accepted"), [((), True), (("--wireproof-no-allow-partial",), False)])
def test_a_flag_of_a_target_file_is_turned_off(suite: Suite, tmp_path: Path, said: Any, *, accepted: bool) -> None:
    file = tmp_path / "wireproof.toml"
    file.write_text(f'launch = "{PROXY}"\nallow-partial = true\nonly = ["silence"]\n')
    run = suite("--wireproof-target", str(file), *said)
    assert run.ret == (pytest.ExitCode.OK if accepted else pytest.ExitCode.TESTS_FAILED)


def test_there_is_one_item_per_scenario_form_and_requirement_with_an_id_that_no_shell_reads(suite: Suite) -> None:
    run = suite("--wireproof-bundled", "--collect-only", "-q")
    items = re.findall(rf"^{MODULE}::(.*)$", run.stdout.str(), re.MULTILINE)
    assert items == [name(case) for case in CASES]
    assert len(set(items)) == len(items)
    assert all(re.fullmatch(r"[\w.:-]+", one) for one in items)
    assert item("text-hello", "chat.stream.role-once") in items
    assert item("text-hello", "responses.parity", "responses-whole") in items
    assert item("models", "http.models.list", "http") in items
    # Each item is in files of known failures under the name that `-k` takes.
    assert {case.key for case in CASES if case.form} == keys(SCENARIOS, load())


@pytest.mark.nightly
def test_the_bundled_proxy_passes_with_the_verdicts_of_certify(suite: Suite, engine: Engine) -> None:
    run = suite("--wireproof-bundled", "--wireproof-allow-partial", "-v")
    assert run.ret == pytest.ExitCode.OK
    expected = verdicts(engine)
    assert sorted(results(run).items() ^ expected.items()) == []
    assert set(expected.values()) == {"PASSED", "SKIPPED"}
    passed = list(expected.values()).count("PASSED")
    run.assert_outcomes(passed=passed, skipped=len(CASES) - passed)


def test_a_miniature_fails_with_the_verdicts_of_certify_and_the_text_says_why(suite: Suite, engine: Engine) -> None:
    only = [f"--wireproof-only={one}" for one in sorted(engine.only)]
    run = suite("--wireproof-launch", miniature("role-everywhere"), *only, "-v", "-rs")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    seen = results(run)
    expected = {one: verdict for one, verdict in verdicts(engine).items() if one.partition(":")[0] in engine.only}
    assert sorted(seen.items() ^ expected.items()) == []
    assert seen[item("text-hello", "chat.stream.role-once")] == "FAILED"
    out = run.stdout.str()
    row = load().find("chat.stream.role-once")
    assert f"FAIL {row.id}  MUST (warn at level compat)\n{row.text}\n" in out
    assert all(f"breaks {effect}\n" in out for effect in row.breaks[:1])
    assert re.search(r'^at byte \d+, frame \d+: .*"role": ?"assistant"', out, re.MULTILINE)
    assert f"to do: {row.hint}" in out
    assert "Traceback" not in out
    assert "not applicable: the target asks for no key" in out


def test_the_summary_says_the_sentence_of_what_is_broken(
    suite: Suite, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where a CI reads it, pytest cuts nothing off.
    monkeypatch.setenv("CI", "true")
    run = suite(
        "--wireproof-launch",
        miniature("role-everywhere"),
        "--wireproof-only=text-hello",
        "--tb=no",
        "--junit-xml",
        "all.xml",
    )
    row = load().find("chat.stream.role-once")
    line = f"FAILED {MODULE}::{item('text-hello', row.id)} - MUST: {row.text}"
    run.stdout.fnmatch_lines(
        ["*= wireproof: 1 broken requirement =*", f"{row.id}  MUST: {row.text}  (3 items)", line], consecutive=False
    )
    written = ET.fromstring((pytester.path / "all.xml").read_text())  # noqa: S314 (written by this test)
    broken = {
        (case.get("classname"), case.get("name"), failure.get("message"))
        for case in written.iter("testcase")
        for failure in case.iter("failure")
    }
    forms = {f"{MODULE}.text-hello.chat-{dialect}-stream" for dialect in CHATS}
    assert broken == {(form, row.id, f"MUST: {row.text}") for form in forms}


def test_an_item_is_named_after_pyargs_as_it_is_printed_and_alone_is_driven(suite: Suite, engine: Engine) -> None:
    chosen = f"{MODULE}::{item('text-hello', 'chat.stream.role-once')}"
    run = suite("--wireproof-bundled", "-v", chosen, suite=())
    assert (run.ret, results(run)) == (pytest.ExitCode.OK, {chosen.removeprefix(f"{MODULE}::"): "PASSED"})
    [(_, scenarios, how)] = engine.asked
    assert [one.name for one in scenarios] == ["text-hello"]
    assert how["selection"] == ("text-hello",)


@pytest.mark.parametrize("words", ["responses-stream", "text-hello:responses.stream.sequence", "call-one and whole"])
def test_items_are_selected_by_scenario_form_and_requirement(suite: Suite, words: str) -> None:
    only = ("--wireproof-only=text-hello", "--wireproof-only=call-one")
    run = suite("--wireproof-bundled", *only, "--collect-only", "-q", "-k", words)
    items = re.findall(rf"^{MODULE}::(.*)$", run.stdout.str(), re.MULTILINE)
    assert items
    keyed = [f"{one} {case.scenario}:{case.requirement}" for one in items for case in CASES if name(case) == one]
    assert all(word in one for one in keyed for word in words.split(" and "))


@pytest.mark.nightly
def test_a_broken_should_is_an_expected_failure(suite: Suite, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.only = {"silence"}
    assert load().find("chat.stream.keepalive").level is Level.SHOULD
    monkeypatch.setenv("PROXY_KEEPALIVE_MS", "100")
    monkeypatch.setenv("PROXY_COMMIT_MS", "100")
    keepalive = "silence:chat.stream.keepalive"
    only = ("--wireproof-only=silence", "-v", "-k", keepalive)
    run = suite("--wireproof-launch", miniature("no-keepalive"), "--wireproof-keepalive", "0.1", *only)
    assert run.ret == pytest.ExitCode.OK
    assert results(run)[item("silence", "chat.stream.keepalive")] == "XFAIL"


KNOWN = "text-hello:chat.stream.role-once"
THREE = {item("text-hello", "chat.stream.role-once", f"chat-{dialect}-stream") for dialect in CHATS}
"""The items of that key: a line of a file of known failures speaks of all forms."""


@pytest.fixture
def known(tmp_path: Path) -> Sequence[str]:
    """Arguments by which a failure is known, and nothing else is asked for."""
    (tmp_path / "known").write_text(f"{KNOWN} the next release mends it\n")
    return ("--wireproof-known-failing", str(tmp_path / "known"), "--wireproof-only=text-hello", "-v", "-k", KNOWN)


def test_a_known_failure_is_expected(suite: Suite, engine: Engine, known: Sequence[str]) -> None:
    engine.only = {"text-hello"}
    run = suite("--wireproof-launch", miniature("role-everywhere"), *known)
    assert (run.ret, results(run)) == (pytest.ExitCode.OK, dict.fromkeys(THREE, "XFAIL"))


def test_a_known_failure_that_passes_is_a_failure(suite: Suite, engine: Engine, known: Sequence[str]) -> None:
    engine.only = {"text-hello"}
    run = suite("--wireproof-bundled", *known)
    assert (run.ret, results(run)) == (pytest.ExitCode.TESTS_FAILED, dict.fromkeys(THREE, "FAILED"))
    run.stdout.fnmatch_lines(["*declared as known failing (the next release mends it)*"])


def test_a_file_of_known_failures_that_cannot_be_meant_is_refused(suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "known").write_text("text-hello:no.such.row because\n")
    run = suite("--wireproof-url", "http://127.0.0.1:1/v1", "--wireproof-known-failing", str(tmp_path / "known"))
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*is no <scenario>:<requirement> of this suite*"])


PARTIAL = ("--wireproof-launch", PROXY, "--wireproof-only", "silent-backend")
"""How long a backend may be silent is not declared, so the scenario cannot be driven."""


def test_a_session_in_which_a_must_was_not_observed_is_no_success(suite: Suite) -> None:
    run = suite(*PARTIAL, "-v")
    assert set(results(run).values()) == {"SKIPPED", "PASSED"}
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines(
        [
            "*= wireproof: not observed =*",
            "chat.whole.backend-error: how long a backend may be silent is not known; declare it with *",
            "* MUSTs could not be observed, so the session is not a success; --wireproof-allow-partial accepts that",
        ]
    )


@pytest.mark.nightly
def test_a_partial_session_can_be_accepted_and_says_that_it_is_partial(suite: Suite) -> None:
    run = suite(*PARTIAL, "--wireproof-allow-partial")
    assert run.ret == pytest.ExitCode.OK
    run.stdout.fnmatch_lines(
        ["*= wireproof: certified in part =*", "* could not be observed, which --wireproof-allow-partial*"]
    )


@pytest.mark.nightly
def test_a_must_that_no_item_of_the_session_is_about_is_not_missed(suite: Suite, engine: Engine) -> None:
    engine.only = {"silent-backend"}
    run = suite(*PARTIAL, "-v", "-k", "anything-else")
    assert engine.made[0].unobserved
    assert (run.ret, results(run)) == (pytest.ExitCode.OK, {"silent-backend::anything-else": "PASSED"})


def test_the_workers_of_xdist_report_what_was_not_observed(pytester: pytest.Pytester) -> None:
    quiet = ("-p", "no:cacheprovider", "-p", "no:cov", "-p", "no:syrupy", "-W", "error")
    run = pytester.runpytest_subprocess(*quiet, "-n", "1", "--pyargs", "wireproof.suites", *PARTIAL)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines(["*= wireproof: not observed =*", "chat.whole.backend-error: how long a backend may be *"])


def test_a_selection_has_only_its_own_items_and_is_selected_for_the_engine(suite: Suite, engine: Engine) -> None:
    run = suite(
        "--wireproof-bundled",
        "--wireproof-only",
        "text-hello",
        "--wireproof-only",
        "models",
        "--wireproof-jobs",
        "3",
        "-v",
    )
    assert run.ret == pytest.ExitCode.OK
    assert {one.partition(":")[0] for one in results(run)} == {"text-hello", "models"}
    [(_, scenarios, how)] = engine.asked
    assert {scenario.name for scenario in scenarios} == {"text-hello", "models"}
    assert (how["selection"], how["jobs"]) == (("text-hello", "models"), 3)


def test_what_is_declared_of_a_target_reaches_the_engine(suite: Suite, engine: Engine) -> None:
    engine.only = {"text-hello"}
    declared = (
        "--wireproof-dialect",
        "openai-json",
        "--wireproof-dialect",
        "obsidian-xml",
        "--wireproof-arguments",
        "incremental",
    )
    more = ("--wireproof-default-mode", "obsidian-xml", "--wireproof-start-timeout", "20", "--wireproof-allow-partial")
    run = suite("--wireproof-launch", PROXY, *declared, *more, "--wireproof-only=text-hello")
    assert run.ret == pytest.ExitCode.OK
    [(target, _, _)] = engine.asked
    assert target.dialects == (Dialect.OPENAI_JSON, Dialect.OBSIDIAN_XML)
    assert (target.arguments, target.default_mode) == (ArgumentsMode.INCREMENTAL, Dialect.OBSIDIAN_XML)


SAID = {
    ("models", "chat.stream.text"): Verdict.FAIL,
    ("auth-missing", "chat.stream.text"): Verdict.FAIL,
    ("auth-missing", "chat.stream.keepalive"): Verdict.WARN,
    ("auth-wrong", "chat.stream.keepalive"): Verdict.WARN,
    ("body-not-json", OWN["body-not-json"].requirement): Verdict.ERROR,
    ("body-not-object", OWN["body-not-object"].requirement): Verdict.NOT_APPLICABLE,
}
"""Scenario and requirement → the verdict of an outcome; most are of requirements that the scenarios do not exercise."""
UNLIKE_PASSED = {
    name(ItemCase.rest("models")): "FAILED",
    name(ItemCase.rest("auth-missing")): "FAILED",
    name(ItemCase.rest("auth-wrong")): "XFAIL",
    name(OWN["body-not-json"]): "FAILED",
    name(OWN["body-not-object"]): "SKIPPED",
}


def test_no_outcome_is_lost(suite: Suite, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    names = sorted({scenario for scenario, _ in SAID})

    def fabricated(*arguments: Any, **how: Any) -> Certificate:
        certificate = engine(*arguments, **how)
        passed = {(case.scenario, case.requirement): Verdict.PASS for case in CASES if case.form}
        outcomes = [
            Outcome(scenario=scenario, requirement=row, verdict=verdict, reason=f"reason: {verdict} of {scenario}")
            for (scenario, row), verdict in (passed | SAID).items()
            if scenario in names
        ]
        return dataclasses.replace(certificate, outcomes=tuple(outcomes))

    engine.only = set(names)
    monkeypatch.setattr(plan, "certify", fabricated)
    run = suite("--wireproof-bundled", "-v", "-rA", *(f"--wireproof-only={one}" for one in names))
    passed = {name(case): "PASSED" for case in CASES if case.scenario in names}
    assert results(run) == passed | UNLIKE_PASSED
    for (scenario, _), verdict in SAID.items():
        # The worst of an item is what it ends with.
        if (scenario, verdict) != ("auth-missing", Verdict.WARN):
            assert f"reason: {verdict} of {scenario}" in run.stdout.str()


def test_a_target_that_cannot_be_reached_is_one_line(suite: Suite, tiny: TinyServer) -> None:
    tiny.close()
    run = suite("--wireproof-url", tiny.base_url)
    assert run.ret == 3
    text = run.stdout.str() + run.stderr.str()
    assert text.count(f"wireproof: nothing answers at {tiny.base_url}/models") == 1
    assert "Traceback" not in text
    assert not results(run)


def test_a_target_that_hangs_is_reported_within_the_limit(suite: Suite, tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.gone()
    run = suite("--wireproof-url", tiny.base_url, "--wireproof-timeout", "0.3", "--wireproof-model", "m")
    assert run.ret == 3
    assert "no answer came within the limit (--timeout sets it)" in run.stdout.str() + run.stderr.str()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--wireproof-bundled", "--wireproof-url", "http://x/v1"], "--wireproof-bundled is a target of its own"),
        (["--wireproof-bundled", "--wireproof-launch", "x"], "--wireproof-bundled is a target of its own"),
        (
            ["--wireproof-url", "http://x/v1", "--wireproof-api-key-env", "WIREPROOF_NO_SUCH"],
            "the environment variable WIREPROOF_NO_SUCH, which should hold the key, is not set",
        ),
        (["--wireproof-url", "no url"], "'no url' is no base URL of a proxy: it should begin with http:// or https://"),
        (["--wireproof-timeout", "never"], "timeout is 'never'; it should be a time in seconds, from 0.01 to 1000"),
        (
            ["--wireproof-bundled", "--wireproof-only", "text-helo"],
            "no scenario and no requirement is named 'text-helo'",
        ),
    ],
)
def test_wrong_usage_is_one_line(suite: Suite, arguments: list[str], line: str) -> None:
    run = suite(*arguments)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    assert line in run.stderr.str()
    assert "Traceback" not in run.stderr.str()


def test_a_target_file_gives_the_options_and_those_beside_it_override_it(
    suite: Callable[..., pytest.RunResult], engine: Engine, tmp_path: Path
) -> None:
    file = tmp_path / "wireproof.toml"
    file.write_text(f'launch = "{PROXY}"\nonly = ["models"]\njobs = 2\nallow-partial = true\n')
    run = suite("--wireproof-target", str(file), "--wireproof-jobs", "3", "-v")
    assert run.ret == pytest.ExitCode.OK
    assert {one.partition(":")[0] for one in results(run)} == {"models"}
    [(_, _, how)] = engine.asked
    assert (how["selection"], how["jobs"]) == (("models",), 3)


def test_a_target_file_that_cannot_be_used_is_one_line(suite: Suite, tmp_path: Path) -> None:
    file = tmp_path / "wireproof.toml"
    file.write_text("keepalvie = 1\n")
    run = suite("--wireproof-target", str(file))
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    assert f"{file}:1: 'keepalvie' is not an option of a target; did you mean keepalive?" in run.stderr.str()


def test_the_result_is_written_to_the_folder_that_is_named(
    suite: Callable[..., pytest.RunResult], engine: Engine, tmp_path: Path
) -> None:
    suite(
        "--wireproof-bundled",
        f"--wireproof-output={tmp_path / 'out'}",
        "--wireproof-only=text-hello",
        "--wireproof-only=models",
    )
    [certificate] = engine.made
    report = folder.read(tmp_path / "out").report
    assert report.configuration.selection == ("text-hello", "models")
    assert [(one.scenario, one.requirement) for one in report.outcomes] == [
        (one.scenario, one.requirement) for one in certificate.outcomes
    ]


def test_what_an_interrupted_session_had_driven_is_written(
    suite: Callable[..., pytest.RunResult], engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any, **how: Any) -> Certificate:
        certificate = engine(*arguments, **how)
        raise InterruptedRun(lambda: dataclasses.replace(certificate, interrupted=True))

    monkeypatch.setattr(plan, "certify", interrupted)
    run = suite("--wireproof-bundled", f"--wireproof-output={tmp_path / 'out'}", "--wireproof-only=text-hello")
    assert run.ret == pytest.ExitCode.INTERRUPTED
    assert folder.read(tmp_path / "out").report.ended is Ended.INTERRUPTED


NO_PLUGINS = ("-p", "no:cacheprovider", "-p", "no:cov", "-p", "no:syrupy")


@pytest.mark.nightly
def test_the_workers_of_xdist_share_one_run(pytester: pytest.Pytester, tmp_path: Path) -> None:
    out, starts = tmp_path / "out", tmp_path / "starts"
    command = f"echo one >> {shlex.quote(str(starts))}; exec {miniature('role-everywhere')}"
    run = pytester.runpytest_subprocess(
        "-n", "2", *NO_PLUGINS, "--tb=no", "--pyargs", "wireproof.suites", "--wireproof-launch",
        shlex.join(["sh", "-c", command]), "--wireproof-only=models", "--wireproof-only=text-hello",
        f"--wireproof-output={out}",
    )  # fmt: skip
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines(["chat.stream.role-once  MUST: *  (3 items)"])
    # One run starts it twice: once with a backend that never gets ready.
    assert starts.read_text() == "one\none\n"
    assert {one.scenario for one in folder.read(out).report.outcomes} == {"models", "text-hello"}


@pytest.mark.nightly
def test_a_target_that_no_worker_of_xdist_can_reach_is_asked_once(pytester: pytest.Pytester, tiny: TinyServer) -> None:
    tiny.close()
    of_models = ("--wireproof-only=models", "--wireproof-only=model")
    run = pytester.runpytest_subprocess(
        "-n", "2", *NO_PLUGINS, "--pyargs", "wireproof.suites", f"--wireproof-url={tiny.base_url}", *of_models
    )
    assert run.ret == ExitStatus.UNREACHABLE
    run.stdout.fnmatch_lines([f"*Interrupted: wireproof: nothing answers at {tiny.base_url}/models*"])
    assert "Traceback" not in run.stdout.str()
