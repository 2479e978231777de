"""The page as HTTP shows it. What a browser makes of it, see `conformance/browser`."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from html.parser import HTMLParser

import httpx
import pytest

from wireproof_mocks.personas.approval import page as module
from wireproof_mocks.personas.approval.asking import PRIVACY, ApprovalQuestion, Decision
from wireproof_mocks.personas.approval.page import Page, serving

SEARCH = ApprovalQuestion(
    title="Vault Search", purpose="Searches your notes.",
    arguments={"query": "<b>machine</b> & \u202elearning", "limit": 10},
)  # fmt: skip
READ = ApprovalQuestion(
    title="File Read", purpose="Reads files.",
    arguments={"filePaths": ["path/to/one.md", "two.md"]}, files="filePaths",
)  # fmt: skip

Asks = Callable[[ApprovalQuestion], Future[Decision]]


@pytest.fixture
def shown() -> list[str]:
    return []


@pytest.fixture
def page(shown: list[str]) -> Iterator[Page]:
    with serving(shown.append) as served:
        yield served


@pytest.fixture
def asks(page: Page) -> Iterator[Asks]:
    """Ask on the page, in a thread; it returns once the question is shown."""
    with ThreadPoolExecutor() as pool:

        def ask(question: ApprovalQuestion) -> Future[Decision]:
            future = pool.submit(page, question)
            while page.number() == 0:  # it is asked at once
                threading.Event().wait(0.01)
            return future

        yield ask
        while page.number():
            page.chosen(page.number(), "cancel", [])


@pytest.fixture
def browser(page: Page) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=page.url, follow_redirects=True, trust_env=False) as client:
        yield client


class _Controls(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def controls(text: str, tag: str) -> list[dict[str, str | None]]:
    parser = _Controls()
    parser.feed(text)
    return [attributes for name, attributes in parser.found if name == tag]


def choose(browser: httpx.Client, do: str, *files: int) -> httpx.Response:
    number = re.search(r'name="number" value="(\d+)"', browser.get("").text)
    assert number is not None
    data = {"number": number[1], "do": do, "file": [str(file) for file in files]}
    return browser.post("", data=data).raise_for_status()


def test_the_page_shows_what_the_window_shows_and_escapes_it(browser: httpx.Client, asks: Asks) -> None:
    asks(SEARCH)
    text = browser.get("").text
    for words in ("Vault Search", "Searches your notes.", "query", PRIVACY, "Approve and Execute", "Cancel"):
        assert words in text
    assert "<b>" not in text
    assert "\u202e" not in text
    assert "&lt;b&gt;machine&lt;/b&gt; &amp; \\u202elearning" in text


def test_approving_and_cancelling(browser: httpx.Client, asks: Asks) -> None:
    approved = asks(SEARCH)
    assert "Approved: Vault Search." in choose(browser, "approve").text
    assert approved.result(5) == SEARCH.approved()
    cancelled = asks(SEARCH)
    assert "Cancelled: Vault Search." in choose(browser, "cancel").text
    assert cancelled.result(5) == SEARCH.cancelled()


def test_files_are_selected(browser: httpx.Client, asks: Asks) -> None:
    future = asks(READ)
    boxes = [box for box in controls(browser.get("").text, "input") if box["type"] == "checkbox"]
    assert [("checked" in box, box["value"]) for box in boxes] == [(True, "0"), (True, "1")]
    none = controls(choose(browser, "none", 0, 1).text, "input")
    assert not any("checked" in box for box in none)
    every = controls(choose(browser, "all").text, "input")
    assert sum("checked" in box for box in every) == 2
    choose(browser, "approve", 1)
    assert future.result(5).arguments == {"filePaths": ["two.md"]}


def test_a_decision_on_another_question_changes_nothing(browser: httpx.Client, asks: Asks, page: Page) -> None:
    first = asks(SEARCH)
    choose(browser, "approve")
    assert first.result(5).approved
    second = asks(READ)
    page.chosen(1, "approve", [])
    page.closed(1)
    browser.post("", data={"number": "x", "do": "approve"}).raise_for_status()
    browser.post("", data={"number": "2", "do": "sing"}).raise_for_status()
    assert not second.done()
    choose(browser, "cancel")
    assert not second.result(5).approved


def test_closing_cancels_unless_the_page_comes_back(
    browser: httpx.Client, asks: Asks, monkeypatch: pytest.MonkeyPatch
) -> None:
    reloaded = asks(SEARCH)
    browser.post("closed", data={"number": "1"}).raise_for_status()
    browser.get("")
    monkeypatch.setattr(module, "GRACE", 0.05)
    choose(browser, "approve")
    assert reloaded.result(5).approved
    closed = asks(READ)
    browser.post("closed", data={"number": "2"}).raise_for_status()
    assert not closed.result(5).approved


def test_the_page_says_whether_there_is_a_question(browser: httpx.Client, asks: Asks, page: Page) -> None:
    assert browser.get("number").text == "0"
    assert "Waiting for the next request" in browser.get("").text
    asks(SEARCH)
    assert browser.get("number").text == "1"
    page.chosen(1, "cancel", [])
    assert browser.get("number").text == "0"


def test_the_address_is_shown_once(asks: Asks, page: Page, shown: list[str]) -> None:
    for number in (1, 2):
        future = asks(SEARCH)
        page.chosen(number, "cancel", [])
        future.result(5)
    assert shown == [page.url]


def test_no_one_else_gets_at_the_page(browser: httpx.Client, page: Page, asks: Asks) -> None:
    asks(SEARCH)
    root = page.url.rsplit("/", 2)[0]
    assert httpx.get(f"{root}/", trust_env=False).status_code == 404
    assert httpx.get(f"{root}/other/", trust_env=False).status_code == 404
    assert browser.get("", headers={"host": "evil.example:80"}).status_code == 403
    assert page.url.startswith("http://127.0.0.1:")


def test_the_page_loads_nothing_and_no_cache_keeps_it(browser: httpx.Client, asks: Asks) -> None:
    asks(READ)
    answer = browser.get("")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    nonce = re.search(r"script-src 'nonce-([\w-]+)'", policy)
    assert nonce is not None
    assert {one["nonce"] for one in controls(answer.text, "script") + controls(answer.text, "style")} == {nonce[1]}
    assert answer.headers["cache-control"] == "no-store"
    assert not re.search(r"(src|href)=\"(?!data:,)", answer.text)


def test_every_control_has_a_name_and_every_file_its_path(browser: httpx.Client, asks: Asks) -> None:
    asks(READ)
    text = browser.get("").text
    labels = {one["for"] for one in controls(text, "label")}
    ids = {one.get("id") for tag in ("span", "input", "h2") for one in controls(text, tag)}
    boxes = [box for box in controls(text, "input") if box["type"] == "checkbox"]
    assert {box["id"] for box in boxes} == labels
    assert {box["aria-describedby"] for box in boxes} <= ids
    assert controls(text, "html") == [{"lang": "en"}]
    assert controls(text, "legend")
    assert controls(text, "form")[0]["aria-labelledby"] in ids


def test_an_interrupt_in_the_terminal_cancels(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Condition, "wait", interrupt)
    decision = page(SEARCH)
    monkeypatch.undo()
    assert not decision.approved
