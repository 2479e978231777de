"""Finding out how a target tells the arguments of a call: from one stream whose fragments the backend cut."""

from __future__ import annotations

from itertools import pairwise

from assay.model.dialect import Arguments
from assay.wire.chat import read_stream
from assay.wire.events import Fragment


def detect_argument_mode(body: bytes) -> Arguments | None:
    """How a streamed answer with one call in several fragments told them; None where it does not show."""
    told = [event.text for event in read_stream([body]).events if isinstance(event, Fragment) and event.text]
    if len(told) < 2:  # noqa: PLR2004 (one fragment is the whole in either way)
        return None
    grows = all(len(later) > len(earlier) and later.startswith(earlier) for earlier, later in pairwise(told))
    return Arguments.CUMULATIVE if grows else Arguments.INCREMENTAL
