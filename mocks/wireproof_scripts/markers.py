"""The in-band marker: how a text chooses the script that answers it.

`[[wireproof:<script>#<nonce>]]` stands anywhere in the user's text. Every proxy passes the user's text on, so a marker
reaches the backend through any proxy. The nonce ties the turns of one conversation (and its gates) together and keeps
runs that happen at the same time apart. A client resends its first message with every request, so the last marker
counts. A marker that is written wrong counts as well: its turn fails with what would be right, instead of being
answered as if there were none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SCRIPT_NAME = "[A-Za-z0-9._/-]+"
"""What the name of a script is made of (a regular expression)."""

_BEGIN = "[[wireproof:"
_MARKER = re.compile(r"\[\[wireproof:([^\[\]\n]*)(\]\])?")  # its end may be missing: that is reported, not overlooked
_NONCE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LONGEST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Marker:
    """The choice of a script."""

    script: str
    """Its name."""
    nonce: str
    """The name under which its turns share their state."""

    def __str__(self) -> str:
        """The marker as it is written in a text."""
        return f"[[wireproof:{self.script}#{self.nonce}]]"


@dataclass(frozen=True, slots=True)
class BrokenMarker:
    """Text that starts like a marker but is not one."""

    problem: str
    """What is wrong, and what would be right, as a sentence."""


def find_marker(text: str) -> Marker | BrokenMarker | None:
    """The last marker in `text`, or None."""
    if _BEGIN not in text:  # as most texts
        return None
    found = None
    for found in _MARKER.finditer(text):  # noqa: B007 - an iterator cannot be asked for its last element
        pass
    return _read(found) if found else None


def _read(found: re.Match[str]) -> Marker | BrokenMarker:
    script, hash_sign, nonce = found[1].partition("#")
    right = f"[[wireproof:{script}#1]]" if re.fullmatch(SCRIPT_NAME, script) else "[[wireproof:<script>#<nonce>]]"
    if found[2] is None:
        return _broken(found, f"is not closed; write {right}")
    if not re.fullmatch(SCRIPT_NAME, script):
        return _broken(found, f"names no script (letters, digits and . _ / - only); write {right}")
    if not hash_sign or not nonce:
        return _broken(found, f"has no nonce; write {right}, with letters and digits of your own after the #")
    if not _NONCE.fullmatch(nonce):
        return _broken(found, f"has a wrong nonce (1 to 64 letters, digits, _ and - only); write {right}")
    return Marker(script, nonce)


def _broken(found: re.Match[str], why: str) -> BrokenMarker:
    # A marker that is not closed goes on to the end of its line, however long.
    text = found[0] if len(found[0]) <= _LONGEST_SHOWN else f"{found[0][:_LONGEST_SHOWN]}…"
    return BrokenMarker(f"The marker {text} {why}.")
