"""A run that was repeated, in every format: what is broken in some runs and not in all."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from saved_recordings import CONFIGURATION

from wireproof.cli import saved
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Mode
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.report import terminal
from wireproof.report.data import report_of
from wireproof.report.examples import SiteEntry
from wireproof.report.json_lines import json_lines
from wireproof.report.junit import junit
from wireproof.report.markdown import markdown
from wireproof.report.page import page
from wireproof.report.site import site
from wireproof.results import folder
from wireproof.results.cells import flaky, of_all
from wireproof.results.certificate import ExitStatus, worst

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import Console

    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate

    Make = Callable[..., Exchange]
    Certified = Callable[..., Certificate]

TEXT = "chat.stream.text"
STOP = {"finish": "stop"}


@pytest.fixture
def good(right_stream: Make, certified: Certified) -> Certificate:
    return certified(right_stream("text-hello"))


@pytest.fixture
def bad(stream: Make, certified: Certified) -> Certificate:
    return certified(stream("text-hello", {"role": "assistant"}, {"content": "no"}, STOP))


def test_the_worst_of_several_runs_stands_for_all(good: Certificate, bad: Certificate) -> None:
    assert of_all([good]) is good
    one = of_all([good, bad, good])
    assert (one.exit, one.outcomes) == (ExitStatus.FAILED, bad.outcomes)
    assert one.every == (good, bad, good)


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        ((ExitStatus.CERTIFIED, ExitStatus.PARTIAL), ExitStatus.PARTIAL),
        ((ExitStatus.UNREACHABLE, ExitStatus.PARTIAL), ExitStatus.UNREACHABLE),
        ((ExitStatus.UNREACHABLE, ExitStatus.FAILED), ExitStatus.FAILED),
        ((ExitStatus.FAILED, ExitStatus.INTERRUPTED), ExitStatus.INTERRUPTED),
        ((ExitStatus.CERTIFIED,), ExitStatus.CERTIFIED),
    ],
)
def test_what_was_seen_broken_is_worse_than_what_was_not_seen(
    statuses: tuple[ExitStatus, ...], status: ExitStatus
) -> None:
    assert worst(statuses) is status


def test_what_is_broken_in_some_runs_only_is_flaky(good: Certificate, bad: Certificate) -> None:
    [one] = [row for row in flaky(of_all([good, bad, good]), load()) if row.requirement == TEXT]
    assert (one.dialect, one.mode, one.scenarios) == (Dialect.OPENAI_JSON, Mode.STREAM, ("text-hello",))
    assert one.strict == one.compat == (Verdict.PASS, Verdict.FAIL, Verdict.PASS)
    assert one.seen.endswith('"no" instead of "Hello, world!"')


def test_what_is_broken_in_all_runs_or_in_none_is_not(good: Certificate, bad: Certificate) -> None:
    assert flaky(of_all([bad, bad]), load()) == ()
    assert flaky(of_all([good, good]), load()) == ()
    assert flaky(bad, load()) == ()


def test_a_known_failure_is_not_flaky(good: Certificate, certified: Certified, stream: Make) -> None:
    said = stream("text-hello", {"role": "assistant"}, {"content": "no"}, STOP)
    known = certified(said, known={f"text-hello:{TEXT}": "ours"})
    assert TEXT not in {row.requirement for row in flaky(of_all([good, known]), load())}


def test_every_format_says_what_is_flaky(
    good: Certificate, bad: Certificate, console: Console, printed: Callable[[], str]
) -> None:
    one = of_all([good, bad, good])
    report = report_of(one, load(), CONFIGURATION, folder.versions())
    assert [run.status for run in report.repeats] == [ExitStatus.PARTIAL, ExitStatus.FAILED, ExitStatus.PARTIAL]
    assert [run.shown for run in report.repeats] == [False, True, False]
    terminal.report(console, report, one, load())
    assert "3 runs, exit statuses 4, 1, 4; the worst is shown" in printed()
    assert f"FLAKY  {TEXT}  stream, openai-json: pass, fail, pass; " in printed()
    assert f"| `{TEXT}` | openai-json | stream | pass, fail, pass |" in markdown(report)
    data = json.loads(folder.as_json(report))
    lines = [line for line in map(json.loads, json_lines(data).splitlines()) if line["kind"] == "flaky"]
    assert [{"kind": "flaky", **row} for row in data["flaky"]] == lines
    suite = next(one for one in ET.fromstring(junit(report)) if one.get("name") == "flaky")  # noqa: S314 (our own)
    case = next(one for one in suite if one.get("name") == f"{TEXT} (openai-json, stream)")
    failure = case.find("failure")
    assert failure is not None
    assert "pass, fail, pass in 3 runs: " in str(failure.get("message"))


def test_every_format_says_the_status_that_was_accepted(
    good: Certificate, bad: Certificate, console: Console, printed: Callable[[], str]
) -> None:
    one = of_all([good, bad, good])
    report = report_of(one, load(), replace(CONFIGURATION, allow_partial=True), folder.versions())
    terminal.report(console, report, one, load())
    for said in (printed(), markdown(report), page(report, one.runs)):
        assert re.search(r"exit statuses (are )?0, 1, 0\b", said)


def test_the_page_has_a_table_of_runs_and_marks_the_cells(good: Certificate, bad: Certificate) -> None:
    one = of_all([good, bad, good])
    said = page(report_of(one, load(), CONFIGURATION, folder.versions()), one.runs)
    assert "Their exit statuses are 4, 1, 4; all else here is of the worst one." in said
    row = said.partition(f'<tr><th scope="row"><code>{TEXT}</code></th><td>openai-json</td><td>stream</td>')[2]
    assert re.findall(r'verdict ([a-z]+)">', row.partition("</tr>")[0]) == ["pass", "fail", "pass"]
    assert "&#34;no&#34; instead of &#34;Hello, world!&#34;" in row.partition("</tr>")[0]
    cell = re.search(
        rf'<button[^>]* data-requirement="{TEXT}" data-dialect="openai-json" data-mode="stream" data-strict[^>]*>', said
    )
    assert cell is not None
    assert 'data-flaky="1"' in cell[0]
    assert f'<span class="hidden">fail, flaky: {TEXT}, openai-json, stream</span>' in said
    assert "<option>flaky</option>" in said


def test_the_page_of_runs_that_break_the_same_says_so(bad: Certificate) -> None:
    one = of_all([bad, bad])
    said = page(report_of(one, load(), CONFIGURATION, folder.versions()), one.runs)
    assert "Nothing is flaky: each of them breaks the same." in said
    assert not re.search(r"data-flaky=|<option>flaky|, flaky:", said.partition("<script>")[0])


def test_the_site_says_what_is_flaky(good: Certificate, bad: Certificate) -> None:
    one = of_all([good, bad])
    report = report_of(one, load(), CONFIGURATION, folder.versions())
    pages = dict(
        site([SiteEntry(name="p", version="1", report=report, runs=one.runs)], load(), level=VerdictLevel.STRICT)
    )
    assert f"{len(report.flaky)} flaky</span>" in pages["index.html"]
    assert '<h2 id="runs-title">2 runs</h2>' in pages["proxies/p.html"]
    assert f"<code>{TEXT}</code>" in pages["proxies/p.html"].partition("Flaky requirement")[2].partition("</table>")[0]
    assert "openai-json stream: fail, flaky</span>" in pages[f"requirements/{TEXT}.html"]
    steady = report_of(bad, load(), CONFIGURATION, folder.versions())
    pages = dict(
        site([SiteEntry(name="p", version="1", report=steady, runs=bad.runs)], load(), level=VerdictLevel.STRICT)
    )
    assert not [
        name for name, text in pages.items() if name[:8] != "results/" and "flaky" in text.partition("<body>")[2]
    ]


def test_a_single_run_says_nothing_of_runs(bad: Certificate, console: Console, printed: Callable[[], str]) -> None:
    report = report_of(bad, load(), CONFIGURATION, folder.versions())
    assert (report.repeats, report.flaky) == ((), ())
    terminal.report(console, report, bad, load())
    texts = (printed(), markdown(report), junit(report))
    assert [text for text in texts if "exit statuses" in text or "laky" in text] == []


def test_each_run_has_its_own_result_below_that_of_all(good: Certificate, bad: Certificate, tmp_path: Path) -> None:
    one, versions = of_all([good, bad]), folder.versions()
    report = report_of(one, load(), CONFIGURATION, versions)
    runs = [(report_of(run, load(), CONFIGURATION, versions), run) for run in one.every]
    folder.check(tmp_path)
    written = folder.write(tmp_path, report, one, runs=runs)
    assert [run.folder for run in written.repeats] == ["runs/1", "runs/2"]
    assert folder.read(tmp_path).report == written
    assert [folder.read(tmp_path / run.folder).report.status for run in written.repeats] == [4, 1]
    # What is saved is judged again as it was.
    again = saved.certificate_of_all(folder.read(tmp_path), load())
    assert flaky(again, load()) == report.flaky
    # Another result takes its place, and that of its runs.
    folder.check(tmp_path)
    folder.write(tmp_path, replace(report, repeats=()), good)
    assert not (tmp_path / "runs").exists()


def test_a_folder_of_runs_that_holds_something_else_is_kept(tmp_path: Path) -> None:
    (tmp_path / "runs" / "1").mkdir(parents=True)
    (tmp_path / "runs" / "1" / "thesis.tex").write_text("mine")
    with pytest.raises(folder.FolderError, match="holds runs, which is not part of a result"):
        folder.check(tmp_path)
