"""The difference between what came and what was due, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.wire.fields import json_object
from wireproof.wire.quoting import SHOWN, parting, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
BLANKS, CUT, GONE, MORE = "blanks", "cut", "gone", "more"
"""A text differs in white space alone, lacks its end and nothing else, is not there, or lacks nothing and has more."""


def listed(calls: Sequence[tuple[str, str]]) -> str:
    """Calls, (name, id) each, as a sentence shows them."""
    return ", ".join(f"{name} ({id_})" if id_ else name for name, id_ in calls) or "nothing"


def unspaced(text: str) -> str:
    """A text without its white space."""
    return "".join(text.split())


def difference_in(want: str, got: str) -> str:
    """`BLANKS`, `CUT`, `GONE` or `MORE` where that is all that is wrong with a text; else ""."""
    if unspaced(want) and unspaced(want) == unspaced(got):
        return BLANKS
    if want.startswith(got):
        return CUT if got else GONE
    left = iter(got)
    return MORE if want and all(character in left for character in want) else ""


def difference(want: str, got: str) -> str:
    """A clause on where a text begins to differ from the right one."""
    at = parting(want, got)
    if not want:
        return f"it should be empty, it is {quoted(got)}"
    if not got:
        return f"it is empty, it should be {quoted(want)}"
    if at == len(got) < len(want):
        return f"{_ends(len(want) - at, 'missing')}: {quoted(want[at : at + SHOWN])}"
    if at == len(want) < len(got):
        return f"{_ends(len(got) - at, 'too many')}: {quoted(got[at : at + SHOWN])}"
    sizes = f"{len(got)} characters instead of {len(want)}; " if len(got) != len(want) else ""
    return f"{sizes}the first difference is at character {at}: {_around(got, at)} instead of {_around(want, at)}"


def _ends(count: int, how: str) -> str:
    return f"its last character is {how}" if count == 1 else f"its last {count} characters are {how}"


def _around(text: str, at: int) -> str:
    return quoted(text[max(0, at - 10) : at + 20])


def torn(want: str, got: str) -> bool:
    """Whether a text has more replacement characters than it should: what decoding leaves of a character cut in two."""
    # Counted, since the model may have written the character itself.
    return got.count(REPLACEMENT) > want.count(REPLACEMENT)


def is_object(text: str) -> bool:
    """Whether a text is a JSON object."""
    return json_object(text) is not None
