"""JSON as Flask sends it here, and the ids of requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flask.json.provider import JSONProvider

from wireproof_surfaces.random_ids import random_hex
from wireproof_surfaces.surfaces.json_text import encoded

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON = "application/json"


def request_id() -> str:
    """A new value for `x-request-id`."""
    return f"req_{random_hex(16)}"


class WireJson(JSONProvider):
    """What views return as a dict is written as all other JSON of the proxy is.

    Flask's own provider ends it with a line break, and fails at half a surrogate pair, which a model may write.
    """

    def dumps(self, obj: Mapping[str, object], **_options: object) -> str:
        """The value on one line, keys in their order, characters unescaped."""
        return encoded(obj).decode()

    def loads(self, s: str | bytes, **_options: object) -> object:
        """The value; the views read bodies by `read_object`, so that this serves tests."""
        return json.loads(s)
