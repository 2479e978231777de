"""The parameters of requests: what each version takes, and which of them need `experimentalApi`.

What is taken was measured of every version of `params.json`, by `conformance/codex/parameters.py`; the file says of
each what differs from the one before. A version that does not stand there takes what the newest before it does.
"""

from __future__ import annotations

import json
import os
from functools import cache, partial
from typing import TYPE_CHECKING

from wireproof_codex.protocol.params import Parameters
from wireproof_codex.versions.marks import minor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_codex.protocol.json_object import Json

GATED_METHODS = (
    "mock/experimentalMethod+0.95 collaborationMode/list+0.95 thread/sample+0.169 thread/sample/cancel+0.169"
)
# Some are older than their gates: 0.92 to 0.94 take dynamicTools, 0.89.0 a history, without the capability.
GATED_PARAMS: Mapping[str, str] = {
    "thread/start": """
        dynamicTools+0.95 environments+0.125 experimentalRawEvents+0.99 historyMode+0.150 mockExperimentalField+0.95
        permissions+0.134 projectId+0.150 runtimeWorkspaceRoots+0.134
    """,
    "thread/resume": "history+0.99 initialTurnsPage+0.169 path+0.99",
    "turn/start": """
        additionalContext+0.142 collaborationMode+0.99 environments+0.125 permissions+0.134
        responsesapiClientMetadata+0.125
    """,
}


@cache
def _measured() -> Mapping[str, Json]:
    # Not pathlib: it would be imported for this alone, and the handshake waits.
    place = os.path.join(os.path.dirname(__file__), "params.json")  # noqa: PTH118, PTH120 - see above
    with open(place, encoding="utf-8") as file:  # noqa: PTH123 - see above
        found: Mapping[str, Json] = json.load(file)
    return found


@cache
def _taken(number: str) -> Json:
    found: Json = {"methods": {}, "types": {}}
    for measured, changed in _measured().items():
        if minor(measured) <= minor(number):
            found = {part: known | changed.get(part, {}) for part, known in found.items()}
    return found


def params_of(number: str) -> Parameters:
    """What the version takes."""
    return Parameters(read=partial(_taken, number))
