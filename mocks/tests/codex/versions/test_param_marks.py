"""What shows the marks of `params`: the schemas of the oldest and the newest recorded version, which binaries confirm.

A server ignores a parameter that it does not know without a word, so that recordings cannot show when one came. The
schemas of both ends show that it came or went in between; the version in a mark was seen of the binaries alone.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from wireproof_codex.versions import params
from wireproof_codex.versions.params import PARAMS

SCHEMAS = Path(__file__).parents[4] / "schemas" / "codex"
OLDEST, NEWEST = (
    json.loads((SCHEMAS / number / "client.json").read_text(encoding="utf-8"))["$defs"]
    for number in ("0.89.0", "0.169.0")
)
_MARK = re.compile(r"([^+]+?)(\+0\.\d+)?(-0\.\d+)?")

MARKED = [
    (method, *found.groups())
    for method, table in PARAMS.items()
    for name in table
    if (found := _MARK.fullmatch(name)) and (found[2] or found[3])
]
"""Method, name, since when and until when, of each parameter with a mark."""
WORDS = [
    found.groups()
    for words in (params._SORTS, params._INPUTS, params._APPROVALS)
    for word in words.split()
    if (found := _MARK.fullmatch(word)) and (found[2] or found[3])
]
"""The same of the words that a parameter may be."""
UNSHOWN = {"section_position": "measured when lists of stored threads were added; nothing that was kept shows it"}
"""Words that neither schema shows."""


def named(schema: Any) -> set[str]:
    """Every name of a member, and every word that a member may be, in a schema."""
    match schema:
        case dict():
            own = set(schema.get("properties", ())) | {word for word in schema.get("enum", ()) if isinstance(word, str)}
            const = schema.get("const")
            return own.union({const} if isinstance(const, str) else (), *map(named, schema.values()))
        case list():
            return set().union(*map(named, schema))
        case _:
            return set()


def test_there_are_marks_to_look_at() -> None:
    assert len(MARKED) > 8
    assert len(WORDS) > 5


@pytest.mark.parametrize(("method", "name", "since", "until"), MARKED)
def test_a_parameter_with_a_mark_came_or_went_between_the_ends(
    method: str, name: str, since: str | None, until: str | None
) -> None:
    if sum(marked[:2] == (method, name) for marked in MARKED) > 1:  # its check changed, and the name stayed
        assert name in named(OLDEST[method])
        assert name in named(NEWEST[method])
        return
    assert (name in named(OLDEST.get(method))) is (since is None)
    assert (name in named(NEWEST[method])) is (until is None)


@pytest.mark.parametrize(("name", "since", "until"), WORDS)
def test_a_word_with_a_mark_came_or_went_between_the_ends(name: str, since: str | None, until: str | None) -> None:
    assert (name in named(OLDEST)) is (since is None)
    assert (name in named(NEWEST)) is (until is None and name not in UNSHOWN)
