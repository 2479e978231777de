"""Where `codex app-server` is to listen, and the errors of a command line that it cannot follow.

The texts and exit statuses are those of the real 0.169.0, and of older versions for what those do not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from wireproof_codex.versions.traits import TransportKind

LISTEN, AUTH, TOKEN_FILE, TOKEN_DIGEST = "--listen", "--ws-auth", "--ws-token-file", "--ws-token-sha256"

_STDIO = "stdio://"
_WS = "ws://"
_UNIX = "unix://"
_OFF = "off"
_CONTROL_SOCKET = "app-server-control/app-server-control.sock"  # below the home, when no path is named
_CAPABILITY = "capability-token"
_SIGNED = "signed-bearer-token"
_OPTIONS: Mapping[str, TransportKind] = {
    LISTEN: "ws",
    AUTH: "ws-auth",
    TOKEN_FILE: "ws-auth",
    TOKEN_DIGEST: "ws-digest",
}


class RefusedError(Exception):
    """The process ends at once, with this text on stderr and this exit status."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, kw_only=True, slots=True)
class Listening:
    """An address to listen on for WebSockets."""

    host: str
    port: int
    """0: any free one."""
    digest: str | None = None
    """The SHA-256 of the token that clients must send, in hexadecimal digits; None: they need none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ListeningSocket:
    """A Unix socket to listen on for WebSockets."""

    path: str


def read_listening(
    given: Mapping[str, str | None], transports: AbstractSet[TransportKind], home: str
) -> Listening | ListeningSocket | None:
    """Where to listen, None for stdio; `given`: the values of the options; `transports`: what the version takes.

    Raises:
        RefusedError: codex would not start either.
        ValueError: codex would, but the mock does not play that.
    """
    unknown = next((option for option, part in _OPTIONS.items() if given[option] and part not in transports), None)
    if unknown:
        usage = "Usage: codex app-server [OPTIONS] [COMMAND]"
        raise _usage(f"unexpected argument '{unknown}' found\n\n{usage}")
    url, mode = given[LISTEN] or _STDIO, given[AUTH]
    address = _address(url, transports, home)
    _check_mode(mode, given, transports)
    digest = _digest(given) if mode else None
    if not isinstance(address, tuple):
        return address
    host, port = address
    if mode is None and "ws-guard" in transports and not _is_loopback(host):
        choice = f"configure `--ws-auth {_CAPABILITY}` or `--ws-auth {_SIGNED}`"
        raise _error(f"refusing to start non-loopback websocket listener {url[len(_WS) :]} without auth; {choice}")
    return Listening(host=host, port=port, digest=digest)


def _address(url: str, transports: AbstractSet[TransportKind], home: str) -> tuple[str, int] | ListeningSocket | None:
    if url == _STDIO:
        return None
    if "unix" in transports and url == _OFF:
        raise _error("no transport configured; use --listen or enable remote control")
    if "unix" in transports and url.startswith(_UNIX):
        return ListeningSocket(path=url[len(_UNIX) :] or f"{home}/{_CONTROL_SOCKET}")
    if not url.startswith(_WS):
        more = "`stdio://`, `unix://`, `unix://PATH`, `ws://IP:PORT`, or `off`"
        forms = more if "unix" in transports else "`stdio://` or `ws://IP:PORT`"
        raise _invalid(url, f"unsupported --listen URL `{url}`; expected {forms}")
    host, _, port = url[len(_WS) :].rpartition(":")  # the last colon: an IPv6 address has others
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not _is_address(host) or not port.isdecimal() or int(port) > _LAST_PORT:
        raise _invalid(url, f"invalid websocket --listen URL `{url}`; expected `ws://IP:PORT`")
    return host, int(port)


_LAST_PORT = 65_535


def _is_address(host: str) -> bool:
    from ipaddress import ip_address  # noqa: PLC0415 - it would slow every start without a listener

    try:
        return bool(ip_address(host).compressed)
    except ValueError:
        return False


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address  # noqa: PLC0415 - same

    return ip_address(host).is_loopback


def _check_mode(mode: str | None, given: Mapping[str, str | None], transports: AbstractSet[TransportKind]) -> None:
    tokens = [given[option] for option in (TOKEN_FILE, TOKEN_DIGEST) if given[option]]
    if mode == _SIGNED:
        raise ValueError(f"wireproof-codex plays `{AUTH} {_CAPABILITY}` only")
    if mode not in {None, _CAPABILITY}:
        raise _usage(f"invalid value '{mode}' for '{AUTH} <MODE>'\n  [possible values: {_CAPABILITY}, {_SIGNED}]")
    if mode and not tokens:
        needed = f"`{TOKEN_FILE}` or `{TOKEN_DIGEST}`" if "ws-digest" in transports else f"`{TOKEN_FILE}`"
        raise _error(f"{needed} is required when `{AUTH} {_CAPABILITY}` is set")
    if mode and len(tokens) > 1:
        raise _error(f"`{TOKEN_FILE}` and `{TOKEN_DIGEST}` are mutually exclusive")
    if tokens and not mode:
        raise _error(f"websocket auth flags require `{AUTH} {_CAPABILITY}` or `{AUTH} {_SIGNED}`")


def _digest(given: Mapping[str, str | None]) -> str:
    """The SHA-256 of the token, in hexadecimal digits."""
    from hashlib import sha256  # noqa: PLC0415 - same
    from pathlib import Path  # noqa: PLC0415 - same

    digest, file = given[TOKEN_DIGEST], given[TOKEN_FILE] or ""
    if digest:
        if len(digest) != _DIGITS or not set(digest.lower()) <= set("0123456789abcdef"):
            raise _error(f"{TOKEN_DIGEST} must be a 64-character hex SHA-256 digest")
        return digest.lower()  # it is compared with what `hexdigest` gives
    try:
        secret = Path(file).read_bytes().strip()  # a file that was edited ends with a line break
    except OSError as error:
        raise _error(
            f"failed to read websocket auth secret {file}: {error.strerror} (os error {error.errno})"
        ) from error
    if not secret:
        raise _error(f"websocket auth secret {file} must not be empty")
    return sha256(secret).hexdigest()


_DIGITS = 64


def _invalid(url: str, why: str) -> RefusedError:
    return _usage(f"invalid value '{url}' for '{LISTEN} <URL>': {why}")


# What the parser of the command line refuses ends with status 2, what codex itself refuses with 1.
def _usage(what: str) -> RefusedError:
    return RefusedError(f"error: {what}\n\nFor more information, try '--help'.\n", 2)


def _error(what: str) -> RefusedError:
    return RefusedError(f"Error: {what}\n", 1)
