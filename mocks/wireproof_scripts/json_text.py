"""JSON that somebody else has written: a client, a target, a model, or whoever wrote a file.

Python's own reader ends in an error that is no `ValueError` where lists are nested too deeply, and where it does not,
what walks through the value does. So the mocks read with `parse_json` alone, but for the miniatures and the clients
with faults, which know nothing of scripts and read what our own servers wrote.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

DEEPEST = 127
"""serde_json, with which Codex reads, gives up at the 128th level."""
TOO_DEEP = f"lists or objects are nested more than {DEEPEST} deep"


def parse_json(text: str | bytes, **options: object) -> Any:  # noqa: ANN401 (JSON)
    """The value of a JSON text.

    Args:
        text: All of it; bytes are UTF-8.
        options: Those of `json.loads`.

    Raises:
        ValueError: It is no JSON (`json.JSONDecodeError`, with the place, where that is known), or nested deeper than
            `DEEPEST`.
    """
    try:
        value = json.loads(text, **options)  # type: ignore[arg-type]  # noqa: TID251 - here, and nowhere else
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
    if is_too_deep(value, text):
        raise ValueError(TOO_DEEP)
    return value


def is_too_deep(value: object, text: str | bytes) -> bool:
    """Whether the value of a JSON text is nested deeper than `DEEPEST`."""
    opened = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    # Brackets inside strings count, too; this only spares nearly every text the walk, which is exact.
    if opened <= DEEPEST:
        return False
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in _inner(one)]
    return any(isinstance(one, dict | list) for one in level)


def _inner(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
