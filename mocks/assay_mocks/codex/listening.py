"""What `codex app-server` is told to listen on, and what it says of a command line that it cannot follow.

The texts and exit statuses are those of the real 0.169.0, and of 0.89.0 for versions that know no `--listen`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LISTEN, AUTH, TOKEN_FILE = "--listen", "--ws-auth", "--ws-token-file"

_STDIO = "stdio://"
_WS = "ws://"
_UNPLAYED = ("off", "unix://")
_CAPABILITY = "capability-token"
_SIGNED = "signed-bearer-token"


class RefusedError(Exception):
    """The process ends at once: what it says on stderr, and its exit status."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, kw_only=True, slots=True)
class Listening:
    """An address to listen on for WebSockets; port 0: any free one. `token`: what clients must send, if anything."""

    host: str
    port: int
    token: str | None = None


def read_listening(given: Mapping[str, str | None], *, known: bool) -> Listening | None:
    """Where to listen, None for stdio; `given` has the values of the options, `known`: the version has them.

    Raises:
        RefusedError: codex would not start either.
        ValueError: codex would, but the mock does not play that.
    """
    unknown = next((option for option in (LISTEN, AUTH, TOKEN_FILE) if given[option] and not known), None)
    if unknown:
        usage = "Usage: codex app-server [OPTIONS] [COMMAND]"
        raise _usage(f"unexpected argument '{unknown}' found\n\n{usage}")
    url, mode = given[LISTEN] or _STDIO, given[AUTH]
    address = _address(url)
    _check_mode(mode, given[TOKEN_FILE])
    if address is None:
        return None
    host, port = address
    if mode is None and not _is_loopback(host):
        choice = f"configure `--ws-auth {_CAPABILITY}` or `--ws-auth {_SIGNED}`"
        raise _error(f"refusing to start non-loopback websocket listener {url[len(_WS) :]} without auth; {choice}")
    return Listening(host=host, port=port, token=_token(given[TOKEN_FILE]) if mode else None)


def _address(url: str) -> tuple[str, int] | None:
    if url == _STDIO:
        return None
    if url.startswith(_UNPLAYED):
        raise ValueError(f"assay-codex listens on stdio:// and ws://IP:PORT only, not on {url}")
    if not url.startswith(_WS):
        forms = "`stdio://`, `unix://`, `unix://PATH`, `ws://IP:PORT`, or `off`"
        raise _invalid(url, f"unsupported --listen URL `{url}`; expected {forms}")
    host, _, port = url[len(_WS) :].rpartition(":")
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


def _check_mode(mode: str | None, token_file: str | None) -> None:
    if mode == _SIGNED:
        raise ValueError(f"assay-codex plays `{AUTH} {_CAPABILITY}` only")
    if mode not in {None, _CAPABILITY}:
        raise _usage(f"invalid value '{mode}' for '{AUTH} <MODE>'\n  [possible values: {_CAPABILITY}, {_SIGNED}]")
    if mode and not token_file:
        raise _error(f"`{TOKEN_FILE}` or `--ws-token-sha256` is required when `{AUTH} {_CAPABILITY}` is set")
    if token_file and not mode:
        raise _error(f"websocket auth flags require `{AUTH} {_CAPABILITY}` or `{AUTH} {_SIGNED}`")


def _token(file: str | None) -> str:
    from pathlib import Path  # noqa: PLC0415 - same

    try:
        return Path(file or "").read_text(encoding="utf-8").strip()
    except OSError as error:
        raise _error(
            f"failed to read websocket auth secret {file}: {error.strerror} (os error {error.errno})"
        ) from error


def _invalid(url: str, why: str) -> RefusedError:
    return _usage(f"invalid value '{url}' for '{LISTEN} <URL>': {why}")


def _usage(what: str) -> RefusedError:
    return RefusedError(f"error: {what}\n\nFor more information, try '--help'.\n", 2)


def _error(what: str) -> RefusedError:
    return RefusedError(f"Error: {what}\n", 1)
