"""The long-lived backend process: started, shaken hands with, started again when it dies.

A death that served a turn is followed by a restart at once. Deaths in a row without one wait longer and longer, and
after `PROXY_RESTART_LIMIT` of them the supervisor gives up, which `/livez` reports. Then nothing is started unless a
request waits for it, so that a broken installation neither spins nor stays down after it is repaired. The HTTP side
never dies of it.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from wireproof_proxy.backends import mailbox
from wireproof_proxy.backends.backend import BackendCount, Choices, FailedTurn
from wireproof_proxy.backends.codex.abilities import ARGUMENTS, abilities
from wireproof_proxy.backends.codex.link import CodexLink
from wireproof_proxy.backends.codex.process import PATIENCE, CodexProcess
from wireproof_proxy.backends.codex.rpc import ErrorReply, ResultReply
from wireproof_proxy.backends.codex.turn import SILENCE
from wireproof_proxy.backends.codex.v1 import CodexV1
from wireproof_proxy.backends.codex.v2 import INITIALIZE, CodexV2
from wireproof_proxy.backends.untrusted_json import as_text
from wireproof_proxy.settings import backend_environment
from wireproof_surfaces.events import FailureReason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_proxy.backends.backend import BackendTurn
    from wireproof_proxy.backends.codex.turn import CodexTurn
    from wireproof_proxy.backends.mailbox import Mailbox
    from wireproof_proxy.settings import Protocol, ProxySettings
    from wireproof_surfaces.conversation import Conversation


log = logging.getLogger(__name__)

TICK = 0.5
FIRST_DELAY = 0.1
LONGEST_DELAY = 2.0
NO_PATIENCE = 0.1
"""Seconds that a process which does not answer gets to end by itself."""

TURNS: dict[Protocol, type[CodexTurn]] = {"v1": CodexV1, "v2": CodexV2}


@dataclass(eq=False, repr=False)
class Supervisor:
    """Keeps one `codex app-server` running; `argv` is its command, `environment` all of its environment.

    A client that reads nothing for `patience` seconds while much waits for it loses its turn. A process that is silent
    for `silence` seconds while its calls wait for answers gets answers.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    _: KW_ONLY
    restart_limit: int
    protocol: Protocol = "v2"
    patience: float = mailbox.PATIENCE
    silence: float = SILENCE
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _link: CodexLink | None = None
    _waiting: int = 0
    _stopping: bool = False
    _starts: int = 0
    _deaths: int = 0
    _died: float = 0.0

    def __post_init__(self) -> None:
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
    def alive(self) -> bool:
        """False when the process is down and only a request would start it again."""
        with self._changed:
            return self._link is not None or self._deaths <= self.restart_limit

    def counts(self) -> tuple[BackendCount, ...]:
        """The restarts."""
        return (BackendCount("restarts", "Restarts of the backend.", self.restarts),)

    @property
    def restarts(self) -> int:
        """How often it was started again so far, or tried to be."""
        return max(self._starts - 1, 0)

    def await_ready(self, timeout: float) -> bool:
        """Whether the handshake is done, waiting for it up to `timeout` seconds."""
        with self._changed:
            # A look without waiting (health checks, metrics) is no request: it starts no backend that was given up.
            self._waiting += timeout > 0
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._link is not None or self._stopping, timeout)
            self._waiting -= timeout > 0
            return self._link is not None

    def open(self, conversation: Conversation, choices: int = 1) -> BackendTurn:
        """Start a turn in threads of its own, one for each choice."""
        link = self._link
        # It was ready a moment ago, and died since.
        if link is None:
            return FailedTurn(FailureReason.UNAVAILABLE)

        turn, fitted = TURNS[self.protocol], link.abilities.fit(conversation)

        def begin(progress: Choices, events: Mailbox, choice: int) -> CodexTurn:
            return turn(link, fitted, events, progress, choice=choice, choices=choices, silence=self.silence)

        return Choices(begin, choices, self._served, self.patience)

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
            if self._deaths > self.restart_limit:
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
        """Start the process, shake hands, and stay until it has ended, or does not answer any more."""
        self._starts += 1
        over = threading.Event()
        process = CodexProcess(self.argv, self.environment)
        link = CodexLink(send=process.send, clock=time.monotonic)

        def on_exit(status: int) -> None:
            log.warning("backend exited with status %d", status)
            self._set_link(None)
            link.close()
            self._end(over)

        try:
            process.start(on_bytes=link.feed, on_exit=on_exit)
        except OSError as error:
            # This counts as a death: the waiting times and the limit are the same.
            log.error("the backend cannot be started: %s: %s", self.argv[0], error.strerror)  # noqa: TRY400 - no trace
            return
        log.info("backend %d started", process.pid)
        self._shake_hands(link, process, over)
        patience = PATIENCE
        while not self._is_over(over):
            if not link.expire():
                log.error("backend %d does not answer", process.pid)
                # A process that hangs will not end by itself, and requests wait for the next one.
                patience = NO_PATIENCE
                break
        self._set_link(None)
        link.close()
        # Here alone, on the supervisor's own thread: it joins the threads that call back.
        process.stop(patience)

    def _end(self, over: threading.Event) -> None:
        with self._changed:
            over.set()
            self._changed.notify_all()

    def _is_over(self, over: threading.Event) -> bool:
        """Whether this run is over, after waiting a tick for it."""
        with self._changed:
            return self._changed.wait_for(lambda: self._stopping or over.is_set(), TICK)

    def _shake_hands(self, link: CodexLink, process: CodexProcess, over: threading.Event) -> None:
        def on_initialized(answer: ResultReply | ErrorReply) -> None:
            match answer:
                case ErrorReply(code=None):  # it has ended, or does not answer: `_run_once` notices both
                    return
                case ErrorReply():
                    log.error("backend %d refused the handshake", process.pid)
                    self._end(over)
                case ResultReply(result=result):
                    # No version that was tried insists on it, but it is part of the handshake.
                    link.notify("initialized")
                    link.abilities = abilities(as_text(result.get("userAgent")), self.protocol)
                    log.info("backend %d is ready", process.pid)
                    self._set_link(link)

        link.request("initialize", INITIALIZE, on_initialized)

    def _set_link(self, link: CodexLink | None) -> None:
        with self._changed:
            self._link = link
            self._changed.notify_all()


def codex_backend(settings: ProxySettings) -> Supervisor:
    """A supervisor of `CODEX_BIN app-server`, not started yet."""
    return Supervisor(
        [settings.codex.bin, "app-server", *ARGUMENTS],
        backend_environment(),
        restart_limit=settings.restart_limit,
        protocol=settings.codex_protocol,
        patience=settings.stalled_client_ms / 1000,
        silence=settings.call_wait_ms / 1000,
    )
