"""The service on a loopback port, as an endpoint is served."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from wireproof_endpoint.serving import running
from wireproof_mocks.upstream.service import MOST_BYTES, ModelService
from wireproof_surfaces.http.edge_limits import EdgeLimits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_scripts.steps import Library

# A Codex that closes its end has left: it never waits for an answer then.
LIMITS = EdgeLimits(body=MOST_BYTES, leaving=0)


@contextmanager
def serving(library: Library, port: int = 0) -> Iterator[ModelService]:
    """The service on a loopback port (0: any free one) for the length of a `with` block.

    Raises:
        OSError: the port is taken.
    """
    service = ModelService(library)
    with running(service, port, LIMITS) as service.url:
        yield service
