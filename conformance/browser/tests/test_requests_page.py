"""The page of an endpoint's requests, in headless Chromium: while a stream runs, by keyboard alone, in every width."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from wireproof_endpoint.in_process import endpoint_of
from wireproof_endpoint.scripts import scripts_in
from wireproof_endpoint.serving import running

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKUP = "<img src=x onerror=document.title='broken'><script>document.title='broken'</script>"
SCRIPTS: Any = [
    {"name": "weather", "when": "weather", "parts": [[{"say": ["It is", " sunny."]}]]},
    {"name": "markup", "when": "markup", "parts": [[{"say": MARKUP}]]},
    {"name": "slow", "when": "slow", "parts": [[{"say": "First"}, {"gate": "go"}, {"say": "second"}]]},
    {"name": "go", "parts": [[{"open": "go"}, {"say": "gone"}]]},
]
WIDTHS = (360, 800, 1280)
MOST_TABS = 20
LINES = """button => {
  const lines = new Map(), range = document.createRange();
  for (const node of button.childNodes) for (let at = 0; at < (node.length ?? 0); at++) {
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    const top = Math.round(range.getBoundingClientRect().top);
    lines.set(top, (lines.get(top) ?? "") + node.data[at]);
  }
  return [...lines.values()];
}"""
"""The lines of a button's text, as they are shown."""
Finds = Callable[[Page], list[str]]


@pytest.fixture
def url() -> Iterator[str]:
    scripts = scripts_in(SCRIPTS)
    with running(endpoint_of(lambda: scripts, strict=True)) as found:
        yield found


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    found = chromium.new_context()
    yield found
    found.close()


def ask(url: str, text: str, *, stream: bool = False) -> None:
    body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": text}]}
    headers = {"Authorization": "Bearer sk-secret-secret"}
    httpx.post(f"{url}/chat/completions", json=body, headers=headers, timeout=30, trust_env=False)


@contextmanager
def streaming(url: str) -> Iterator[Callable[[], None]]:
    """A stream that has begun and goes on when the function is called, at the latest at the end."""
    thread = threading.Thread(target=ask, args=(url, "[[wireproof:slow#1]]"), kwargs={"stream": True})
    thread.start()

    def go_on() -> None:
        if thread.is_alive():
            ask(url, "[[wireproof:go#1]]")
            thread.join()

    try:
        yield go_on
    finally:
        go_on()


def opened(context: BrowserContext, url: str) -> Page:
    page = context.new_page()
    page.goto(f"{url.removesuffix('/v1')}/_wireproof/")
    return page


def row(page: Page, number: int) -> Locator:
    return page.get_by_role("button", name=re.compile(rf"^{number} "))


def tab_to(page: Page, sought: Locator) -> None:
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if sought.and_(page.locator(":focus")).count():
            return
    raise AssertionError(f"Tab does not reach {sought}")


def test_requests_come_by_themselves_and_say_why(context: BrowserContext, url: str) -> None:
    page = opened(context, url)
    expect(page.get_by_text("No request has come yet.")).to_be_visible()
    ask(url, "The weather?")
    ask(url, "wether")
    row(page, 1).click()
    expect(page.get_by_role("heading", name="Request 1: POST /v1/chat/completions")).to_be_focused()
    expect(page.get_by_text("weather answers: the last message of the user contains 'weather'.")).to_be_visible()
    expect(
        page.get_by_text("markup: the last message of the user, 'The weather?', does not contain 'markup'.")
    ).to_be_visible()
    expect(page.get_by_text("authorization: ***")).to_be_visible()
    row(page, 2).click()
    refusal = page.get_by_text("No script matches 'wether': the nearest is weather")
    expect(refusal.first).to_be_visible()
    expect(page.get_by_role("heading", name="What was refused, and why")).to_be_visible()
    assert "sk-secret" not in page.content()


def test_a_click_anywhere_in_a_row_shows_its_request(context: BrowserContext, url: str) -> None:
    ask(url, "weather")
    page = opened(context, url)
    page.get_by_role("cell", name="weather").click()
    expect(page.get_by_role("heading", name="Request 1: POST /v1/chat/completions")).to_be_focused()


def test_a_path_is_divided_behind_its_slashes(chromium: Browser, url: str) -> None:
    ask(url, "weather")
    context = chromium.new_context(viewport={"width": WIDTHS[0], "height": 800})
    page = opened(context, url)
    lines = row(page, 1).evaluate(LINES)
    assert len(lines) > 1
    assert "".join(lines) == "1 POST /v1/chat/completions"
    assert all(line.endswith("/") for line in lines[:-1])
    context.close()


