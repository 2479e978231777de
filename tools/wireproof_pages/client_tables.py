"""The tables in `docs/clients.md`: clients that `wireproof client` has judged, and those that the endpoint serves."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from wireproof_pages.markup import shown, table

CONFORMANCE = Path(__file__).resolve().parents[2] / "conformance"
SERVED = CONFORMANCE / "endpoint_clients"
WAYS = ("text", "stream", "tool", "structured", "error", "retry")


def _clients(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))["client"]
    return found


def judged_clients() -> list[dict[str, Any]]:
    """The clients that were judged, in the order of the file, each with what was found."""
    return _clients(CONFORMANCE / "judged_clients" / "judged.toml")


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


def endpoint_clients() -> list[dict[str, Any]]:
    """The clients, in the order of the file, each with its version and what came of each way."""
    served = json.loads((SERVED / "served.json").read_text(encoding="utf-8"))
    return [{**one, **served[one["program"]]} for one in _clients(SERVED / "clients.toml")]


def endpoint_clients_table() -> str:
    """A row for each; a way that is not there was not tried, since the client has none."""
    rows = [
        (shown(one["name"]), one["version"], *(shown(one.get(way, "")) or "-" for way in WAYS))
        for one in endpoint_clients()
    ]
    return table(("client", "version", *WAYS), rows)
