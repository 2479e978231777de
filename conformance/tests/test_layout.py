"""The layout of the packages, read from their source: no circle among rooms or modules, and few rooms.

A room is a module or a folder at the top of a package. What importing the suite may do is here, too: no file is read.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import wireproof

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

REPOSITORY = Path(__file__).parents[2]
PACKAGES = {
    head.parent.name: head.parent
    for root in ("conformance", "mocks", "reference_proxy")
    for head in sorted((REPOSITORY / root).glob("wireproof*/__init__.py"))
}
ROOMS = 15
"""The most rooms that a package may have: about what a newcomer keeps in mind."""


def rooms(folder: Path) -> dict[str, list[Path]]:
    """The rooms of a package and the sources in them. `__init__` and `__main__` are its doors, not rooms."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).with_suffix("").parts[0]
        if not name.startswith("__"):
            found.setdefault(name, []).append(path)
    return found


def imported(source: str) -> Iterator[str]:
    """The dotted names that a source imports anywhere, those for types alone included: `from a import b` is a.b."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(name), names=names, level=0):
                yield from (f"{name}.{alias.name}" for alias in names)
            case ast.ImportFrom():
                raise AssertionError("a relative import, which this test does not follow")


def arrows(package: str, folder: Path) -> dict[str, set[str]]:
    """Room → the other rooms of the package that it imports from."""
    all_of = rooms(folder)
    found: dict[str, set[str]] = {room: set() for room in all_of}
    for room, paths in all_of.items():
        for path in paths:
            steps = [name.split(".") for name in imported(path.read_text(encoding="utf-8"))]
            found[room] |= {step[1] for step in steps if len(step) > 1 and step[0] == package and step[1] in all_of}
    return {room: to - {room} for room, to in found.items()}


def modules() -> dict[str, Path]:
    """Every module of all packages, by its dotted name; a package by its own."""
    found = {}
    for package, folder in PACKAGES.items():
        for path in folder.rglob("*.py"):
            steps = [package, *path.relative_to(folder).with_suffix("").parts]
            found[".".join(steps).removesuffix(".__init__")] = path
    return found


def imports() -> dict[str, set[str]]:
    """Module → the modules that it imports, also inside a function or for types alone."""
    paths = modules()
    found: dict[str, set[str]] = {}
    for module, path in paths.items():
        names = imported(path.read_text(encoding="utf-8"))
        # `from a.b import c` is of the module a.b.c, or else of a.b.
        meant = (name if name in paths else name.rpartition(".")[0] for name in names)
        found[module] = {one for one in meant if one in paths} - {module}
    return found


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """The rooms or modules of one circle, each importing the next; empty when there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found[::-1]
    return []


@pytest.mark.parametrize("package", PACKAGES)
def test_the_rooms_of_a_package_import_each_other_in_no_circle(package: str) -> None:
    graph = arrows(package, PACKAGES[package])
    assert graph
    assert " → ".join(circle(graph)) == ""


def test_the_modules_of_all_packages_import_each_other_in_no_circle() -> None:
    graph = imports()
    assert "wireproof.pytest_plugin.items" in graph["wireproof.pytest_plugin.plugin"], "an import inside a function"
    assert " → ".join(circle(graph)) == ""


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_few_rooms(package: str) -> None:
    assert 0 < len(rooms(PACKAGES[package])) <= ROOMS


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    found = circle({"a": {"b"}, "b": {"c"}, "c": {"b"}})
    assert (found[0], set(found)) == (found[-1], {"b", "c"})


AUDIT = """
import importlib, json, os, sys
names, folders = json.loads(sys.argv[1])
importing = ""
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path = os.path.abspath(os.fsdecode(arguments[0]))
        if path.startswith(tuple(folders)) and not path.endswith(".py") and "__pycache__" not in path:
            print(importing, path)
sys.addaudithook(hook)
for importing in names:
    importlib.import_module(importing)
"""
"""Imports modules, and prints each file below some folders that is opened besides their sources."""


def read_at_import(names: Iterable[str], folders: Iterable[Path], before: str = "") -> list[str]:
    """Which file each module reads when it is imported, in a process of its own; `before` runs first."""
    ours = json.dumps([list(names), [f"{folder}{os.sep}" for folder in folders]])
    command = [sys.executable, "-c", before + AUDIT, ours]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_importing_the_suite_reads_no_file() -> None:
    suite = Path(wireproof.__file__).parent
    steps = [("wireproof", *path.relative_to(suite).with_suffix("").parts) for path in sorted(suite.rglob("*.py"))]
    names = [".".join(one).removesuffix(".__init__") for one in steps if one[-1] != "__main__"]
    assert {"wireproof.model.catalogue", "wireproof.scenarios"} <= set(names)
    assert read_at_import(names, [suite, REPOSITORY / "schemas", REPOSITORY / "snapshots"]) == []


def test_a_file_that_is_read_at_import_is_seen(tmp_path: Path) -> None:
    rows = tmp_path / "rows.toml"
    rows.touch()
    (tmp_path / "reads_rows.py").write_text("open('rows.toml').close()", encoding="utf-8")
    (tmp_path / "reads_nothing.py").touch()
    before = f"import os, sys\nos.chdir({str(tmp_path)!r})\nsys.path.insert(0, {str(tmp_path)!r})"
    assert read_at_import(["reads_nothing", "reads_rows"], [tmp_path], before) == [f"reads_rows {rows}"]
