"""Ids of rows stand in the catalogue and where a row is checked or exercised, and nowhere else in the suite.

A list of ids anywhere else is a second place that knows something of a row: what it says is a field of the row.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import wireproof
from wireproof.model.capability import Capability
from wireproof.model.catalogue import load, row_of, row_of_capability
from wireproof.model.dialect import Dialect, Surface
from wireproof.model.scenario import Form, Mode
from wireproof.wire.facet import Facet

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(wireproof.__file__).parent
GRAMMARS = {
    "wire/grammar.py", "wire/message.py", "wire/responses_grammar.py", "wire/responses_whole.py",
    "wire/messages_grammar.py", "wire/messages_whole.py",
}  # fmt: skip
"""What finds rows broken as it reads, with a name for each."""
IDS = frozenset(load().by_id)


def registered(tree: ast.AST) -> Iterator[ast.expr]:
    """The arguments of `check(...)`, which registers a check under the ids that it is called with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check":
            yield from node.args


def ids_beside_checks(source: str) -> list[str]:
    """The ids of rows in a source, but for those under which it registers checks."""
    tree = ast.parse(source)
    at_checks = set(registered(tree))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in at_checks)
    return [node.value for node in found if isinstance(node.value, str) and node.value in IDS]


def test_ids_of_rows_stand_at_their_checks_alone() -> None:
    sources = {path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    found = {name: ids_beside_checks(source) for name, source in sources.items() if not name.startswith("scenarios/")}
    elsewhere = {name: ids for name, ids in found.items() if ids and name not in GRAMMARS}
    assert elsewhere == {}, "what such a list says of a row is a field of the row"
    twice = {name: ids for name, ids in found.items() if len(set(ids)) < len(ids)}
    assert twice == {}


def test_an_id_beside_a_check_is_found() -> None:
    source = '@check("chat.stream.text")\ndef text(): ...\nROWS = {"usage": "chat.stream.usage"}\n'
    assert ids_beside_checks(source) == ["chat.stream.usage"]


SPOKEN_OF = [facet for facet in Facet if any(facet in row.facets for row in load().requirements)]


def test_no_row_speaks_of_what_follows_from_other_parts() -> None:
    # That an answer is whole, a report, or continues a right one, is known from what was found (see `spoiling`); which
    # settings a response repeats is said by a check of its own.
    assert set(Facet).difference(SPOKEN_OF) == {Facet.END, Facet.RECEIVED, Facet.HISTORY, Facet.SETTINGS}


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("mode", Mode)
def test_a_row_speaks_of_each_part_of_answers_of_each_form(dialect: Dialect, mode: Mode) -> None:
    form = Form(dialect, mode)
    for facet in SPOKEN_OF:
        if facet is Facet.CREATED and dialect.spec.surface is Surface.MESSAGES:
            continue  # these answers say no time
        row = load().by_id[row_of(facet, form)]
        assert facet in row.facets
        assert dialect in row.dialects
    for capability in Capability:
        if dialect.spec.surface in capability.surfaces:
            row = load().by_id[row_of_capability(capability, form)]
            assert row.capability is capability or Facet.CALL in row.facets
