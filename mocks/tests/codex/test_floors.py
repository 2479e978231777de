"""The rooms of the Codex mock stand on floors: a room imports only from those below it."""

from __future__ import annotations

import ast
from pathlib import Path

import wireproof_codex

FLOORS = (
    "protocol",
    "versions",
    "threads",
    "context",
    "legacy",
    "notifications",
    "turns",
    "methods",
    "server",
    "transports",
    "settings",
    "login",
    "exec",
    "mcp_server",
    "__main__",
)
PACKAGE = Path(wireproof_codex.__file__ or "").parent


def imported_rooms(source: str) -> set[str]:
    """The rooms from which a module imports, wherever in it, also for types alone."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    names = [f"{node.module}.{alias.name}".split(".") for node in found for alias in node.names]
    return {name[1] for name in names if name[0] == "wireproof_codex"}


def rooms() -> dict[str, set[str]]:
    """Every room of the package, and the rooms from which it imports."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        found.setdefault(room, set()).update(imported_rooms(path.read_text(encoding="utf-8")) - {room})
    return found


def test_a_room_imports_only_from_those_below_it() -> None:
    floor = {name: at for at, name in enumerate(FLOORS)}
    found = rooms()
    assert set(FLOORS) | {"__init__"} == set(found)
    upwards = [(room, other) for room, others in found.items() for other in others if floor[other] >= floor[room]]
    assert upwards == []


def test_imports_are_found_wherever_they_stand() -> None:
    typed = "if TYPE_CHECKING:\n    from wireproof_codex.server import Server"
    late = "def f():\n    from wireproof_codex.turns.turn import Turn"
    assert imported_rooms(f"from wireproof_codex import settings\nimport json\n{typed}\n{late}") == {
        "settings",
        "server",
        "turns",
    }
