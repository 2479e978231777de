"""The table of real clients that `wireproof client` has judged, in `docs/clients.md`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from wireproof_pages.markup import shown, table

JUDGED = Path(__file__).resolve().parents[2] / "conformance" / "judged_clients" / "judged.toml"
"""What was found, client by client."""


def judged_clients() -> list[dict[str, Any]]:
    """The clients, in the order of the file."""
    found: list[dict[str, Any]] = tomllib.loads(JUDGED.read_text(encoding="utf-8"))["client"]
    return found


def judged_clients_table() -> str:
    """A row for each."""
    rows = [
        (
            shown(one["name"]), one["version"], f"{one['surface']}, {one['mode']}",
            _broken(one) or "nothing", _rows(one["unobserved"]) or "nothing",
        )
        for one in judged_clients()
    ]  # fmt: skip
    return table(("client", "version", "asks for", "broken", "MUSTs not observed"), rows)


def _broken(client: dict[str, Any]) -> str:
    unsteady = (f"{_rows([name])} on some runs: {why}" for name, why in client.get("unsteady", {}).items())
    return ", ".join(filter(None, (_rows(client["broken"]), *unsteady)))


def _rows(names: list[str]) -> str:
    return ", ".join(f"[{name.removeprefix('client.')}](catalogue/client.md#{name})" for name in names)
