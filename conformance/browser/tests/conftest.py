"""Chromium, and axe: what the tests of every page share."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

AXE = Path(sys.prefix) / "browser" / "node_modules" / "axe-core" / "axe.min.js"
"""Where `conformance/clients/install.py conformance/browser` puts it."""
SERIOUS = frozenset({"serious", "critical"})


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert path, "Chromium is not installed: run conformance/browser/install.py"
    with sync_playwright() as playwright:
        # Its sandbox needs rights that containers do not give; the page is our own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def serious() -> Callable[[Page], list[str]]:
    """A function that says what axe finds on a page as it is now, of what is serious."""
    axe = AXE.read_text(encoding="utf-8")

    def found(page: Page) -> list[str]:
        # As the page's own: a policy that lets no script in would keep out a script element.
        page.evaluate(axe)
        report: dict[str, Any] = page.evaluate("axe.run()")
        assert report["passes"], "axe looked at nothing"
        return [
            f"{one['id']}: {one['help']}: {node['html'][:200]}"
            for one in report["violations"]
            if one["impact"] in SERIOUS
            for node in one["nodes"]
        ]

    return found
