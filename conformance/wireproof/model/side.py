"""Which end of the wire is judged: a requirement is about one of them, and so is a run."""

from __future__ import annotations

from enum import StrEnum


class Side(StrEnum):
    """An end of the wire."""

    PROXY = "proxy"
    """What answers: a proxy, a gateway, a server."""
    CLIENT = "client"
    """What asks: a program that sends its requests to Wireproof's own endpoint."""
