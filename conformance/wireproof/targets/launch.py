"""Start a proxy with the mock as its backend, wait until it answers, stop it with all its children.

While it runs it can be asked whether it has ended, and be started again at the same address: a proxy that dies in the
midst of a run is to be judged by the rest, too.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

import httpx

from wireproof.model.target import root_of
from wireproof.model.transcript import Death
from wireproof.model.verdict import HarnessError
from wireproof.targets.clients import past_proxies, settings
from wireproof.targets.codex import on_path
from wireproof.targets.ports import free_port
from wireproof.targets.validity import check_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

_T = TypeVar("_T")

LOCAL = "http://127.0.0.1:{port}/v1"
"""The base URL of a launched proxy when none is given."""
START = 30.0
"""Seconds that a launched proxy has to become ready, when nothing else is said."""
READY_BELOW = 500
"""The status below which its list of models shows that it is ready, when nothing else is said: a 401 does, too."""
GRACE = 5.0
"""Seconds that a proxy has to stop after SIGTERM."""
FAILING = 3.0
"""Seconds for which its list of models fails until other paths are asked."""
SUCCESS = range(200, 300)
HEALTH = ("/readyz", "/healthz", "/health", "/livez", "/ping", "/v1", "/")
"""The other paths, below the root of its base URL: what servers are usually asked by."""
POLL = 0.02
"""Seconds between two looks at a proxy that is starting."""
PIECE = 0.25
"""Seconds that the main thread waits at a time for a start: an interrupt is noticed after that at the latest."""
LOOK, LOOKS = 0.01, 100
"""Seconds between two looks at a process that has closed its sockets, and how many: it may take a second to end."""
MORE_LOOKS = 5
"""How many at one that still took a connection."""
SHOWN = 2000
"""How many characters of a dead proxy's output an error message quotes."""
_PR_SET_PDEATHSIG = 1
KEPT = 16_384
"""How many bytes of its stderr are kept at its death: in Go and Node the error stands above a trace of many lines."""


def _end_of(file: IO[bytes], most: int = SHOWN, since: int = 0) -> str:
    """The end of a file, of what was written after its first `since` bytes."""
    # By `pread`: the process writes at the file's own position, which a `seek` here would move.
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), most, max(since, size - most)).decode(errors="replace").strip()


