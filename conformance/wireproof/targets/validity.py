"""What no target can be reached by is refused: URLs that are none, and options that are invalid or exclude each other.

Also whether a URL names this machine. Nothing is sent.
"""

from __future__ import annotations

import shlex
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from wireproof.model.dialect import Surface
from wireproof.model.target import Agent
from wireproof.model.verdict import HarnessError
from wireproof.targets.kinds import OptionError

if TYPE_CHECKING:
    from wireproof.targets.options import TargetOptions


def url_fault(url: str) -> str:
    """Why no request can be sent to a URL; "" when one can."""
    try:
        # httpx is what will send to it, so what it refuses is no usable URL.
        parts, _ = urlsplit(url), httpx.URL(url)
        _ = parts.port  # raises for one that is not a number
    except (ValueError, httpx.InvalidURL) as error:
        return str(error)
    if parts.scheme not in {"http", "https"}:
        return "it should begin with http:// or https://"
    if not parts.hostname:
        return "it names no host"
    # What is asked for is appended to it.
    return "it should end before the query and the fragment" if parts.query or parts.fragment else ""


def base_fault(url: str) -> str:
    """Why what a person gave is no base URL of a proxy, to follow it in a sentence; "" when it is one."""
    fault = url_fault(url)
    return f"is no base URL of a proxy: {fault}; one is http://127.0.0.1:8787/v1" if fault else ""


def usual_base(url: str) -> str:
    """The base URL that is most likely meant where a proxy has nothing at this one; "": it looks like one."""
    base = url.rstrip("/")
    for surface in Surface:
        base = base.removesuffix(surface.endpoint)
    base = base if base.endswith("/v1") else f"{base}/v1"
    return "" if base == url.rstrip("/") else base


def check_url(url: str) -> None:
    """Raise HarnessError for a URL that no request can be sent to."""
    fault = url_fault(url)
    if fault:
        raise HarnessError(f"{url!r} is no usable URL: {fault}")


def is_local(url: str) -> bool:
    """Whether a URL names this machine; a proxy that the environment names must then be left out."""
    with suppress(ValueError):
        # A name that only resolves to loopback counts as remote: nothing is looked up here.
        host = urlsplit(url).hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return True
        address = ip_address(host)
        return address.is_loopback or address.is_unspecified  # as servers print what they listen at: 0.0.0.0
    return False


def check(options: TargetOptions) -> None:
    """Refuse a URL that is none, a command that is none, and options that exclude each other.

    Raises:
        OptionError: the message says what would be right.
    """
    # Any number serves: the port is not known yet, and without one the braces are no URL.
    if options.url is not None and (fault := base_fault(options.url.replace("{port}", "1"))):
        query = "; --query NAME=VALUE is sent with each request" if "?" in options.url else ""
        raise OptionError(f"{options.url!r} {fault}{query}")
    for name, command in {"--launch": options.command, "--gateway": options.gateway}.items():
        _check_command(name, command)
    for message, seen in _together(options).items():
        if seen:
            raise OptionError(message)


def _check_command(name: str, command: str | None) -> None:
    """Refuse a command that no program can be started with; None: it was not given."""
    try:
        words = shlex.split(command) if command is not None else ["none"]
    except ValueError as error:
        raise OptionError(f"the command {command!r} cannot be read: {error}") from error
    if not words:
        raise OptionError(f"the command of {name} is empty")


def _together(options: TargetOptions) -> dict[str, bool]:
    """Error message → whether that combination was given."""
    command, gateway, codex, named = (
        one is not None for one in (options.command, options.gateway, options.codex, options.url)
    )
    started, upstream = command or gateway, options.upstream is not None
    calls_upstream = gateway or upstream
    spoken, wanted = {dialect.spec.surface for dialect in options.dialects}, set(options.wanted)
    return {
        "--gateway and --launch both start the target: leave one away": command and gateway,
        "a gateway calls an upstream and starts no Codex: leave --codex away": codex and calls_upstream,
        "a proxy that runs already has a backend: --codex is for one that Wireproof starts": codex
        and named
        and not started,
        "a real Codex is no Cursor: leave --codex or --backend away": codex and options.agent is Agent.CURSOR,
        "a gateway calls an upstream and no agent: leave --backend away": options.agent is not None and calls_upstream,
        "--upstream is for a gateway that runs already: name it with --url, without a command": upstream
        and (started or not named),
        "--env is for a target that Wireproof starts, with --launch or --gateway": bool(options.env) and not started,
        "--login is for a gateway that Wireproof starts, with --gateway": options.login is not None and not gateway,
        "--config-template is for a gateway that Wireproof starts, with --gateway": options.config_template is not None
        and not gateway,
        "--dialect names one of a surface that --surface leaves out": bool(wanted) and not spoken <= wanted,
    }
