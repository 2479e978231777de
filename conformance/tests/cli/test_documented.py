"""The commands in the pages are commands: each subcommand, option and word of a fixed set is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from wireproof.cli.root import root

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(?:sh|console|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CONTINUED = re.compile(r"\\\n\s*")
_ENDS = {"|", "&&", ">", "&", ";"}


def commands() -> list[tuple[str, str]]:
    """Page and line of every command of ours that stands in a block."""
    found = []
    for page in PAGES:
        for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
            lines = _CONTINUED.sub(" ", block).splitlines()
            found += [(page.name, line.removeprefix("$ ")) for line in lines if re.match(r"(\$ )?wireproof ", line)]
    return found


def wrong(line: str) -> str | None:
    """What a command line has that the command has not; None for a right one."""
    words = shlex.split(line, comments=True)[1:]
    words = words[: next((at for at, word in enumerate(words) if word in _ENDS), None)]
    command: click.Command = root
    context = click.Context(root, info_name="wireproof")
    try:
        while isinstance(command, click.Group):
            name = words.pop(0)
            inner = command.get_command(context, name)
            if inner is None:
                return f"there is no command {name}"
            command, context = inner, click.Context(inner, parent=context, info_name=name)
        values, _, _ = command.make_parser(context).parse_args(list(words))
        for parameter in command.params:
            value = values.get(parameter.name)
            if isinstance(parameter.type, click.Choice | click.IntRange) and value is not None:
                parameter.type_cast_value(context, value)
            if parameter.required and not value:
                return f"{parameter.name} is missing"
    except click.UsageError as error:
        return error.message
    return None


@pytest.mark.each(("page", "line"), commands(), ids=lambda one: one)
def test_a_command_of_a_page_is_one(page: str, line: str) -> None:
    assert wrong(line) is None, page


@pytest.mark.each(
    "line",
    [
        "wireproof certifies",
        "wireproof serve --prot 8787",
        "wireproof serve --workers many",
        "wireproof report result --format yaml",
        "wireproof record -o scripts.yaml",
    ],
)
def test_what_is_none_is_seen(line: str) -> None:
    assert wrong(line) is not None
