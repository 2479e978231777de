"""The table of clients that the endpoint serves, in `docs/clients.md`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from wireproof_pages.markup import shown, table

FOLDER = Path(__file__).resolve().parents[2] / "conformance" / "endpoint_clients"
WAYS = ("text", "stream", "tool", "structured", "error", "retry")


def endpoint_clients() -> list[dict[str, Any]]:
    """The clients, in the order of the file, each with its version and what came of each way."""
    clients = tomllib.loads((FOLDER / "clients.toml").read_text(encoding="utf-8"))["client"]
    served = json.loads((FOLDER / "served.json").read_text(encoding="utf-8"))
    return [{**one, **served[one["program"]]} for one in clients]


def endpoint_clients_table() -> str:
    """A row for each; a way that is not there was not tried, since the client has none."""
    rows = [
        (shown(one["name"]), one["version"], *(shown(one.get(way, "")) or "-" for way in WAYS))
        for one in endpoint_clients()
    ]
    return table(("client", "version", *WAYS), rows)
