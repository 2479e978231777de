"""Values as the sentences of findings show them: as JSON, on one line, cut where they are long.

JSON and not Python, since whoever reads a finding looks at JSON: null, true, double quotes.
"""

from __future__ import annotations

import json

SHOWN = 80
"""Characters of a value that a sentence shows."""
FEW = 60
"""Those of a value beside which it shows others."""
BEFORE = 20
"""Characters before a difference that are shown with it."""


def quoted(value: object, most: int = SHOWN) -> str:
    """A value as JSON, after this many characters cut off."""
    written = json.dumps(value, ensure_ascii=False)
    return visible(written if len(written) <= most else f"{written[:most]}…")


def short(value: object) -> str:
    """A value as JSON, of which a sentence shows few characters."""
    return quoted(value, FEW)


def parting(want: str, got: str) -> int:
    """Where two texts first differ, counted in characters from 0; the length of the wanted one where they do not."""
    # Halved again and again: some texts have a million characters, which would be compared one by one.
    same, most = 0, min(len(want), len(got))
    while same < most:
        middle = (same + most + 1) // 2
        if want[same:middle] == got[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same


def apart(ours: object, theirs: object, most: int = SHOWN) -> tuple[str, str]:
    """Two values as a sentence shows them side by side: as JSON, each from where they begin to differ."""
    one, other = json.dumps(ours, ensure_ascii=False), json.dumps(theirs, ensure_ascii=False)
    at = parting(one, other)
    # What both begin with says nothing, and would push the difference out of the sentence.
    start = at - BEFORE if at > most - BEFORE else 0
    return _from(one, start, most), _from(other, start, most)


def _from(written: str, start: int, most: int) -> str:
    end = "…" if start + most < len(written) else ""
    return visible(f"{'…' if start else ''}{written[start : start + most]}{end}")


def visible(text: str) -> str:
    """A text whose invisible characters are escaped as in JSON.

    An answer may hold some that would steer a terminal, turn a line round, or be taken for blanks.
    """
    # DEL is the one that JSON leaves as it is.
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1].replace("\x7f", r"\u007f") for one in text)
