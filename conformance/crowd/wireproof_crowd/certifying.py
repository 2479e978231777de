"""A proxy with faults, launched and certified: one run with all that a run can look at."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.target import Target
from wireproof.results.certify import certify
from wireproof.scenarios import SCENARIOS
from wireproof.targets.bundled import (
    BODY_LIMIT,
    IDLE_TIMEOUT,
    KEEPALIVE,
    SETTINGS,
    SLOTS,
    SPARES,
    UNREADY_SETTINGS,
)
from wireproof.targets.launch import LOCAL, launch, launch_at_need
from wireproof.targets.unready_instance import unready_instance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.model.scenario import Scenario
    from wireproof.results.certificate import Certificate

KEY = "key-of-the-crowd"
SILENCE = 6.0
"""Seconds beyond the idle timeout that an exchange may be silent: as where each fault is certified alone."""
COMMIT = "1000"
"""Milliseconds that the status line waits for the first output, as there."""
JOBS = 24
"""Exchanges at a time, as there."""
READY_WAIT = "2000"
"""Milliseconds that the unready instance waits for its backend: on a busy machine its slots are not taken at once."""


def certified(faults: Sequence[str], *, scenarios: Sequence[Scenario] = SCENARIOS, jobs: int = JOBS) -> Certificate:
    """The certificate of the proxy with these faults; of the faultless one if there are none."""
    env = {**SETTINGS, "PROXY_API_KEY": KEY, "PROXY_COMMIT_MS": COMMIT}
    command = f"{sys.executable} -m wireproof_mocks.miniatures {'+'.join(faults) or 'none'}"
    with ExitStack() as stack:
        launched = stack.enter_context(launch(command, env=env))
        spares = [stack.enter_context(launch_at_need(command, env=env)) for _ in range(SPARES)]
        unready = stack.enter_context(
            unready_instance(
                command, env={**env, **UNREADY_SETTINGS, "PROXY_READY_WAIT_MS": READY_WAIT}, url=LOCAL, at_need=True
            )
        )
        target = Target(
            base_url=launched.base_url, model="codex", api_key=KEY, keepalive=KEEPALIVE,
            timeout=IDLE_TIMEOUT + SILENCE, idle_timeout=IDLE_TIMEOUT, body_limit=BODY_LIMIT, unready_url=unready,
            slots=SLOTS, spare_urls=tuple(spare.base_url for spare in spares), dialects=tuple(Dialect),
            default_mode=Dialect.OBSIDIAN_XML,
        )  # fmt: skip
        return certify(target, scenarios, load(), jobs=jobs)
