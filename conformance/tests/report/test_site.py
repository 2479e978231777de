"""The site of many results: what its tables say, that its links lead somewhere, and that a target writes no HTML."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from saved_recordings import save

from wireproof.cli.saved import EVERY
from wireproof.model.catalogue import load
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.report.examples import SiteEntry, failing, passing, slug
from wireproof.report.explain import topic_of
from wireproof.report.site import site
from wireproof.results import folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NASTY = '"><script>alert(1)</script>\x1b[31m\ud800'
ALONE = {"meta", "br"}
"""Elements that have no end."""
CONTENT = re.compile(r"default-src 'none'; style-src 'unsafe-inline'")


class Elements(HTMLParser):
    """The elements of a page and its words; what is open must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ALONE:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, attributes in self.found if (value := attributes.get(name))]

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


def entry(tmp: pytest.TempPathFactory, recording: str, name: str, version: str) -> SiteEntry:
    path = tmp.mktemp("results") / "result"
    report = save(recording, path, began=f"2026-11-22T22:00:0{len(version)}+00:00")
    return SiteEntry(name=name, version=version, report=report, runs=folder.read(path).archive(EVERY).runs)


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> Sequence[SiteEntry]:
    """One proxy in two versions, of which the second breaks other things, and one more."""
    return [
        entry(tmp_path_factory, "stubllm", "stub", "1"),
        entry(tmp_path_factory, "mockllm", "stub", "1.1"),
        entry(tmp_path_factory, "llmock", "llmock", ""),
    ]


@pytest.fixture(scope="module")
def pages(entries: Sequence[SiteEntry]) -> Mapping[str, str]:
    return dict(site(entries, load(), level=VerdictLevel.STRICT))


def of_site(pages: Mapping[str, str]) -> list[str]:
    """The pages of the site itself; those of results have tests of their own."""
    return [name for name in pages if not name.startswith("results/")]


def test_there_is_a_page_for_each_proxy_result_and_requirement(pages: Mapping[str, str]) -> None:
    assert {name for name in pages if "/" not in name} == {"index.html"}
    assert {name for name in pages if name.startswith("proxies/")} == {"proxies/stub.html", "proxies/llmock.html"}
    assert {name for name in pages if name.startswith("results/")} == {
        "results/stub@1.html", "results/stub@1.1.html", "results/llmock.html",
    }  # fmt: skip
    rows = {f"requirements/{row.id}.html" for row in load().requirements}
    assert {name for name in pages if name.startswith("requirements/")} == {*rows, "requirements/index.html"}


def test_every_link_leads_to_a_page_and_to_a_place_in_it(pages: Mapping[str, str]) -> None:
    read = {name: Elements(pages[name]) for name in of_site(pages)}
    for name, page in read.items():
        for href in page.values("href"):
            path, _, place = href.partition("#")
            there = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(path))) if path else name
            assert there in pages, (name, href)
            assert not place or place in read[there].values("id"), (name, href)


def test_no_page_has_a_script_or_asks_for_anything(pages: Mapping[str, str]) -> None:
    for name in of_site(pages):
        page = Elements(pages[name])
        assert not {"script", "img", "link", "iframe"} & {tag for tag, _ in page.found}
        assert not [value for value in page.values("href") if "//" in value]
        assert any(CONTENT.fullmatch(value) for value in page.values("content"))
        assert len(page.values("id")) == len(set(page.values("id"))), name


def test_every_page_has_one_title_one_main_and_headings_in_order(pages: Mapping[str, str]) -> None:
    for name in of_site(pages):
        found = [tag for tag, _ in Elements(pages[name]).found]
        assert [found.count(tag) for tag in ("title", "main", "h1")] == [1, 1, 1]
        depths = [int(tag[1]) for tag in found if re.fullmatch("h[1-6]", tag)]
        assert all(after <= before + 1 for before, after in pairwise(depths)), name


def test_the_matrix_counts_what_the_results_say(pages: Mapping[str, str], entries: Sequence[SiteEntry]) -> None:
    page = Elements(pages["index.html"])
    newest = entries[1]
    cells = [cell for cell in newest.report.cells if topic_of(cell.requirement) == "param"]
    names = {cell.requirement for cell in cells}
    verdicts = {name: {cell.strict for cell in cells if cell.requirement == name} for name in names}
    judged = [found for found in verdicts.values() if found & {Verdict.PASS, Verdict.WARN, Verdict.FAIL}]
    kept = [found for found in judged if not found & {Verdict.WARN, Verdict.FAIL}]
    assert f"✗ {len(kept)}/{len(judged)} fail: stub, chat, param" in page.text
    assert "not certified" in page.text
    assert "stub 1.1" in page.text
    # The older version is on the page of the proxy.
    assert "results/stub@1.html" not in page.values("href")


