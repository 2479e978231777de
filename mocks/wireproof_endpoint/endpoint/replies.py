"""Bodies of requests and responses as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_endpoint.play import WholeReply
from wireproof_surfaces.http.body import object_in
from wireproof_surfaces.surfaces.json_text import encoded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_endpoint.endpoint.requested import EndpointRequest


def json_reply(payload: Mapping[str, Any], status: int = 200) -> WholeReply:
    """A whole response of JSON."""
    return WholeReply(status=status, headers={"Content-Type": "application/json"}, body=encoded(payload))


def body_of(request: EndpointRequest) -> Mapping[str, Any]:
    """The JSON object in a request's body.

    Raises:
        ApiError: 415 or 400, when there is none.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = object_in(request.body, media_type)
    return {"model": request.deployment, **body} if request.deployment else body