def test_a_stream_is_followed_while_it_runs(context: BrowserContext, url: str) -> None:
    page = opened(context, url)
    with streaming(url) as go_on:
        row(page, 1).click()
        frames = page.get_by_role("list", name="Frames in order").get_by_role("listitem")
        expect(frames.filter(has_text="First")).to_have_count(1)
        expect(page.get_by_role("status")).to_have_text("1 of 1 requests, 1 under way")
        page.get_by_role("searchbox", name="Search").fill("chat")
        before = frames.first.element_handle()
        go_on()
        expect(frames.filter(has_text="second")).to_have_count(1)
        expect(frames.filter(has_text="[DONE]")).to_have_count(1)
        # What is new was added: what was there, and who stood where, is as before.
        assert before is not None
        assert before.evaluate("it => it.isConnected")
        expect(page.get_by_role("searchbox", name="Search")).to_be_focused()
    expect(page.get_by_role("img", name=re.compile(r"^5 frames at \d moments in "))).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("2 of 2 requests, 0 under way")


def test_all_of_it_is_reached_by_keyboard(context: BrowserContext, url: str) -> None:
    for text in ("weather", "wether", "weather"):
        ask(url, text)
    page = opened(context, url)
    expect(row(page, 3)).to_be_visible()
    tab_to(page, page.get_by_role("combobox", name="Show"))
    tab_to(page, row(page, 3))
    page.keyboard.press("ArrowDown")
    expect(row(page, 2)).to_be_focused()
    page.keyboard.press("End")
    expect(row(page, 1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("^Request 2:"))).to_be_focused()
    tab_to(page, page.get_by_role("group", name="Body of the request"))
    page.keyboard.press("Escape")
    expect(row(page, 2)).to_be_focused()


def test_the_list_is_filtered_and_holds_still_when_it_is_asked_to(context: BrowserContext, url: str) -> None:
    ask(url, "weather")
    ask(url, "wether")
    page = opened(context, url)
    page.get_by_role("combobox", name="Show").select_option("refused")
    expect(page.get_by_role("status")).to_have_text("1 of 2 requests, 0 under way")
    expect(row(page, 1)).to_be_hidden()
    page.get_by_role("combobox", name="Show").select_option("all")
    page.get_by_role("searchbox", name="Search").fill("weather")
    expect(row(page, 1)).to_be_visible()
    page.get_by_role("searchbox", name="Search").fill("")
    pause = page.get_by_role("button", name="Pause")
    pause.click()
    ask(url, "weather")
    with page.expect_response(re.compile("brief")):
        expect(row(page, 3)).to_have_count(0)
        pause.click()
    expect(row(page, 3)).to_be_visible()


def test_what_was_sent_is_shown_as_text(context: BrowserContext, url: str) -> None:
    ask(url, f"markup {MARKUP}\u202e\u0007")
    page = opened(context, url)
    row(page, 1).click()
    expect(page.get_by_text("onerror=document.title").first).to_be_visible()
    expect(page.get_by_text(r"\u202e").first).to_be_visible()
    assert page.locator("img").count() == 0
    assert page.title() == "Wireproof: requests"


def test_nothing_is_loaded_from_elsewhere_and_no_rule_is_broken(context: BrowserContext, url: str) -> None:
    ask(url, f"markup {MARKUP}")
    asked: list[str] = []
    complaints: list[str] = []
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{url.removesuffix('/v1')}/_wireproof/")
    row(page, 1).click()
    expect(page.get_by_role("heading", name="Headers")).to_be_visible()
    assert len(asked) > 1
    assert {one for one in asked if not one.startswith((url.removesuffix("/v1"), "data:"))} == set()
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_serious_and_nothing_is_cut_off(
    chromium: Browser, url: str, serious: Finds, width: int, scheme: Any
) -> None:
    for text in ("weather", "wether"):
        ask(url, text)
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = opened(context, url)
    expect(row(page, 2)).to_be_visible()
    assert serious(page) == []
    with streaming(url):
        row(page, 3).click()
        expect(page.get_by_text("First").first).to_be_visible()
        assert serious(page) == []
    row(page, 2).click()
    expect(page.get_by_role("heading", name="What was refused, and why")).to_be_visible()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_axe_does_find_what_is_wrong(context: BrowserContext, url: str, serious: Finds) -> None:
    page = opened(context, url)
    page.evaluate("document.querySelector('label').replaceWith(document.createElement('input'))")
    assert any(one.startswith("label: ") for one in serious(page))
