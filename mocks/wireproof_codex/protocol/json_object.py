"""A JSON object, whose members the protocol names."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
