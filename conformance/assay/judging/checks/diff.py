"""The difference between what came and what was due, in one sentence."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


SHOWN = 80
"""Characters of a value that a sentence shows."""


def quoted(value: object, most: int = SHOWN) -> str:
    """A value as a sentence shows it: as JSON, cut where it is long."""
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= most else f"{written[:most]}…"


def listed(calls: Sequence[tuple[str, str]]) -> str:
    """Calls, (name, id) each, as a sentence shows them."""
    return ", ".join(f"{name} ({id_})" if id_ else name for name, id_ in calls) or "nothing"


def parting(want: str, got: str) -> int:
    """Where two texts first differ, counted in characters from 0; the length of the wanted one where they do not."""
    return next((i for i, (a, b) in enumerate(zip_longest(want, got)) if a != b), len(want))


def difference(want: str, got: str) -> str:
    """One sentence on the first difference of two texts."""
    at = parting(want, got)
    return (
        f"{len(got)} characters instead of {len(want)}; the first difference is at character {at}: "
        f"{_around(got, at)} instead of {_around(want, at)}"
    )


def _around(text: str, at: int) -> str:
    if at >= len(text):
        return "the end"
    return quoted(text[max(0, at - 10) : at + 20])


def torn(want: str, got: str) -> bool:
    """Whether a text has more replacement characters than it should: what decoding leaves of a character cut in two."""
    # Counted, since the model may have written the character itself.
    return got.count(REPLACEMENT) > want.count(REPLACEMENT)


def is_object(text: str) -> bool:
    """Whether a text is a JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