def test_the_page_of_a_proxy_says_what_a_version_has_changed(
    pages: Mapping[str, str], entries: Sequence[SiteEntry]
) -> None:
    old, new = (frozenset(one.report.levels[VerdictLevel.STRICT].broken) for one in entries[:2])
    assert new - old
    assert old - new
    rows = Elements(pages["proxies/stub.html"]).text
    for name in new - old:
        assert f"broken {name}" in rows
    for name in old - new:
        assert f"mended {name}" in rows
    assert rows.index("2026-11-22T22:00:03") < rows.index("2026-11-22T22:00:01")


def test_the_page_of_a_requirement_says_all_of_it(pages: Mapping[str, str], entries: Sequence[SiteEntry]) -> None:
    row = load().find("chat.stream.stable-id")
    page = Elements(pages[f"requirements/{row.id}.html"]).text
    for said in (row.text, row.hint, *row.breaks, *(f"“{one.quote}”" for one in row.source)):
        assert " ".join(said.split()) in page
    broken = [one.name for one in entries[1:] if row.id in one.report.levels[VerdictLevel.STRICT].broken]
    assert f"Broken by {', '.join(broken)} at level strict." in page


def test_an_example_is_of_a_run_with_the_place_marked(entries: Sequence[SiteEntry], pages: Mapping[str, str]) -> None:
    broken = failing(entries)
    kept = passing(entries, broken)
    assert set(broken) == {
        o.requirement for one in entries for o in one.report.outcomes if o.strict in {"fail", "warn"}
    }
    assert set(kept) == {o.requirement for one in entries for o in one.report.outcomes if o.strict == "pass"}
    one = broken["chat.stream.stable-id"]
    assert one.at
    assert one.seen
    assert one.answer.startswith("HTTP 200\n")
    assert one.request.startswith("curl -sN ")
    bodies = [
        those[0].transcript.body
        for entry in entries
        for run in entry.runs
        for form, those in run.exchanges.items()
        if (run.scenario.name, str(form)) == (one.scenario, one.form)
    ]
    assert any(one.at.encode() in body for body in bodies)
    page = Elements(pages["requirements/chat.stream.stable-id.html"])
    assert [tag for tag, _ in page.found].count("mark") == 1
    assert f"Broken by {one.of}" in page.text


def test_a_passing_example_is_of_the_scenario_that_is_broken_elsewhere(entries: Sequence[SiteEntry]) -> None:
    broken = failing(entries)
    kept = passing(entries, broken)
    both = [name for name in broken if name in kept]
    alike = [name for name in both if kept[name].scenario == broken[name].scenario]
    assert len(alike) > len(both) // 2
    assert all(kept[name].number == broken[name].number for name in alike if kept[name].form == broken[name].form)


def test_what_a_target_says_is_text(entries: Sequence[SiteEntry]) -> None:
    first = entries[0]
    target = first.report.target
    assert target is not None
    found = tuple(replace(one, seen=NASTY, scenarios=(NASTY,)) for one in first.report.findings)
    outcomes = tuple(
        replace(one, reason=NASTY, places=tuple(replace(place, seen=NASTY) for place in one.places))
        for one in first.report.outcomes
    )
    report = replace(
        first.report, target=replace(target, model=NASTY), findings=found, outcomes=outcomes, reason=NASTY, began=NASTY
    )
    pages = dict(site([replace(first, name=NASTY, version=NASTY, report=report)], load(), level=VerdictLevel.COMPAT))
    for name in of_site(pages):
        page = Elements(pages[name])
        assert "script" not in {tag for tag, _ in page.found}
        assert "\x1b" not in pages[name]
    assert "<script>alert(1)</script>" in Elements(pages["index.html"]).text
    assert all(re.fullmatch(r"[A-Za-z0-9@._/-]+", name) and ".." not in name for name in pages)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("litellm@1.2", "litellm@1.2"),
        ("../../etc/x", "--..-etc-x"),
        ("..", "-"),
        ("", "-"),
        ("a b", "a-b"),
    ],
)
def test_a_name_is_one_of_a_file_whatever_stands_in_it(name: str, file: str) -> None:
    assert slug(name) == file
