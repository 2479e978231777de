"""The page of a result and the site of many, in headless Chromium: in any width, light and dark, by keyboard alone."""

from __future__ import annotations

import dataclasses
import functools
import re
import threading
from collections.abc import Callable
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from saved_recordings import CORPUS, save

from wireproof.cli.saved import EVERY
from wireproof.model.catalogue import load
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.report.examples import SiteEntry
from wireproof.report.page import page as page_of
from wireproof.report.site import site
from wireproof.results import folder
from wireproof.results.document import Flaky, Repeated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wireproof.results.document import Report

Finds = Callable[[Page], list[str]]
Scheme = Literal["light", "dark"]
WIDTHS = (360, 800, 1280)
PAGES = (
    "index.html",
    "proxies/litellm-mock.html",
    "requirements/index.html",
    "requirements/chat.stream.finish-once.html",
)
REPEATED = "repeated.html"
MOST_TABS = 400
"""More than the stops of any page here up to what is sought."""


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of some recordings, and the page of a result beside it."""
    root, results = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("results")
    entries = [
        entry(results / f"{name}@{version}", name, recording, version)
        for name, recording, version in (
            ("litellm-mock", "litellm-mock", "1.0"), ("stub", "stubllm", "1"), ("stub", "mockllm", "1.1"),
        )
    ]  # fmt: skip
    write(root, entries)
    text = page_of(entries[0].report, entries[0].runs)
    (root / "result.html").write_bytes(text.encode(errors="backslashreplace"))
    (root / REPEATED).write_bytes(
        page_of(repeated(entries[0].report), entries[0].runs).encode(errors="backslashreplace")
    )
    return root


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site of every recording, as wide as the public one: its address."""
    root, results = tmp_path_factory.mktemp("many"), tmp_path_factory.mktemp("results")
    names = sorted(path.stem for path in CORPUS.glob("*.gz"))
    write(root, [entry(results / name, name, name, "1.0") for name in names])
    with serving(root) as found:
        yield found


def entry(saved: Path, name: str, recording: str, version: str) -> SiteEntry:
    report = save(recording, saved)
    return SiteEntry(name=name, version=version, report=report, runs=folder.read(saved).archive(EVERY).runs)


def write(root: Path, entries: list[SiteEntry]) -> None:
    for path, text in site(entries, load(), level=VerdictLevel.STRICT):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_bytes(text.encode(errors="backslashreplace"))


def repeated(report: Report) -> Report:
    """The same result as the second of three runs, in which alone two requirements were broken."""
    broken = [cell for cell in report.cells if cell.strict is Verdict.FAIL][:2]
    verdicts = (Verdict.PASS, Verdict.FAIL, Verdict.NOT_OBSERVED)
    flaky = tuple(
        Flaky(
            requirement=cell.requirement, dialect=cell.dialect, mode=cell.mode, strict=verdicts, compat=verdicts,
            seen="two answers of one conversation have different ids", scenarios=("text-hello", "call-one"),
        )
        for cell in broken
    )  # fmt: skip
    runs = tuple(
        Repeated(status=status, began=report.began, seconds=2.0, shown=status == 1, folder="") for status in (0, 1, 4)
    )
    return dataclasses.replace(report, repeats=runs, flaky=flaky)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name there)
        """Say nothing."""


