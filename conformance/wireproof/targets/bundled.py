"""The proxy that comes with Wireproof, started as a stranger's would be: as a command, over a socket."""

from __future__ import annotations

import secrets
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wireproof.model.dialect import Dialect
from wireproof.model.target import Backend, Target
from wireproof.targets.codex import UNPLAYED, Version, missing_in, version_of
from wireproof.targets.launch import LOCAL, aside, executable, launch, launched_at
from wireproof.targets.preflight import preflight
from wireproof.targets.unready_instance import unready_instance

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from concurrent.futures import Future

    from wireproof.targets.budget import Budget
    from wireproof.targets.codex import RealCodex
    from wireproof.targets.cursor_agent import CursorAgent

# The proxy's own is 15 s (chat.stream.keepalive); each scenario that waits for a comment would take as long.
KEEPALIVE = 0.3
"""Seconds; short, so that a silent backend is seen at once."""
# That is 3 s at most, but for the gate of `text/silent`, which the client opens.
IDLE_TIMEOUT = 4.5
"""Seconds; longer than any gate of the suite's scripts stays closed."""
BODY_LIMIT = 4 * 2**20
"""Bytes."""
SETTINGS: Mapping[str, str] = {
    "PROXY_KEEPALIVE_MS": str(int(KEEPALIVE * 1000)),
    "PROXY_IDLE_TIMEOUT_MS": str(int(IDLE_TIMEOUT * 1000)),
    # A mock that fails before any output fails at once; the usual 2 s would only be waited for where it is silent.
    "PROXY_COMMIT_MS": "800",
    # How long the proxy waits for more calls of a backend that is silent: 2 s, as usual, for each such answer add up.
    "PROXY_CALL_WAIT_MS": "600",
    "PROXY_MAX_BODY_BYTES": str(BODY_LIMIT),
    "CODEX_HOME": "",  # the mock would store threads there
    "WIREPROOF_PACE": "0",  # the proxy subscribes before it sends turn/start, and a pause in each turn would add up
}
# Codex sends each call as soon as it is complete; from 0.131 until 0.145 it gives no sign that none follows.
REAL_SETTINGS: Mapping[str, str] = {"PROXY_COMMIT_MS": "2000", "PROXY_CALL_WAIT_MS": "2000"}
"""Longer than with the mock: a real Codex on a busy machine needs the time to report a failure before the first output,
and to send all calls of an answer."""
CURSOR_SETTINGS: Mapping[str, str] = {
    "PROXY_BACKEND": "cursor",
    # The usual time: with less, a busy machine makes a pause between two calls of an answer look like their end.
    "CURSOR_SETTLE_MS": "300",
    "CURSOR_TRANSPORT": "",
    "CURSOR_SCRATCH_WRITE": "",
    "CURSOR_SCRATCH_SHELL": "",
}
"""Those of the shell are for a proxy of the person's own."""
PREFIX = "PROXY_"
"""How the names of the proxy's settings begin. Those of a person's shell are for a proxy of theirs: with them this one
would be judged as another than the one that comes with Wireproof."""
SPARES = 2
"""Instances for what kills its backend. With one, to start that again and again takes longer than all the rest."""
SLOTS = 4
UNREADY_SETTINGS: Mapping[str, str] = {"PROXY_MAX_CONCURRENCY": str(SLOTS), "PROXY_READY_WAIT_MS": "600"}
"""The unready instance has few slots, so that they are soon taken, and gives up on its backend soon."""


@contextmanager
def proxy(
    *,
    start_timeout: float = 30.0,
    codex: RealCodex | None = None,
    cursor: CursorAgent | None = None,
    hurried: bool = False,
    budget: Budget | None = None,
    **declared: Any,  # noqa: ANN401 (fields of a target)
) -> Iterator[Target]:
    """The reference proxy on a free port, as a target.

    Args:
        start_timeout: How long the proxy may take to become ready, in seconds.
        codex: Its backend; None: the mock.
        cursor: Its backend, instead of a Codex; None: there is none.
        hurried: Whether its spare instances are started beside it, and not only when they are needed.
        budget: What may be sent to it; None: see `preflight`.
        **declared: What a person says of it, as fields of the target.

    Raises:
        HarnessError: it does not start.
    """
    key = secrets.token_urlsafe(12)
    env = {**SETTINGS, "PROXY_API_KEY": key, "PROXY_HOST": "127.0.0.1"}
    if codex is not None:
        # Last, since CODEX_HOME is empty in the settings for the mock.
        env |= {**codex.env, **REAL_SETTINGS}
    if cursor is not None:
        env |= {**CURSOR_SETTINGS, **cursor.env, "CURSOR_SCRATCH": str(cursor.folder)}
    command = [executable("wireproof-proxy")]  # its folder may have a space in its name
    # Asked for while something else starts.
    mock = aside(_version_of_mock) if codex is None and cursor is None else None
    with ExitStack() as stack:
        spares = [
            stack.enter_context(launch(command, env=env, timeout=start_timeout, without=PREFIX, at_need=True))
            for _ in range(SPARES)
        ]
        for begun in [aside(spare.begin) for spare in spares if hurried]:
            begun.result()
        launched = stack.enter_context(launch(command, env=env, timeout=start_timeout, without=PREFIX))
        settings, never = {**env, **UNREADY_SETTINGS}, cursor.unready if cursor else None
        instance = unready_instance(command, env=settings, url=LOCAL, without=PREFIX, unready=never, at_need=True)
        unready_url = stack.enter_context(instance)
        target = Target(
            base_url=launched.base_url, model="cursor" if cursor else "codex", api_key=key, keepalive=KEEPALIVE,
            idle_timeout=IDLE_TIMEOUT, body_limit=BODY_LIMIT, unready_url=unready_url, slots=SLOTS,
            spare_urls=tuple(spare.base_url for spare in spares), **declared,
            # The proxy's own (codex-story, criterion 5); mode.default is judged by it.
            default_mode=Dialect.OBSIDIAN_XML,
        )  # fmt: skip
        try:
            yield preflight(behind(target, codex, cursor, mock), budget)
        finally:
            # All at once: each takes a moment to end what it has started itself.
            for each in (launched, *spares, launched_at(unready_url)):
                if each is not None:
                    each.begin_to_stop()


def _version_of_mock() -> Version:
    return version_of(executable("wireproof-codex"))


def behind(
    target: Target,
    codex: RealCodex | None,
    cursor: CursorAgent | None = None,
    mock: Future[Version] | None = None,
) -> Target:
    """The target with its kind of backend, and what that cannot do; None for both: the mock.

    `mock`: its version, if it was asked for already.
    """
    if cursor is not None:
        return replace(target, backend=Backend.CURSOR)
    if codex is not None:
        return replace(target, backend=Backend.CODEX, missing=codex.missing)
    return replace(target, missing=missing_in(mock.result() if mock else _version_of_mock()) - UNPLAYED)
