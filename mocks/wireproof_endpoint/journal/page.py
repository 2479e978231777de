"""The page at /_wireproof/: one HTML file that loads nothing, and asks this endpoint alone for what it shows."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup


@cache
def page() -> str:
    """The page. What was received or sent comes as JSON later, and is written as text: no markup of it is read."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_file("page.html")).render(
        css=Markup(_file("page.css")),  # noqa: S704 (our own)
        js=Markup(_file("page.js")),  # noqa: S704 (our own)
    )


def _file(name: str) -> str:
    return files("wireproof_endpoint").joinpath("journal", "template", name).read_text(encoding="utf-8")
