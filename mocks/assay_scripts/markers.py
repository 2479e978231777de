"""The in-band marker: how a text chooses the script that answers it.

`[[assay:<script>#<nonce>]]` stands anywhere in the user's text. Every proxy passes the user's text on, so a marker
reaches the backend through any proxy. The nonce ties the turns of one conversation (and its gates) together and keeps
runs that happen at the same time apart. A client resends its first message with every request, so the last marker is
the one that is meant. One that is written wrong is meant as well: whoever wrote it is to be told, not answered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MEANT = re.compile(r"\[\[assay:([^\[\]\n]*)(\]\])?")
_SCRIPT = re.compile(r"[A-Za-z0-9._/-]+")
_NONCE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LONGEST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Marker:
    """The name of a script and the nonce under which it is played."""

    script: str
    nonce: str

    def __str__(self) -> str:
        """The marker as it stands in a text."""
        return f"[[assay:{self.script}#{self.nonce}]]"


@dataclass(frozen=True, slots=True)
class BrokenMarker:
    """What begins as a marker and is none; `problem` says what is wrong and what would be right."""

    problem: str


def find_marker(text: str) -> Marker | BrokenMarker | None:
    """The last marker in `text`, or None."""
    found = None
    for found in _MEANT.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    return _read(found) if found else None


def _read(found: re.Match[str]) -> Marker | BrokenMarker:
    script, hash_sign, nonce = found[1].partition("#")
    right = f"[[assay:{script}#1]]" if _SCRIPT.fullmatch(script) else "[[assay:<script>#<nonce>]]"
    if found[2] is None:
        return _broken(found, f"is not closed; write {right}")
    if not _SCRIPT.fullmatch(script):
        return _broken(found, f"names no script (letters, digits and . _ / - only); write {right}")
    if not hash_sign or not nonce:
        return _broken(found, f"has no nonce; write {right}, with letters and digits of your own after the #")
    if not _NONCE.fullmatch(nonce):
        return _broken(found, f"has a wrong nonce (1 to 64 letters, digits, _ and - only); write {right}")
    return Marker(script, nonce)


def _broken(found: re.Match[str], why: str) -> BrokenMarker:
    text = found[0] if len(found[0]) <= _LONGEST_SHOWN else f"{found[0][:_LONGEST_SHOWN]}…"
    return BrokenMarker(f"The marker {text} {why}.")
