"""Values as the sentences of findings show them: as JSON, on one line, cut where they are long.

JSON and not Python, since whoever reads a finding looks at JSON: null, true, double quotes.
"""

from __future__ import annotations

import json

SHOWN = 80
"""Characters of a value that a sentence shows."""
_BMP = 0x10000
"""The first character that JSON escapes as a pair."""


def quoted(value: object, most: int = SHOWN) -> str:
    """A value as JSON, after this many characters cut off."""
    written = json.dumps(value, ensure_ascii=False)
    return visible(written if len(written) <= most else f"{written[:most]}…")


def visible(text: str) -> str:
    """A text whose invisible characters are escaped as in JSON.

    An answer may hold some that would steer a terminal, turn a line round, or be taken for blanks.
    """
    return "".join(one if one.isprintable() else _escaped(one) for one in text)


def _escaped(one: str) -> str:
    short = json.dumps(one)[1:-1]
    # DEL is the one that JSON leaves as it is.
    return short if short != one or ord(one) >= _BMP else f"\\u{ord(one):04x}"
