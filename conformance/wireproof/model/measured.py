"""What real clients were measured to do with answers that break a requirement: `requirements/measured.toml`.

`conformance/clients/tests/measure.py --write` writes the file; what a row says that it `breaks` is made from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def measured_lines(table: Mapping[str, Any]) -> dict[str, list[str]]:
    """Requirement → lines "client, client: effect form", of what the file holds."""
    found: dict[str, list[str]] = {}
    for entry in table.get("form", []):
        alike: dict[str, list[str]] = {}
        for client, effect in entry["effects"].items():
            alike.setdefault(effect, []).append(client)
        lines = (f"{', '.join(clients)}: {effect} {entry['form']}" for effect, clients in alike.items())
        found.setdefault(entry["requirement"], []).extend(lines)
    return found