@dataclass(kw_only=True)
class Launched:
    """A proxy that was started: its address, whether it still runs, and how it is started again."""

    base_url: str
    words: list[str]
    env: Mapping[str, str]
    timeout: float
    """How long it may take to become ready, in seconds."""
    below: int
    """It is ready when the list of models is answered with a status below this one."""
    out: IO[bytes]
    """What it writes.

    Files, not pipes: a proxy that logs much would block on a pipe that nothing reads. Two of them, since stdout is
    often written only when the process ends, behind the stderr that says why.
    """
    err: IO[bytes]
    codex_used: Path
    """A file that is there once the command `codex` was run that is on its `PATH`."""
    process: subprocess.Popen[bytes] | None = None
    """The leader of its process group; another one after each restart. None: it was not started yet."""
    starts: int = 0
    """How many times it was started."""
    over: bool = False
    """Whether it is to be started no more."""
    ready_by: str = ""
    """The path, other than that of the list of models, whose answer has shown that it is ready; "": that list did."""
    _begun: bool = False
    """Whether it was started and nobody has waited for it yet."""
    _said: int = 0
    """Bytes of its stderr that earlier lives have written."""
    _starting: threading.Lock = field(default_factory=threading.Lock)
    """Held while a process is started or stopped, since restarts run in another thread."""

    @property
    def pid(self) -> int:
        """The id of the process that runs now, or ran last; 0 before the first."""
        return self.process.pid if self.process else 0

    @property
    def asleep(self) -> bool:
        """Whether it was not started yet, or not waited for; `restart` does that."""
        return self.process is None or self._begun

    def death(self) -> Death | None:
        """How the process ended; None while it runs."""
        status = self.process.poll() if self.process else None
        return None if status is None else Death(status=status, last_words=_end_of(self.err, KEPT, self._said))

    def begin(self) -> None:
        """Start it, for the first time, and do not wait: `restart` does.

        Raises:
            HarnessError: it cannot be started.
        """
        with self._starting:
            if self.process is None and not self.over:
                self._start()
                self._begun = True

    def restart(self) -> None:
        """Start it, or start it again at the same address, and wait until it answers.

        Raises:
            HarnessError: it cannot be started, ends again, or does not become ready.
        """
        with self._starting:
            # The run may have been interrupted while this thread waited for its turn.
            if self.over:
                return
            if not self._begun:
                if self.process is not None:
                    stop(self.process)  # also the children of a leader that is gone, who may still hold the port
                self._start()
            self._begun = False
        self.wait_until_ready()

    def _start(self) -> None:
        # All lives write to one file: the error of an earlier one must not be quoted for this one.
        self._said = os.fstat(self.err.fileno()).st_size
        # SIGTERM when Wireproof is killed: the proxy knows what it has started itself, and ends that.
        dying = _ending_with_parent()
        try:
            # A session of its own: the whole group can be stopped, and a Ctrl-C reaches Wireproof alone, which then
            # stops it in order.
            self.process = _STARTER.submit(
                lambda: subprocess.Popen(
                    self.words,
                    env=dict(self.env),
                    stdin=subprocess.DEVNULL,
                    stdout=self.out,
                    stderr=self.err,
                    start_new_session=True,
                    preexec_fn=dying,  # noqa: PLW1509 - it calls the kernel and nothing else
                )
            ).result()
        except OSError as error:
            raise HarnessError(f"{self.words[0]} cannot be started: {error.strerror}") from error
        self.starts += 1

    def wait_until_ready(self) -> None:
        """Wait until it answers.

        Raises:
            HarnessError: it ends, or does not answer in time.
        """
        began = time.monotonic()
        deadline = began + self.timeout
        # A second for each look: a proxy that takes the connection before it can answer is asked again. A proxy of the
        # environment would answer for one that does not listen yet.
        with httpx.Client(timeout=1.0, **{**settings(self.base_url), "trust_env": False}) as client:
            while time.monotonic() < deadline and not self.over:
                # Before the look: another program may answer on the port of a proxy that has died.
                ended = self.death()
                if ended is not None:
                    raise HarnessError(f"the proxy ended with status {ended.status} before it was ready{self._tail()}")
                # Asked without a key: a 401 is an answer, too. A proxy may lack /readyz (http.health.ready is a
                # SHOULD).
                status = _status(client, f"{self.base_url}/models")
                if status is not None and status < self.below:
                    return
                # While it is still starting, another path may be there before that which matters.
                if status is not None and time.monotonic() - began > min(FAILING, self.timeout / 2):
                    root = root_of(self.base_url)
                    self.ready_by = next((one for one in HEALTH if _status(client, root + one) in SUCCESS), "")
                    if self.ready_by:
                        return
                time.sleep(POLL)
        limit = f"within {self.timeout:g} s"
        raise HarnessError(f"the proxy did not answer at {self.base_url}/models {limit}{self._tail()}")

    def _tail(self) -> str:
        """The end of what was said, to complete an error message."""
        said = "\n".join(filter(None, map(_end_of, (self.out, self.err))))[-SHOWN:]  # why it died stands at the end
        return f"; it said:\n{said}" if said else "; it said nothing"

    def begin_to_stop(self) -> None:
        """Ask it to stop, without waiting: several that are asked first stop at the same time."""
        self.over = True
        with self._starting:
            if self.process is not None and self.process.poll() is None:
                _signal(self.process, signal.SIGTERM)

    def close(self) -> None:
        """Stop it, and start it no more."""
        self.over = True
        with self._starting:
            if self.process is not None:
                stop(self.process)


_STARTER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="wireproof-starter")
"""Starts every process: one that ends with its parent ends with the thread that started it."""
_RUNNING: dict[str, Launched] = {}
"""The base URLs of the proxies that run now. There is one table of processes, too, and it belongs to no one target."""


def launched_at(base_url: str | None) -> Launched | None:
    """The proxy that Wireproof has started at an address; None: it has started none there."""
    return next((one for url, one in _RUNNING.items() if base_url and _origin(url) == _origin(base_url)), None)


def _origin(url: str) -> tuple[str, int | None]:
    # A process may serve several targets below its address, as the miniatures are served.
    parsed = httpx.URL(url)
    return parsed.host, parsed.port


def executable(name: str) -> str:
    """The path of a console command that is installed beside this Python; HarnessError when it is not."""
    beside = Path(sys.executable).parent
    # Beside this Python first: a virtual environment that is not activated is not on PATH, and another version may be.
    found = shutil.which(name, path=str(beside)) or shutil.which(name)
    if found is None:
        raise HarnessError(f"the command {name} is not installed in {beside}; install the package wireproof there")
    return found