@contextmanager
def serving(root: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def url(pages: Path) -> Iterator[str]:
    with serving(pages) as found:
        yield found


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a tab; at its end nothing was asked for but the site, and nothing was complained of."""
    open_: list[Callable[[], None]] = []
    complaints: list[str] = []

    def opened(url: str, *, width: int = 1280, scheme: Scheme = "light") -> Page:
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        open_.append(context.close)
        page = context.new_page()
        root = re.match(r"https?://[^/]+", url)
        assert root
        mine = (root[0], "file:")
        page.on("request", lambda one: None if one.url.startswith(mine) else complaints.append(one.url))
        page.on("console", lambda one: complaints.append(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(url)
        return page

    yield opened
    for close in open_:
        close()
    # Browsers ask for an icon by themselves.
    assert [one for one in complaints if "favicon" not in one and "404" not in one] == []


def fits(page: Page) -> None:
    """Nothing makes the page wider than the window: a person need not scroll sideways to read."""
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1")


def tab_to(page: Page, sought: Locator) -> None:
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if sought.and_(page.locator(":focus")).count():
            return
    raise AssertionError(f"Tab does not reach {sought}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", [*PAGES, "result.html", REPEATED])
def test_nothing_serious_is_found_in_any_width_light_or_dark(
    tab: Callable[..., Page], url: str, serious: Finds, path: str, width: int, scheme: Scheme
) -> None:
    page = tab(f"{url}/{path}", width=width, scheme=scheme)
    fits(page)
    assert serious(page) == []
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert dark is (scheme == "dark")
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") is (scheme == "light")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", ["index.html", "proxies/litellm.html", "requirements/chat.stream.finish-once.html"])
def test_nothing_serious_is_found_on_the_site_of_many_proxies(
    tab: Callable[..., Page], many: str, serious: Finds, path: str, width: int, scheme: Scheme
) -> None:
    page = tab(f"{many}/{path}", width=width, scheme=scheme)
    fits(page)
    assert serious(page) == []


# The page of a result.


def test_what_is_flaky_is_a_table_and_is_found_in_the_matrix(tab: Callable[..., Page], url: str) -> None:
    page = tab(f"{url}/{REPEATED}")
    table = page.get_by_role("region", name="Flaky requirements")
    expect(table.locator("tbody tr")).to_have_count(2)
    expect(table.locator("tbody tr").first.locator(".verdict")).to_have_text(["pass", "fail", "not observed"])
    page.locator("select[name=verdict]").select_option("flaky")
    shown = page.locator("#matrix tbody tr:visible")
    expect(page.get_by_role("status").filter(has_text="shown")).to_contain_text(f"{shown.count()} of ")
    assert 1 <= shown.count() <= 2
    expect(shown.first.locator("[data-flaky]").first).to_contain_text("fail, flaky: ")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_an_exchange_is_opened_with_its_frame_marked(
    tab: Callable[..., Page], url: str, serious: Finds, width: int, scheme: Scheme
) -> None:
    page = tab(f"{url}/result.html", width=width, scheme=scheme)
    page.get_by_role("button", name="Show the exchange of chat.stream.finish-once").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name=re.compile("^chat.stream.finish-once, "))).to_be_focused()
    expect(dialog.locator(".frames .mine").first).to_be_in_viewport()
    expect(dialog.get_by_role("img", name=re.compile("frames in .* lanes")).first).to_be_attached()
    assert serious(page) == []
    fits(page)


def test_a_result_is_read_by_keyboard_alone(tab: Callable[..., Page], url: str) -> None:
    page = tab(f"{url}/result.html")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the matrix")).to_be_focused()
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("searchbox", name="Search"))
    page.keyboard.type("finish-once")
    expect(page.get_by_role("status").filter(has_text=re.compile(r"^1 of \d+ requirements shown$"))).to_be_visible()
    cell = page.get_by_role("button", name="fail: chat.stream.finish-once, openai-json, stream")
    tab_to(page, cell)
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    tab_to(page, dialog.get_by_text("Request", exact=True).first)
    page.keyboard.press("Enter")
    expect(dialog.get_by_text("curl -sN").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(cell).to_be_focused()


def test_a_filter_leaves_what_fits(tab: Callable[..., Page], url: str) -> None:
    page = tab(f"{url}/result.html")
    page.get_by_role("combobox", name="Verdict").select_option("fail")
    rows = page.locator("#matrix tbody tr:visible")
    count = rows.count()
    assert 0 < count < page.locator("#matrix tbody tr").count()
    assert page.locator("#matrix tbody tr:visible:has(.cell.fail)").count() == count
    page.get_by_role("combobox", name="Mode").select_option("whole")
    expect(page.get_by_role("columnheader", name="stream")).to_have_count(0)


# The site.


def test_a_person_goes_from_the_matrix_to_the_wire_by_keyboard(tab: Callable[..., Page], url: str) -> None:
    page = tab(f"{url}/index.html")
    tab_to(page, page.get_by_role("link", name=re.compile("fail: litellm-mock, chat, chat.stream")))
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/proxies/litellm-mock\.html"))
    tab_to(page, page.get_by_role("link", name="chat.stream.finish-once").first)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/requirements/chat\.stream\.finish-once\.html"))
    expect(page.get_by_role("heading", name="Broken by litellm-mock 1.0")).to_be_visible()
    expect(page.get_by_role("heading", name="Kept by ")).to_be_visible()
    expect(page.locator("section.broken mark")).to_contain_text("[DONE]")
    tab_to(page, page.get_by_role("link", name="litellm-mock"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("link", name="The whole result, with every exchange"))
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/results/litellm-mock@1\.0\.html"))


@pytest.mark.parametrize("path", PAGES)
def test_a_page_of_the_site_is_read_from_a_disk(tab: Callable[..., Page], pages: Path, url: str, path: str) -> None:
    page = tab(f"{url}/{path}")
    page.goto((pages / path).as_uri())
    assert page.locator("main h1").count() == 1
    assert page.evaluate("getComputedStyle(document.body).fontFamily").startswith("system-ui")
