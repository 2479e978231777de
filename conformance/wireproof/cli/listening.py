"""What the commands that serve have in common: the port, the socket that listens there, and the key."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from wireproof.cli.complaint import refusal
from wireproof.model.served import HOST
from wireproof.targets.kinds import OptionError, secret
from wireproof_endpoint import serving

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

_Command = TypeVar("_Command", bound="Callable[..., object]")


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
    """A socket that listens on loopback; ends the command where the port is taken, or not for this user."""
    try:
        return serving.listen(HOST, port)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        if error.errno == errno.EADDRINUSE:
            reason = f"{holder(port) or 'another program'} listens there"
        raise refusal(f"port {port} cannot be used: {reason}; name another with --port") from error


def key_in(variable: str) -> str:
    """The key in an environment variable that the person named; ends the command where there is none to be sent."""
    try:
        return secret(variable, "the key")
    except OptionError as error:
        raise refusal(error) from error


_LISTENS = "0A"
"""The state of a socket that listens, in /proc/net/tcp."""


def holder(port: int) -> str:
    """The program that listens at a port, as `NAME (process 123)`; empty where this user cannot see it."""
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        for row in table.read_text().splitlines()[1:] if table.exists() else ():
            fields = row.split()
            if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                return _owner(fields[9])
    return ""


def _owner(inode: str) -> str:
    for process in Path("/proc").glob("[0-9]*"):
        # It may end meanwhile, or be another user's.
        with contextlib.suppress(OSError):
            if any(str(file.readlink()) == f"socket:[{inode}]" for file in (process / "fd").iterdir()):
                # A program names itself, in any bytes.
                name = (process / "comm").read_bytes().decode(errors="backslashreplace").strip()
                return f"{name} (process {process.name})"
    return ""
