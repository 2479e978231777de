"""What could not be judged because Wireproof itself failed at it: an error of ours, which ends no run.

A target decides what its answers hold, and whoever reads them may have thought of everything but one thing. A failure
in a check takes away the verdict of its row in that scenario, one behind the checks that of the scenario; everything
else is judged, and the rows that are not have the verdict ERROR with a sentence that names the line that failed.
"""

from __future__ import annotations

import traceback
from pathlib import PurePath

from wireproof.wire.quoting import quoted

SHOWN = 100
"""Characters of an exception that are shown: it may repeat what a target said."""


def ours(doing: str, error: Exception) -> str:
    """The sentence about what could not be done: `judge chat.stream.text`, `print the result`."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{PurePath(last.filename).name}, line {last.lineno}"
    said = f": {quoted(str(error)[:SHOWN])}" if str(error) else ""
    return f"Wireproof could not {doing} ({type(error).__name__} in {where}{said}); please report this"
