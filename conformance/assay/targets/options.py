"""Reaching a target: at a URL, started by a command, or the proxy that comes with Assay."""

from __future__ import annotations

import os
import shlex
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay.model.target import Backend, Target
from assay.model.verdict import HarnessError
from assay.targets import bundled
from assay.targets.bundled import behind
from assay.targets.launch import LOCAL, launch
from assay.targets.preflight import preflight
from assay.targets.real_codex import real_codex
from assay.targets.unready_instance import unready_instance

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.model.dialect import Arguments, Dialect


class OptionError(ValueError):
    """What was asked for cannot be meant; the message says what would be right."""


@dataclass(frozen=True, kw_only=True)
class TargetOptions:
    """Which target a person asked for. Neither `url` nor `command`: the bundled proxy. Times are in seconds.

    `codex` is a real Codex that the proxy is to start instead of the mock.
    """

    url: str | None = None
    command: str | None = None
    codex: Path | None = None
    model: str = ""
    api_key_env: str | None = None
    keepalive: float | None = None
    idle_timeout: float | None = None
    body_limit: int | None = None
    slots: int | None = None
    dialects: tuple[Dialect, ...] = ()
    arguments: Arguments | None = None
    default_mode: Dialect | None = None
    timeout: float = 10.0
    start_timeout: float = 30.0

    def check(self) -> None:
        """Refuse what cannot be an address or a command.

        Raises:
            OptionError: it is neither; the message says what would be right.
        """
        if self.url is not None:
            parts = urlsplit(self.url)
            if parts.scheme not in {"http", "https"} or not parts.netloc:
                raise OptionError(f"{self.url!r} is no base URL of a proxy; one is http://127.0.0.1:8787/v1")
        if self.command is not None:
            try:
                words = shlex.split(self.command)
            except ValueError as error:
                raise OptionError(f"the command {self.command!r} cannot be read: {error}") from error
            if not words:
                raise OptionError("the command that starts the proxy is empty")
        elif self.codex is not None and self.url is not None:
            raise OptionError("a proxy that runs already has a backend: --codex is for one that Assay starts")

    def key(self) -> str | None:
        """The key, from the variable that was named.

        Raises:
            OptionError: the variable is not set, or holds what no HTTP header can carry.
        """
        if self.api_key_env is None:
            return None
        key = os.environ.get(self.api_key_env)  # the one variable that is named by the user, not by a setting
        if not key:
            raise OptionError(f"the environment variable {self.api_key_env}, which should hold the key, is not set")
        if not (key.isascii() and key.isprintable()):
            raise OptionError(f"the key in the environment variable {self.api_key_env} is not printable ASCII")
        return key

    def command_line(self) -> str:
        """The command that asks for the same again."""
        named = {
            "--url": self.url, "--launch": self.command, "--codex": self.codex,
            "--model": self.model, "--api-key-env": self.api_key_env,
            "--keepalive": self.keepalive, "--idle-timeout": self.idle_timeout,
            "--body-limit": self.body_limit, "--slots": self.slots,
            "--arguments": self.arguments, "--default-mode": self.default_mode,
        }  # fmt: skip
        words = [word for name, value in named.items() if value for word in (name, str(value))]
        words += [word for dialect in self.dialects for word in ("--dialect", str(dialect))]
        return shlex.join(["assay", "certify", *words])


@contextmanager
def reach(wanted: TargetOptions) -> Iterator[Target]:
    """The target, running and looked over, for the length of a `with` block.

    Raises:
        HarnessError: it cannot be reached or driven.
        OptionError: see `TargetOptions.check` and `TargetOptions.key`.
    """
    wanted.check()
    key = wanted.key()
    with ExitStack() as stack:
        codex = stack.enter_context(real_codex(wanted.codex)) if wanted.codex else None
        if wanted.command is not None:
            env, url = codex.env if codex else {}, wanted.url or LOCAL
            launched = stack.enter_context(launch(wanted.command, env=env, url=url, timeout=wanted.start_timeout))
            other = stack.enter_context(unready_instance(wanted.command, env=env, url=url))
            yield _with_mock(preflight(behind(_at(wanted, launched.base_url, key, other), codex)))
        elif wanted.url is not None:
            yield preflight(_at(wanted, wanted.url, key))
        else:
            started = bundled.proxy(timeout=wanted.timeout, start_timeout=wanted.start_timeout, codex=codex)
            yield _with_mock(stack.enter_context(started))


def _at(wanted: TargetOptions, url: str, key: str | None, other: str | None = None) -> Target:
    return Target(
        base_url=url.rstrip("/"),
        model=wanted.model,
        api_key=key,
        timeout=wanted.timeout,
        keepalive=wanted.keepalive,
        idle_timeout=wanted.idle_timeout,
        body_limit=wanted.body_limit,
        unready_url=other,
        slots=wanted.slots,
        dialects=wanted.dialects,
        arguments=wanted.arguments,
        default_mode=wanted.default_mode,
    )


def _with_mock(target: Target) -> Target:
    if target.backend is Backend.LIVE:
        raise HarnessError("the launched proxy does not answer with the mock's words: does it start CODEX_BIN?")
    return target
