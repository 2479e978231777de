"""The endpoint: a request is let in by `Endpoint`, answered by what its route names, from a script."""

from wireproof_endpoint.endpoint.answerer import Scripts
from wireproof_endpoint.endpoint.dispatch import Endpoint
from wireproof_endpoint.endpoint.requested import EndpointRequest

__all__ = ["Endpoint", "EndpointRequest", "Scripts"]
