"""Threads for requests that are being answered: as many as there are such requests, up to a limit."""

from __future__ import annotations

import logging
import queue
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)


@dataclass(eq=False)
class AnswerThreads:
    """Runs jobs, each in one thread; those beyond `limit` wait for a free one.

    They are daemons, unlike those of `concurrent.futures`: one that hangs in a backend does not keep the process.
    """

    limit: int
    idle: float = 10
    """Seconds that a thread waits for a next job."""
    _jobs: queue.SimpleQueue[Callable[[], object] | None] = field(default_factory=queue.SimpleQueue)
    _free: int = 0
    _count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, job: Callable[[], object]) -> None:
        """Have it run soon; never blocks."""
        with self._lock:
            self._free -= 1
            more = self._free < 0 and self._count < self.limit
            self._count += more
        self._jobs.put(job)
        if more:
            self._start(self._count)

    def stop(self) -> None:
        """Let every thread end that has nothing to do; jobs that wait are run before."""
        with self._lock:
            count = self._count
        for _ in range(count):
            self._jobs.put(None)

    def _ends(self) -> bool:
        """Whether a thread that found nothing to do is to end; else a job has just been given to it."""
        with self._lock:
            self._free -= 1
            if self._free < 0:
                return False
            self._count -= 1
            return True

    def _start(self, number: int) -> None:
        try:
            threading.Thread(target=self._work, name=f"answer-{number}", daemon=True).start()
        except RuntimeError as error:  # the system gives no more: the job waits for a thread that there is
            log.warning("no thread can be started: %s", error)
            with self._lock:
                self._count -= 1

    def _work(self) -> None:
        while True:
            with self._lock:
                self._free += 1
            try:
                job = self._jobs.get(timeout=self.idle)
            except queue.Empty:
                if self._ends():
                    return
                continue
            if job is None:
                return
            try:
                job()
            except Exception:
                log.exception("a request could not be answered")
            # Not kept while the thread waits: it holds a request and its answer.
            del job
