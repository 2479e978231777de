"""A result as JSON, one object a line: its head, then each finding, each outcome, each form that was driven.

For programs that read a result as it grows long, and for logs. Each line says by its member `kind` what it is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.wire.fields import JsonObject

LISTS = ("findings", "cells", "outcomes", "driven", "flaky")
"""The lists of a result that have lines of their own, whose kind is the name of the list in the singular."""


def json_lines(data: JsonObject) -> str:
    """The lines of a result, which is given as the data of `report.json`."""
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in _lines(data))
    # As in `report.json`: no UTF-8 can be written with lone surrogates.
    return text.encode(errors="backslashreplace").decode()


def _lines(data: JsonObject) -> Iterator[JsonObject]:
    yield {"kind": "result", **{name: value for name, value in data.items() if name not in LISTS}}
    for name in LISTS:
        yield from ({"kind": name.removesuffix("s"), **one} for one in data[name])
