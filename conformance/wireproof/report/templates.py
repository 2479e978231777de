"""The templates of pages, each read and compiled once. Whatever they write is escaped: for HTML, and to be visible."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from wireproof.model.verdict import Verdict
from wireproof.wire.quoting import visible

SYMBOLS = {
    Verdict.PASS: "✓",
    Verdict.FAIL: "✗",
    Verdict.WARN: "!",
    Verdict.NOT_OBSERVED: "?",
    Verdict.NOT_APPLICABLE: "\N{EN DASH}",
    Verdict.ERROR: "‼",
}
"""What a cell shows for a verdict."""


class _Lines(str):
    """A text of several lines whose invisible characters are escaped already. It is escaped for HTML all the same."""

    __slots__ = ()


@cache
def environment() -> Environment:
    """The environment of all templates."""
    made = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=FunctionLoader(_text),
    )  # fmt: skip
    # Control characters of an answer are escaped where it is quoted.
    made.finalize = lambda value: visible(value) if type(value) is str else value
    made.filters["lines"] = _Lines
    made.globals |= {"symbols": SYMBOLS}
    return made


def raw(*names: str) -> Markup:
    """Files of our own that are written as they are: styles and scripts."""
    return Markup("\n".join(map(_text, names)))  # noqa: S704 (our own)


def _text(name: str) -> str:
    return files("wireproof").joinpath("report", "template", name).read_text(encoding="utf-8")
