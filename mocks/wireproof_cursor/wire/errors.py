"""What goes wrong, as the service says it: codes, details, and the causes of `wireproof_scripts` in its terms.

A problem has a code of Connect, which is also a status of gRPC and of HTTP. Where it stands differs: an HTTP error
instead of a stream, the refusal of an append, or the end of a stream (`framing`).
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_cursor.wire.protobuf import field

if TYPE_CHECKING:
    from collections.abc import Mapping

_DETAILS = "aiserver.v1.ErrorDetails"


@dataclass(frozen=True, slots=True)
class _Code:
    grpc: int
    http: int


# The numbers are those of gRPC, the statuses of HTTP those of the Connect protocol.
CODES: Mapping[str, _Code] = {
    "canceled": _Code(1, 499),
    "unknown": _Code(2, 500),
    "invalid_argument": _Code(3, 400),
    "deadline_exceeded": _Code(4, 504),
    "not_found": _Code(5, 404),
    "already_exists": _Code(6, 409),
    "permission_denied": _Code(7, 403),
    "resource_exhausted": _Code(8, 429),
    "failed_precondition": _Code(9, 400),
    "aborted": _Code(10, 409),
    "out_of_range": _Code(11, 400),
    "unimplemented": _Code(12, 501),
    "internal": _Code(13, 500),
    "unavailable": _Code(14, 503),
    "data_loss": _Code(15, 500),
    "unauthenticated": _Code(16, 401),
}
"""Every code with its status in gRPC and HTTP."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceProblem:
    """An error of the service."""

    code: str
    """One of `CODES`."""
    message: str = "Error"
    """The service's own is usually this one word; what happened is in the details."""
    debug: str = ""
    """The name in the details, such as ERROR_NOT_LOGGED_IN; no details are sent when empty."""
    title: str = ""
    """What the details show to the user."""
    detail: str = ""
    """The same in a sentence."""
    retryable: bool = False
    """Whether the details say that another try may work."""
    http_status: int | None = None
    """The status of HTTP, where it is not that of the code."""

    @property
    def status(self) -> int:
        """The status in gRPC."""
        return CODES[self.code].grpc

    @property
    def http(self) -> int:
        """The status in HTTP."""
        return self.http_status or CODES[self.code].http

    def as_json(self) -> dict[str, Any]:
        """As Connect writes it."""
        return {"code": self.code, "message": self.message, "details": [self._as_detail()] if self.debug else []}

    def as_status(self) -> bytes:
        """As gRPC writes it: an encoded google.rpc.Status."""
        packed = field(1, f"type.googleapis.com/{_DETAILS}") + field(2, self._encoded())
        return field(1, self.status) + field(2, self.message) + field(3, packed)

    def _as_detail(self) -> dict[str, Any]:
        details = {"title": self.title, "detail": self.detail, "isRetryable": self.retryable}
        debug = {"error": self.debug, "details": details, "isExpected": True}
        return {"type": _DETAILS, "debug": debug, "value": base64.b64encode(self._encoded()).decode()}

    def _encoded(self) -> bytes:
        # The service's enum is not public as numbers that could be relied on: the texts alone are encoded.
        return field(2, field(1, self.title) + field(2, self.detail))


def http_body(problem: ServiceProblem) -> bytes:
    """The body of an HTTP error."""
    return json.dumps(problem.as_json(), ensure_ascii=False).encode()
