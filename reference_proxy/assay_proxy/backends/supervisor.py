"""The long-lived backend process: started, shaken hands with, started again when it dies.

A death that served a turn is followed by a restart at once. Deaths in a row without one wait longer and longer,
and after `PROXY_RESTART_LIMIT` of them nothing is started unless a request waits for it, so that a broken
installation neither spins nor stays down after it is repaired. The HTTP side never dies of it.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from assay_proxy.backends.abilities import Abilities, abilities
from assay_proxy.backends.choices import Choices
from assay_proxy.backends.codex_v1 import CodexV1
from assay_proxy.backends.codex_v2 import CodexV2
from assay_proxy.backends.codex_v2_encode import INITIALIZE
from assay_proxy.backends.link import Link
from assay_proxy.backends.mailbox import PATIENCE
from assay_proxy.backends.process import Process
from assay_proxy.backends.reading import as_text
from assay_proxy.backends.rpc import Answer, Refusal
from assay_proxy.events import Cause, Event, Failed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay_proxy.backends.backend import Turn
    from assay_proxy.backends.codex_turn import CodexTurn, Steps
    from assay_proxy.backends.mailbox import Mailbox
    from assay_proxy.conversation import Conversation
    from assay_proxy.settings import Protocol

log = logging.getLogger(__name__)

TICK = 0.5
FIRST_DELAY = 0.1
LONGEST_DELAY = 2.0

TURNS: dict[Protocol, type[CodexTurn]] = {"v1": CodexV1, "v2": CodexV2}


class FailedTurn:
    """A turn that could not even begin."""

    def __init__(self, cause: Cause) -> None:
        self._cause = cause

    def next(self, timeout: float) -> Event | None:  # noqa: ARG002 - the protocol's signature
        """The failure."""
        return Failed(self._cause)

    def close(self) -> None:
        """Nothing is open."""


class Supervisor:
    """Keeps one `codex app-server` running; `argv` is its command, `environment` all of its environment.

    A client that reads nothing for `patience` seconds while much waits for it loses its turn.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        *,
        restart_limit: int,
        protocol: Protocol = "v2",
        patience: float = PATIENCE,
    ) -> None:
        self._argv = argv
        self._environment = environment
        self._restart_limit = restart_limit
        self._protocol = protocol
        self._abilities = Abilities()
        self._patience = patience
        self._changed = threading.Condition()
        self._link: Link | None = None
        self._process: Process | None = None
        self._waiting = 0
        self._stopping = False
        self._deaths = 0
        self._died = 0.0
        self._thread = threading.Thread(target=self._supervise, name="backend-supervisor", daemon=True)

    def start(self) -> None:
        """Begin to supervise; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End the process and wait until it is gone."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def pid(self) -> int | None:
        """The process id, while one runs."""
        process = self._process
        return process.pid if process else None

    def await_ready(self, timeout: float) -> bool:
        """Whether the handshake is done, waiting for it up to `timeout` seconds."""
        with self._changed:
            self._waiting += timeout > 0
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._link is not None or self._stopping, timeout)
            self._waiting -= timeout > 0
            return self._link is not None

    def open(self, conversation: Conversation, choices: int = 1) -> Turn:
        """Start a turn in threads of its own, one for each choice."""
        link = self._link
        if link is None:
            return FailedTurn(Cause.UNAVAILABLE)

        turn, fitted = TURNS[self._protocol], self._abilities.fit(conversation)

        def begin(steps: Steps, mailbox: Mailbox, choice: int) -> CodexTurn:
            return turn(link, fitted, mailbox, steps, choice=choice, choices=choices)

        return Choices(begin, choices, self._served, self._patience)

    def _served(self) -> None:
        self._deaths = 0

    def _supervise(self) -> None:
        while self._may_start():
            self._run_once()
            self._deaths += 1
            self._died = time.monotonic()

    def _may_start(self) -> bool:
        """Wait as long as the deaths so far ask for; False when there is nothing more to start."""
        with self._changed:
            if self._deaths > self._restart_limit:
                log.error("the backend died %d times in a row; the next request starts it again", self._deaths)
                self._changed.wait_for(lambda: self._waiting or self._stopping)
            self._changed.wait_for(lambda: self._stopping, self._delay())
            return not self._stopping

    def _delay(self) -> float:
        """Seconds until the next start, counted from the last death; none after the first of them."""
        if self._deaths <= 1:
            return 0
        wait = min(FIRST_DELAY * 2.0 ** (self._deaths - 2), LONGEST_DELAY)
        return max(self._died + wait - time.monotonic(), 0)

    def _run_once(self) -> None:
        """Start the process, shake hands, and stay until it has ended."""
        ended = threading.Event()
        process = Process(self._argv, self._environment)
        link = Link(send=process.send, clock=time.monotonic)

        def on_exit(status: int) -> None:
            log.warning("backend exited with status %d", status)
            self._set_link(None)
            link.close()
            ended.set()
            with self._changed:
                self._changed.notify_all()

        try:
            process.start(on_bytes=link.feed, on_exit=on_exit)
        except OSError as error:
            log.error("the backend cannot be started: %s: %s", self._argv[0], error.strerror)  # noqa: TRY400 - no trace
            return
        self._process = process
        log.info("backend %d started", process.pid)
        self._shake_hands(link, process)
        while not self._over(ended):
            link.expire()
        self._set_link(None)
        process.stop()
        self._process = None

    def _over(self, ended: threading.Event) -> bool:
        """Whether this run is over, after waiting a tick for it."""
        with self._changed:
            return self._changed.wait_for(lambda: self._stopping or ended.is_set(), TICK)

    def _shake_hands(self, link: Link, process: Process) -> None:
        def on_initialized(answer: Answer | Refusal) -> None:
            if isinstance(answer, Refusal):
                log.error("backend %d refused the handshake", process.pid)
                threading.Thread(target=process.stop, daemon=True).start()
                return
            link.notify("initialized")
            self._abilities = abilities(as_text(answer.result.get("userAgent")), self._protocol)
            log.info("backend %d is ready", process.pid)
            self._set_link(link)

        link.request("initialize", INITIALIZE, on_initialized)

    def _set_link(self, link: Link | None) -> None:
        with self._changed:
            self._link = link
            self._changed.notify_all()
