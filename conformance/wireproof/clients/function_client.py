"""A function as a client: for clients in the same process, over a transport without a socket."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.clients.running import ClientEnding

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof.clients.stages import Played
    from wireproof.model.client_scenario import ClientScenario
    from wireproof_endpoint.in_process import Transport

TIMEOUT = 30.0


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a client in this process is asked to do."""

    prompts: tuple[str, ...]
    """What the person says, turn by turn, in one conversation."""
    transport: Transport
    """For `httpx.Client` and its like, of httpx or httpx2, sync or async."""
    base_url: str
    key: str
    model: str


@dataclass(frozen=True, kw_only=True)
class FunctionClient:
    """Calls a function once for each scenario. Whatever it raises ends that scenario, and is no fault by itself."""

    function: Callable[[Asked], object]
    timeout: float = TIMEOUT
    """Seconds that it may take; after that it is left alone, and its later requests are not judged."""

    @property
    def name(self) -> str:
        """The function's name, with its module."""
        return f"{self.function.__module__}.{getattr(self.function, '__qualname__', 'client')}"

    def ask(self, played: Played, scenario: ClientScenario) -> ClientEnding:
        """Call the function, in a thread that may be left behind."""
        if played.transport is None:
            raise TypeError("a function is asked in this process")
        asked = Asked(
            prompts=scenario.prompts,
            transport=played.transport,
            base_url=played.base_url,
            key=played.key,
            model=played.model,
        )
        raised: list[str] = []

        def run() -> None:
            try:
                self.function(asked)
            except Exception as error:  # noqa: BLE001 (a client may fail as it likes; what it sent is judged)
                raised.append(f"{type(error).__name__}: {error}")

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(self.timeout)
        ended = f"it was left alone after {self.timeout:g} s" if thread.is_alive() else ""
        return ClientEnding(ended=ended, said=raised[0] if raised else "")
