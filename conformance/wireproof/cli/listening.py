"""What the commands that serve have in common: the option for the port, and the socket that listens there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

import click

from wireproof.model.served import HOST
from wireproof_endpoint import serving

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

_Command = TypeVar("_Command", bound="Callable[..., object]")


class PortError(Exception):
    """The port cannot be listened on; the text says why."""


def port_option(default: int) -> Callable[[_Command], _Command]:
    """`--port`, as the parameter `port`."""
    return click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=default,
        show_default=True,
        help="Port to listen on; 0 for any free one.",
    )


def listening(port: int) -> socket.socket:
    """A socket that listens on loopback.

    Raises:
        PortError: the port is taken, or not for this user.
    """
    try:
        return serving.listen(HOST, port)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise PortError(f"port {port} cannot be used: {reason}; name another with --port") from error
