"""Ports of this machine at which a proxy may listen."""

from __future__ import annotations

import secrets
import socket
from collections import deque
from contextlib import suppress
from pathlib import Path

from wireproof.model.served import HOST
from wireproof.model.verdict import HarnessError

LOWEST_PORT = 10000
"""The lowest port that a launched proxy is given: well-known services listen below it."""
USUAL_EPHEMERAL = 49152
"""The lowest port that a system gives to outgoing connections, by RFC 6335."""
EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""Where Linux says which ports it gives to them."""
_given: deque[int] = deque(maxlen=1000)
"""The ports that this process has given last. An instance that starts when it is needed listens long after that."""


def free_port() -> int:
    """A loopback port that nothing listens on at this moment, and that the system gives to no outgoing connection.

    It was not among the last thousand that this process was given.

    Raises:
        HarnessError: none is found.
    """
    # A proxy listens at it about a second later. A port that the system chooses (port 0) is one that it also gives to
    # any connection that is opened meanwhile, so on a busy machine it is sometimes taken by then.
    # The system's randomness: a seed, as tests set one, would give two processes the same ports.
    for port in secrets.SystemRandom().sample(range(LOWEST_PORT, _first_ephemeral()), 100):
        if port in _given:
            continue
        with socket.socket() as probe, suppress(OSError):
            # As servers do: a port that was just left counts as free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            _given.append(port)
            return port
    raise HarnessError("no free port was found on 127.0.0.1")


def is_free(port: int) -> bool:
    """Whether a port of this machine can be listened at."""
    with suppress(OSError):
        # `create_server` sets SO_REUSEADDR, so a port that was just left counts as free.
        socket.create_server((HOST, port)).close()
        return True
    return False


def _first_ephemeral() -> int:
    """The lowest port that the system may give to a connection."""
    try:
        return max(int(EPHEMERAL.read_text(encoding="ascii").split()[0]), LOWEST_PORT + 1000)
    except OSError:
        return USUAL_EPHEMERAL  # not Linux
