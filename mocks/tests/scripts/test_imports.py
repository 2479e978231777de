"""The language of scripts knows none of its players, and no player of it another one."""

from __future__ import annotations

import ast
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import wireproof_scripts
from wireproof_mocks import upstream

SCRIPTS = Path(wireproof_scripts.__file__).parent
UPSTREAM = Path(upstream.__file__).parent


def _imports(path: Path) -> set[str]:
    """The modules that a file imports, also for types alone or within a function."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=str(module), names=names):
                found |= {module, *(f"{module}.{alias.name}" for alias in names)}
    return found


def _name(path: Path) -> str:
    parts = path.relative_to(SCRIPTS.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(path): _imports(path) for path in SCRIPTS.rglob("*.py")}


@pytest.mark.each("module", MODULES)
def test_the_language_imports_itself_yaml_and_the_standard_library(module: str) -> None:
    roots = {name.partition(".")[0] for name in MODULES[module]}
    assert roots - sys.stdlib_module_names <= {"wireproof_scripts", "yaml"}


def test_its_modules_import_each_other_in_one_direction() -> None:
    arrows = {name: (imports & MODULES.keys()) - {name, "wireproof_scripts"} for name, imports in MODULES.items()}
    assert set(TopologicalSorter(arrows).static_order()) == set(MODULES)  # a circle has no order: CycleError


def test_its_folder_has_at_most_15_rooms() -> None:
    rooms = {path.stem for path in SCRIPTS.iterdir() if path.suffix == ".py" or path.is_dir()} - {
        "__init__",
        "__pycache__",
    }
    assert len(rooms) <= 15


@pytest.mark.parametrize("path", sorted(UPSTREAM.glob("*.py")), ids=lambda path: path.stem)
def test_the_models_service_imports_nothing_of_the_codex_mock(path: Path) -> None:
    assert [name for name in _imports(path) if name.startswith("wireproof_codex")] == []
