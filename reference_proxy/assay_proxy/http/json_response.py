"""JSON bodies: keys in their order, characters unescaped, and never an unpaired surrogate."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

from flask import Response

if TYPE_CHECKING:
    from collections.abc import Mapping


def request_id() -> str:
    """A new value for `x-request-id`."""
    return f"req_{secrets.token_hex(16)}"


def json_response(payload: Mapping[str, Any], status: int = 200) -> Response:
    """A response whose body is the payload."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    # replace: half a surrogate pair has no UTF-8.
    return Response(text.encode(errors="replace"), status=status, mimetype="application/json")
