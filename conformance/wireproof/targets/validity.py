"""Refuse invalid values and combinations of the options of a target."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from wireproof.model.target import Agent
from wireproof.targets.address import url_fault
from wireproof.targets.kinds import OptionError

if TYPE_CHECKING:
    from wireproof.targets.options import TargetOptions


def check(options: TargetOptions) -> None:
    """Refuse a URL that is none, a command that is none, and options that exclude each other.

    Raises:
        OptionError: the message says what would be right.
    """
    # Any number serves: the port is not known yet, and without one the braces are no URL.
    fault = url_fault(options.url.replace("{port}", "1")) if options.url is not None else ""
    if fault:
        raise OptionError(f"{options.url!r} is no base URL of a proxy: {fault}; one is http://127.0.0.1:8787/v1")
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
    started = options.command is not None or options.gateway is not None
    calls_upstream = options.gateway is not None or options.upstream is not None
    spoken = {dialect.spec.surface for dialect in options.dialects}
    return {
        "--gateway and --launch both start the target: leave one away": options.command is not None
        and options.gateway is not None,
        "a gateway calls an upstream and starts no Codex: leave --codex away": options.codex is not None
        and calls_upstream,
        "a proxy that runs already has a backend: --codex is for one that Wireproof starts": options.codex is not None
        and options.url is not None
        and not started,
        "a real Codex is no Cursor: leave --codex or --backend away": options.codex is not None
        and options.agent is Agent.CURSOR,
        "a gateway calls an upstream and no agent: leave --backend away": options.agent is not None and calls_upstream,
        "--upstream is for a gateway that runs already: name it with --url, without a command": options.upstream
        is not None
        and (options.url is None or started),
        "--env is for a target that Wireproof starts, with --launch or --gateway": bool(options.env) and not started,
        "--login is for a gateway that Wireproof starts, with --gateway": options.login is not None
        and options.gateway is None,
        "--config-template is for a gateway that Wireproof starts, with --gateway": options.config_template is not None
        and options.gateway is None,
        "--dialect names one of a surface that --surface leaves out": bool(options.wanted)
        and not spoken <= set(options.wanted),
    }
