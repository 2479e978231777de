"""The page that asks for approval, in headless Chromium: by keyboard alone, with and without scripts."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from wireproof_mocks.personas.approval import asking
from wireproof_mocks.personas.approval.asking import ApprovalQuestion, Decision
from wireproof_mocks.personas.approval.page import Page as Approval
from wireproof_mocks.personas.approval.page import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Asks = Callable[[ApprovalQuestion], Future[Decision]]

SEARCH = ApprovalQuestion(
    title="Vault Search", purpose="Searches your notes.",
    arguments={"query": "machine <b>learning</b>", "limit": 10},
)  # fmt: skip
READ = ApprovalQuestion(
    title="File Read", purpose="Reads the files that you select.",
    arguments={"filePaths": ["path/to/one.md", "two.md", "deep/er/three.md"]}, files="filePaths",
)  # fmt: skip
Role = Literal["button", "checkbox"]
MOST_TABS = 12
"""A page with more stops than these has none that is sought."""


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def either(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    context = chromium.new_context(java_script_enabled=request.param)
    yield context
    context.close()


@pytest.fixture
def scripted(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context()
    yield context
    context.close()


@pytest.fixture
def approval() -> Iterator[Approval]:
    with serving(lambda _: None) as page:
        yield page


@pytest.fixture
def ask(approval: Approval) -> Iterator[Asks]:
    with ThreadPoolExecutor() as pool:
        yield lambda question: pool.submit(approval, question)
        if number := approval.number():
            approval.chosen(number, "cancel", [])


def opened(context: BrowserContext, approval: Approval, title: str) -> Page:
    """A tab with the page, once it shows this question."""
    page = context.new_page()
    page.goto(approval.url)
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    return page


def tab_to(page: Page, role: Role, name: str) -> None:
    """Press Tab until this control has the focus."""
    control = page.get_by_role(role, name=name)
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if control.and_(page.locator(":focus")).count():
            return
    raise AssertionError(f"Tab does not reach the {role} {name}")


def test_a_call_is_approved_by_keyboard(either: BrowserContext, approval: Approval, ask: Asks) -> None:
    decision = ask(SEARCH)
    page = opened(either, approval, "Vault Search")
    for text in ("The AI wants to use the following tool:", "machine <b>learning</b>", asking.PRIVACY, SEARCH.purpose):
        expect(page.get_by_text(text)).to_be_visible()
    tab_to(page, "button", asking.APPROVE)
    page.keyboard.press("Enter")
    assert decision.result(10) == SEARCH.approved()
    expect(page.get_by_text("Approved: Vault Search.")).to_be_visible()


def test_a_call_is_cancelled_by_keyboard(either: BrowserContext, approval: Approval, ask: Asks) -> None:
    decision = ask(SEARCH)
    page = opened(either, approval, "Vault Search")
    tab_to(page, "button", asking.CANCEL)
    page.keyboard.press("Space")
    assert decision.result(10) == SEARCH.cancelled()
    expect(page.get_by_text("Cancelled: Vault Search.")).to_be_visible()


def test_files_are_selected_by_keyboard(either: BrowserContext, approval: Approval, ask: Asks) -> None:
    decision = ask(READ)
    page = opened(either, approval, "File Read")
    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(3)
    tab_to(page, "button", asking.NONE)
    page.keyboard.press("Enter")
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(0)
    tab_to(page, "button", asking.ALL)
    page.keyboard.press("Enter")
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(3)
    tab_to(page, "checkbox", "one.md")
    page.keyboard.press("Space")
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(2)
    tab_to(page, "button", asking.APPROVE)
    page.keyboard.press("Enter")
    assert decision.result(10).arguments == {"filePaths": ["two.md", "deep/er/three.md"]}


def test_enter_in_a_checkbox_shares_nothing(either: BrowserContext, approval: Approval, ask: Asks) -> None:
    decision = ask(READ)
    page = opened(either, approval, "File Read")
    tab_to(page, "checkbox", "two.md")
    page.keyboard.press("Enter")
    expect(page.get_by_role("checkbox")).to_have_count(3)
    assert not decision.done()


def test_escape_cancels(scripted: BrowserContext, approval: Approval, ask: Asks) -> None:
    decision = ask(READ)
    opened(scripted, approval, "File Read").keyboard.press("Escape")
    assert not decision.result(10).approved


def test_closing_the_page_cancels(scripted: BrowserContext, approval: Approval, ask: Asks) -> None:
    decision = ask(READ)
    opened(scripted, approval, "File Read").close()
    assert not decision.result(20).approved


def test_a_reload_does_not_cancel(scripted: BrowserContext, approval: Approval, ask: Asks) -> None:
    decision = ask(SEARCH)
    page = opened(scripted, approval, "Vault Search")
    for _ in range(3):
        page.reload()
    tab_to(page, "button", asking.APPROVE)
    page.keyboard.press("Enter")
    assert decision.result(10).approved


def test_the_next_question_comes_by_itself(either: BrowserContext, approval: Approval, ask: Asks) -> None:
    first = ask(SEARCH)
    page = opened(either, approval, "Vault Search")
    tab_to(page, "button", asking.APPROVE)
    page.keyboard.press("Enter")
    first.result(10)
    second = ask(READ)
    expect(page.get_by_role("heading", name="File Read")).to_be_visible(timeout=10_000)
    tab_to(page, "button", asking.CANCEL)
    page.keyboard.press("Enter")
    assert not second.result(10).approved


def test_the_end_of_the_conversation_is_said(scripted: BrowserContext) -> None:
    page = scripted.new_page()
    with serving(lambda _: None) as approval:
        page.goto(approval.url)
        expect(page.get_by_role("status")).to_have_text("Waiting for the next request of the AI.")
    expect(page.get_by_role("status")).to_have_text("The conversation has ended. You can close this page.")


def test_nothing_is_loaded_from_elsewhere_and_no_rule_is_broken(
    scripted: BrowserContext, approval: Approval, ask: Asks
) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    page = scripted.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    decision = ask(READ)
    page.goto(approval.url)
    page.get_by_role("button", name=asking.APPROVE).press("Enter")
    decision.result(10)
    expect(page.get_by_role("status")).to_be_visible()
    assert asked
    assert {url for url in asked if not url.startswith((approval.url, "data:"))} == set()
    assert complaints == []


def test_every_control_has_a_name_and_the_focus_is_seen(
    scripted: BrowserContext, approval: Approval, ask: Asks
) -> None:
    ask(READ)
    page = opened(scripted, approval, "File Read")
    names = ["one.md", "two.md", "three.md", asking.ALL, asking.NONE, asking.APPROVE, asking.CANCEL]
    seen = []
    for _ in names:
        page.keyboard.press("Tab")
        focus = page.locator("*:focus")
        assert focus.evaluate("it => getComputedStyle(it).outlineStyle") == "solid"
        seen.append(focus.evaluate("it => it.labels[0]?.innerText ?? it.innerText"))
    assert seen == names
    expect(page.get_by_role("checkbox", name="one.md")).to_have_accessible_description("path/to/one.md")
    expect(page.get_by_role("group", name=asking.SELECT)).to_be_visible()
    assert page.title() == f"File Read - {asking.TITLE}"
