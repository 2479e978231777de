"""The difference between what came and what was due, in one sentence."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import TYPE_CHECKING

from assay.wire.quoting import SHOWN, quoted, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
BEFORE = 20
"""Characters before a difference that are shown with it."""


def listed(calls: Sequence[tuple[str, str]]) -> str:
    """Calls, (name, id) each, as a sentence shows them."""
    return ", ".join(f"{name} ({id_})" if id_ else name for name, id_ in calls) or "nothing"


def parting(want: str, got: str) -> int:
    """Where two texts first differ, counted in characters from 0; the length of the wanted one where they do not."""
    return next((i for i, (a, b) in enumerate(zip_longest(want, got)) if a != b), len(want))


def difference(want: str, got: str) -> str:
    """A clause on where a text begins to differ from the right one."""
    at = parting(want, got)
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


def apart(ours: object, theirs: object) -> tuple[str, str]:
    """Two JSON values as a sentence shows them side by side: each from where they begin to differ."""
    one, other = json.dumps(ours, ensure_ascii=False), json.dumps(theirs, ensure_ascii=False)
    at = parting(one, other)
    # What both begin with says nothing, and would push the difference out of the sentence.
    start = at - BEFORE if at > SHOWN - BEFORE else 0
    return _from(one, start), _from(other, start)


def _from(written: str, start: int) -> str:
    shown = written[start : start + SHOWN]
    return visible(f"{'…' if start else ''}{shown}{'…' if start + SHOWN < len(written) else ''}")


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
