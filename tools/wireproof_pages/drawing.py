"""The drawing of the packages in `docs/architecture.md`: which imports which, counted in the source.

The packages stand in an order in which every arrow leads to a line below; where two import each other there is none.
"""

from __future__ import annotations

import ast
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REPOSITORY = Path(__file__).resolve().parents[2]
ROOTS = ("conformance", "mocks", "reference_proxy")
"""The folders with source roots of the wheel."""


def folders(repository: Path = REPOSITORY) -> dict[str, Path]:
    """The folder of each package of the wheel, by the package's name."""
    heads = [head for root in ROOTS for head in sorted((repository / root).glob("wireproof*/__init__.py"))]
    return {head.parent.name: head.parent for head in heads}


def arrows(packages: Mapping[str, Path]) -> dict[str, dict[str, int]]:
    """Package → the others that it imports, each with the number of its modules that do; those for types count, too."""
    found = {
        name: Counter(other for path in folder.rglob("*.py") for other in _imported(path))
        for name, folder in packages.items()
    }
    return {
        name: {other: counted[other] for other in packages if other != name and counted[other]}
        for name, counted in found.items()
    }


def _imported(path: Path) -> set[str]:
    """The packages that a module imports anywhere in it."""
    return {name.partition(".")[0] for name in _names(ast.parse(path.read_text(encoding="utf-8")))}


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(name), level=0):
                yield name


def drawing(packages: Mapping[str, Path] | None = None) -> str:
    """A fenced block: one line for each package, those that nothing imports first.

    Raises:
        graphlib.CycleError: packages import each other in a circle.
    """
    places = packages or folders()
    graph = arrows(places)
    # The sorter gives first what imports nothing.
    order = [*TopologicalSorter(graph).static_order()][::-1]
    titles = {name: f"{places[name].parent.name}/{name}" for name in order}
    width = max(map(len, titles.values())) + 2
    lines = [f"{titles[name]} ".ljust(width, "─") + f"► {_ends(graph[name], order)}" for name in order]
    return "\n".join(["```text", *lines, "```"])


def _ends(to: Mapping[str, int], order: list[str]) -> str:
    return " · ".join(f"{name} {to[name]}" for name in order if name in to) or "nothing of ours"
