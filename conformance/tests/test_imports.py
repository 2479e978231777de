"""Who may import whom: the table of the design, held by what the source really says."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import assay
import assay_mocks
import assay_proxy

STANDARD = sys.stdlib_module_names
EDGES = {
    "assay.driving.drive",
    "assay.driving.recording",
    "assay.targets.launch",
    "assay.faces.cli",
    "assay.faces.plugin",
    "assay.faces.serve",
    "assay.targets.options",
    "assay.targets.preflight",
    "assay.targets.real_codex",
}
INPUT_AND_OUTPUT = {"httpx", "subprocess", "socket", "click"}


def modules(package: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """Every module of a package, by its dotted name."""
    for path in sorted(folder.rglob("*.py")):
        steps = [package, *path.relative_to(folder).with_suffix("").parts]
        yield ".".join(steps[:-1] if steps[-1] == "__init__" else steps), path


def imported(source: str, module: str, *, package: bool = False) -> set[str]:
    """What a source imports, at its head or later, by dotted names; `from a import b` counts as a.b."""
    base = module.split(".") if package else module.split(".")[:-1]
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=name, names=names, level=level):
                above = base[: len(base) - level + 1] if level else []
                origin = ".".join([*above, *([name] if name else [])])
                found |= {f"{origin}.{alias.name}" for alias in names}
    return found


def imports_of(package: str, folder: str | None) -> dict[str, set[str]]:
    assert folder is not None
    return {
        name: imported(path.read_text(encoding="utf-8"), name, package=path.name == "__init__.py")
        for name, path in modules(package, Path(folder).parent)
    }


SUITE = imports_of("assay", assay.__file__)
MOCKS = imports_of("assay_mocks", assay_mocks.__file__)
PROXY = imports_of("assay_proxy", assay_proxy.__file__)
Rule = Callable[[str], bool]


def under(*packages: str) -> Rule:
    """Whether a dotted name is one of these, or inside one."""
    return lambda name: any(name == package or name.startswith(f"{package}.") for package in packages)


def standard(name: str) -> bool:
    return name.partition(".")[0] in STANDARD


def part(all_of: dict[str, set[str]], *packages: str) -> list[tuple[str, set[str]]]:
    """The modules of these packages, at least one."""
    found = [(module, names) for module, names in all_of.items() if under(*packages)(module)]
    assert found
    return found


def offences(all_of: list[tuple[str, set[str]]], forbidden: Rule) -> list[str]:
    return [f"{module} imports {name}" for module, names in all_of for name in sorted(names) if forbidden(name)]


def test_the_wire_imports_itself_and_the_standard_library() -> None:
    own = under("assay.wire")
    assert offences(part(SUITE, "assay.wire"), lambda name: not (own(name) or standard(name))) == []


def test_checks_import_of_the_suite_no_edge_and_of_others_nothing_that_speaks_to_the_world() -> None:
    edge = under(*EDGES, *INPUT_AND_OUTPUT)
    outside = under("assay_mocks", "assay_proxy")
    assert offences(part(SUITE, "assay.judging.checks"), lambda name: edge(name) or outside(name)) == []


PURE = (
    "assay.reading.expected",
    "assay.reading.applicable",
    "assay.judging.judge",
    "assay.judging.stored_answers",
    "assay.reading.exchange",
    "assay.requests.conversation",
    "assay.model.verdict",
    "assay.model.transcript",
    "assay.model.target",
    "assay.judging.known_failing",
    "assay.reading.selection",
    "assay.model.scenario",
    "assay.scenarios",
    "assay.report.scenario_json",
    "assay.model.catalogue",
)


@pytest.mark.parametrize("module", PURE)
def test_what_only_thinks_speaks_to_nobody(module: str) -> None:
    assert offences(part(SUITE, module), under(*EDGES, *INPUT_AND_OUTPUT)) == []


def test_the_suite_never_imports_the_reference_proxy() -> None:
    assert offences(part(SUITE, "assay"), under("assay_proxy")) == []


def test_the_mocks_never_import_the_suite() -> None:
    assert offences(part(MOCKS, "assay_mocks"), under("assay")) == []


def test_of_the_mocks_only_the_miniatures_import_the_reference_proxy() -> None:
    miniature = under("assay_mocks.miniatures")
    rest = [(module, names) for module, names in MOCKS.items() if not miniature(module)]
    assert offences(rest, under("assay_proxy")) == []
    assert offences(part(MOCKS, "assay_mocks.miniatures"), under("assay_proxy")) != []


def test_the_reference_proxy_imports_neither_suite_nor_mocks() -> None:
    assert offences(part(PROXY, "assay_proxy"), under("assay", "assay_mocks")) == []


def test_the_edges_that_are_named_exist() -> None:
    assert SUITE.keys() >= EDGES


@pytest.mark.parametrize(
    ("source", "package", "names"),
    [
        ("import os.path, sys", False, {"os.path", "sys"}),
        ("from assay_proxy import app as x, chat", False, {"assay_proxy.app", "assay_proxy.chat"}),
        ("from . import sibling", False, {"a.b.sibling"}),
        ("from .. import uncle", False, {"a.uncle"}),
        ("from ..c import d", True, {"a.b.c.d"}),
        ("def f():\n    import httpx", False, {"httpx"}),
        ("if TYPE_CHECKING:\n    from x.y import Z", False, {"x.y.Z"}),
    ],
)
def test_every_way_to_import_is_seen(source: str, names: set[str], *, package: bool) -> None:
    assert imported(source, "a.b.c", package=package) == names
