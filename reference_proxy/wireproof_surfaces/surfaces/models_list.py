"""The models as OpenAI lists them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof_surfaces.surfaces.json_text import Json


def model(name: str, created: int, owner: str) -> Json:
    """A model; `created` in epoch seconds."""
    return {"id": name, "object": "model", "created": created, "owned_by": owner}


def models(names: Iterable[str], created: int, owner: str) -> Json:
    """All of them."""
    return {"object": "list", "data": [model(name, created, owner) for name in names]}
