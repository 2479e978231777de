"""The proxy under test: where it is, and what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.model.dialect import Arguments, Dialect


class Backend(StrEnum):
    """What answers behind the proxy."""

    MOCK = "mock"
    """The scripted mock: the right answer is known."""
    CODEX = "codex"
    """A real Codex whose model's service plays the scripts: the right answer is known, where it can play them."""
    LIVE = "live"
    """A real model: only what holds for any answer can be judged."""


class Missing(StrEnum):
    """What an older Codex cannot do; the words complete "this Codex"."""

    TOOLS = "takes no tools of its client"
    HISTORY = "takes no history beside tools of its client"
    REASONS = "does not tell why an answer was cut off"
    COUNTS = "does not count the tokens of an answer that was cut off"
    ENDS = "does not tell the end of its model's answer while calls wait"
    HANGUPS = "keeps the connection to a silent service when a turn is interrupted"


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """How to reach a proxy. `base_url` ends before `/chat/completions`; times are in seconds.

    `lacks` is what its backend cannot do. `timeout` bounds the silence of one exchange. `keepalive` is the interval of
    keep-alive comments that the target declares, None when it declares none; `idle_timeout` how long it lets a backend
    be silent; `body_limit` (bytes) the largest body that it takes; `slots` how many turns its twin runs at once. The
    twin is the same proxy with a backend that never gets ready. `dialects` are those that it speaks; none until that
    was found out. `arguments` is how its streams tell arguments, None when it does as is usual in the dialect;
    `default_mode` the output mode of requests that name none, None when it is not known.
    """

    base_url: str
    model: str
    api_key: str | None = None
    backend: Backend = Backend.MOCK
    missing: frozenset[Missing] = frozenset()
    timeout: float = 10.0
    keepalive: float | None = None
    idle_timeout: float | None = None
    body_limit: int | None = None
    unready_url: str | None = None
    slots: int | None = None
    dialects: tuple[Dialect, ...] = ()
    arguments: Arguments | None = None
    default_mode: Dialect | None = None

    def argument_mode(self, dialect: Dialect) -> Arguments:
        """How its streams tell arguments in a dialect."""
        return self.arguments or dialect.spec.arguments

    def url(self, path: str) -> str:
        """The address of a path below the base URL."""
        return self.base_url.rstrip("/") + path

    def path_of(self, url: str) -> str:
        """The part of an address that is below the base URL, or else below what the base URL stands in."""
        for base in (self.base_url, self.unready_url or ""):
            for stem in (base.rstrip("/"), root_of(base)):
                if stem and url.startswith(stem):
                    return url.removeprefix(stem)
        return url


def root_of(base_url: str) -> str:
    """What the `/v1` of a base URL stands in."""
    return base_url.rstrip("/").removesuffix("/v1")
