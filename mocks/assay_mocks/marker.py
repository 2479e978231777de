"""The in-band marker: how a text chooses the script that answers it.

`[[assay:<script>#<nonce>]]` stands anywhere in the user's text. Every proxy passes the user's text on, so a marker
reaches the backend through any proxy. The nonce ties the turns of one conversation (and its gates) together and keeps
runs that happen at the same time apart. A client resends its first message with every request, so the last marker is
the one that is meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARKER = re.compile(r"\[\[assay:([A-Za-z0-9._/-]+)#([A-Za-z0-9_-]{1,64})\]\]")


@dataclass(frozen=True, slots=True)
class Marker:
    """The name of a script and the nonce under which it is played."""

    script: str
    nonce: str

    def __str__(self) -> str:
        """The marker as it stands in a text."""
        return f"[[assay:{self.script}#{self.nonce}]]"


def find_marker(text: str) -> Marker | None:
    """The last marker in `text`, or None."""
    found = None
    for found in _MARKER.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    return Marker(found[1], found[2]) if found else None
