"""Whether a port of this machine is free for what Assay is to serve there."""

from __future__ import annotations

import socket
from contextlib import suppress

from assay.model.served import HOST


def is_free(port: int) -> bool:
    """Whether a port of this machine can be listened at."""
    with suppress(OSError):
        # `create_server` sets SO_REUSEADDR, so a port that was just left counts as free.
        socket.create_server((HOST, port)).close()
        return True
    return False