@contextmanager
def launch(
    command: str | Sequence[str],
    *,
    env: Mapping[str, str],
    url: str = LOCAL,
    timeout: float = START,
    below: int = READY_BELOW,
    without: str | None = None,
    at_need: bool = False,
) -> Iterator[Launched]:
    """Run a proxy for the length of a `with` block.

    Args:
        command: Its words, or a line as shells read it. `{port}` is a free port, as in PORT and PROXY_PORT.
        env: Variables, over those of this process. CODEX_BIN names the mock unless it is among them.
        url: The base URL; `{port}` is replaced in it, too.
        timeout: How long it may take to become ready, in seconds.
        below: It is ready when it answers `GET <url>/models` with a status below this one.
        without: Variables of this process whose names begin so are kept from it; None: it has all.
        at_need: Whether it is started when the first request is to be sent to it (`driving.restarting`): for an
            instance that few scenarios need. Its start costs others time, and a run may not need it at all.

    Raises:
        HarnessError: the URL is not usable, or the command cannot be started, dies, or does not become ready.
    """
    port = str(free_port())
    # Not `format`: a command and a URL may hold other braces.
    base_url = url.replace("{port}", port)
    check_url(base_url)
    words = [word.replace("{port}", port) for word in (words_of(command) if isinstance(command, str) else command)]
    mock = {"CODEX_BIN": executable("wireproof-codex"), "PORT": port, "PROXY_PORT": port}
    # PATH, HOME and the like stay: a command of a user needs them.
    own = {name: value for name, value in past_proxies().items() if not (without and name.startswith(without))}
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        on_path({**own, **mock, **env}, mock["CODEX_BIN"]) as (variables, used),
    ):
        launched = Launched(
            base_url=base_url, words=words, env=variables, timeout=timeout, below=below, out=out, err=err,
            codex_used=used,
        )  # fmt: skip
        _RUNNING[base_url] = launched
        try:
            if not at_need:
                started = aside(launched.restart)
                # In pieces: an interrupt that comes just before the main thread begins to wait does not wake it.
                while wait([started], PIECE).not_done:
                    pass
                started.result()
            yield launched
        finally:
            del _RUNNING[base_url]
            launched.close()


def aside(work: Callable[[], _T]) -> Future[_T]:
    """Work in another thread.

    An interrupt is raised in the main one, so it cannot fall between the start of a process and the assignment of what
    is needed to stop it.
    """
    beside = ThreadPoolExecutor(max_workers=1, thread_name_prefix="wireproof-aside")
    done = beside.submit(work)
    beside.shutdown(wait=False)
    return done


async def until_ended(has_ended: Callable[[], bool], *, lives: bool) -> None:
    """Wait until a process that broke a connection has ended, as long as that may take.

    Args:
        has_ended: Whether it has.
        lives: Whether it still took another connection, so that it most likely broke that one by itself.
    """
    for _ in range(MORE_LOOKS if lives else LOOKS):
        await asyncio.sleep(LOOK)
        if has_ended():
            return


def words_of(command: str) -> list[str]:
    """The words of a command; HarnessError where shells would not read it, or it has none."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise HarnessError(f"the command to launch cannot be read: {error}: {command}") from error
    if not words:
        raise HarnessError("the command to launch is empty")
    return words


def _status(client: httpx.Client, url: str) -> int | None:
    """The status with which a server answers; None: it does not."""
    try:
        # The status is enough; the body of a list of models is not waited for.
        with client.stream("GET", url) as response:
            return response.status_code
    # Refused, reset, slow: all of it is usual while a server starts.
    except httpx.TransportError:
        return None


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop the process group that a process leads: SIGTERM, then after the grace SIGKILL to all that are left.

    An interrupt during the grace, by a second Ctrl-C, sends SIGKILL at once.
    """
    try:
        _signal(process, signal.SIGTERM)
        # The leader may be gone within the grace and leave children: so SIGKILL goes to the group in any case.
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
    finally:
        _signal(process, signal.SIGKILL)
        process.wait()  # reaped, or it would stay as a zombie
        if process.stdout is not None:
            process.stdout.close()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    # The whole group has ended already.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _ending_with_parent() -> Callable[[], None] | None:
    """What `subprocess` is to do in the child (`preexec_fn`), which gets SIGTERM when its parent has ended.

    On Linux the kernel sees to it, and counts the thread as the parent: the child must be started by one that lasts as
    long as the process. None elsewhere: a child learns of it by the end of its input, if it reads any.
    """
    if sys.platform != "linux":
        return None
    # Looked up before the fork: in the child, where other threads are gone with whatever they held, it only calls.
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def prepare() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        # It may have ended before that.
        if os.getppid() != parent:
            os._exit(1)

    return prepare
