"""The threads of one app-server process: how each was started, what it has heard and said, and which are kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from time import gmtime, strftime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from assay_codex.threads.settings import SANDBOXES, Settings
from assay_codex.threads.turn_history import Past
from assay_scripts.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay_codex.protocol.connection import Connection
    from assay_scripts.nonces import Nonce
    from assay_scripts.player import Until
    from assay_scripts.selection import Selection

Item = dict[str, Any]  # a Responses item
Log = Callable[[str, object], None]  # takes what is to be stored of a thread: what it is, and it

KEPT_THREADS = 4096
KEPT_LEFT_THREADS = 64
KEPT_ITEMS = 8192
KEPT_UNHEARD = 16_384


class Running(Protocol):
    """A turn of a thread, as the server and the methods know it: see `turns.turn`."""

    id: str
    thread: Thread
    nonce: Nonce
    wait: Until | None
    done: bool

    def step(self, now: float) -> None:
        """Do the next action."""

    def steer(self, given: Sequence[Mapping[str, Any]], client_id: str | None, casting: Selection, now: float) -> None:
        """More input while it runs, and what the model is to answer to it."""

    def answered(self, request: int, result: object, error: object, now: float) -> None:
        """The client answered a call."""

    def unanswered(self) -> list[int]:
        """The ids of the requests that the client has not answered."""

    @property
    def asks(self) -> bool:
        """Whether it waits for the client's word on a command, a patch or a question."""

    @property
    def steerable(self) -> bool:
        """Whether it takes more input."""

    def interrupt(self, now: float) -> None:
        """End it because the client wants it."""

    def give_way(self, now: float) -> None:
        """End it because another one takes its place."""

    def abandon(self) -> None:
        """Play nothing more, and tell nobody."""


@dataclass(eq=False, kw_only=True, slots=True)
class Thread:
    """One thread. `history` holds Responses items: the injected ones as they came, then those of its turns.

    `conversation`: it was begun by a v1 method, which names it so. `last`: the tokens of the last answer; `estimated`:
    what is told in their place since no answer says how long the conversation is; `filled`: tokens of the total that no
    answer has cost. `operations`
    counts what older versions number turns by. `interrupts` answer the requests that wait for a turn to be interrupted.
    `listeners` counts those that v1 methods added. `waiting`: what the client has to do, by its flags.
    `unheard`: notifications that wait for one; None: they need not.

    `born`: the version that began it. `past`: its turns. `archived`: it was put away. `forked`: the thread that it
    began as a copy of. `goal`, `git`: what was noted. `log` stores what is added to it; None: nothing is stored.
    """

    id: str
    created: float
    cwd: str
    path: str | None
    originator: str
    settings: Settings
    developer: str | None
    base: str | None
    tools: list[Item]
    environments: list[Item]
    raw_events: bool
    history: list[Item] = field(default_factory=list)
    total: Usage = field(default_factory=lambda: Usage(input=0, output=0))
    turn: Running | None = None
    first_unread: str | None = None
    subscribers: set[Connection] = field(default_factory=set)
    failed: bool = False
    name: str | None = None
    preview: str = ""
    updated: float = 0.0
    conversation: bool = False
    last: Usage | None = None
    estimated: int | None = None
    filled: int = 0
    operations: int = 0
    interrupts: list[Callable[[], None]] = field(default_factory=list)
    listeners: int = 0
    waiting: list[str] = field(default_factory=list)
    unheard: deque[tuple[str, Item]] | None = None
    born: str = ""
    past: Past = field(default_factory=Past)
    archived: bool = False
    forked: str | None = None
    goal: Item | None = None
    git: Item | None = None
    log: Log | None = None

    @property
    def subscribed(self) -> bool:
        """Whether anyone listens to it."""
        return bool(self.subscribers)

    @property
    def ephemeral(self) -> bool:
        """Whether it is kept in memory alone."""
        return self.path is None

    def remember(self, items: list[Item]) -> None:
        """Append to the history; the oldest items of a very long one are forgotten."""
        for item in items if self.log else ():
            self.store("response_item", item)
        self.history += items
        del self.history[: max(0, len(self.history) - max(KEPT_ITEMS, len(items)))]

    def spend(self, used: Usage) -> None:
        """Add the tokens of an answer to the total."""
        self.last, self.estimated = used, None
        total = self.total
        self.total = Usage(
            input=total.input + used.input,
            output=total.output + used.output,
            cached=total.cached + used.cached,
            reasoning=total.reasoning + used.reasoning,
        )
        self.recount(self.total, used)

    def recount(self, total: Usage, last: Usage | None) -> None:
        """These are the tokens in all, and those of the last answer."""
        self.total, self.last = total, last
        if self.log is not None:
            self.store("token_count", {"total": asdict(total), "last": last and asdict(last)})

    def hear(self, method: str, params: Item) -> None:
        """Keep what is told of a turn and may be told again; of what is kept in memory alone nothing may."""
        if not self.ephemeral:
            self.past.hear(method, params)
            self.store(method, params)
            if method == "turn/completed":
                self.past.cost(params["turn"]["id"], self.total, self.last)

    def override(self, params: Mapping[str, Any]) -> bool:
        """Take the overrides of a turn/start; whether there were any."""
        changed = self.settings.override(params)
        if changed:
            self.store("settings", asdict(self.settings))
        return changed

    def note(self, what: Literal["name", "goal", "git"], value: object) -> None:
        """Note something about it."""
        setattr(self, what, value)
        self.store(what, value)

    def store(self, kind: str, payload: object) -> None:
        """Store something, if the thread is stored."""
        if self.log is not None:
            self.log(kind, payload)

    def fill(self, window: int) -> None:
        """The context is full: so many tokens."""
        before = self.filled + self.total.input + self.total.output
        self.total, self.filled, self.estimated = Usage(input=0, output=0), window, max(0, window - before)

    @property
    def context(self) -> int:
        """How many tokens long the conversation was last said to be."""
        if self.estimated is not None:
            return self.estimated
        return self.last.input + self.last.output if self.last else 0

    def answer_interrupts(self) -> None:
        """Answer the requests that waited for this."""
        waiting, self.interrupts = self.interrupts, []
        for answer in waiting:
            answer()

    def mute(self) -> None:
        """Nobody listens: what is told waits."""
        self.unheard = deque(maxlen=KEPT_UNHEARD)

    def unmute(self) -> list[tuple[str, Item]]:
        """Somebody listens: what waited, method and params."""
        waited, self.unheard = list(self.unheard or ()), None
        return waited

    def declares(self, tool: str) -> bool:
        """Whether the client declared a tool of this name."""
        return any(tool == declared.get("name") for declared in self.tools)


def rollout_path(home: str, identity: str, created: float) -> str:
    """The file of a thread."""
    return f"{home}/sessions/{strftime('%Y/%m/%d/rollout-%Y-%m-%dT%H-%M-%S', gmtime(created))}-{identity}.jsonl"


def new_thread(params: Mapping[str, Any], *, identity: str, now: float, cwd: str, home: str, originator: str) -> Thread:
    """The thread that `thread/start` with `params` (checked) begins."""
    cwd = params.get("cwd") or cwd
    local = [{"environmentId": "local", "cwd": cwd, "runtimeWorkspaceRoots": [cwd]}]
    environments = params.get("environments")
    return Thread(
        id=identity,
        created=now,
        updated=now,
        cwd=cwd,
        path=None if params.get("ephemeral") else rollout_path(home, identity, now),
        originator=originator,
        settings=Settings(
            asked_model=params.get("model"),
            approval_policy=params.get("approvalPolicy") or "never",
            sandbox=SANDBOXES[params.get("sandbox") or "read-only"],
            effort=(params.get("config") or {}).get("model_reasoning_effort"),
        ),
        developer=params.get("developerInstructions"),
        base=params.get("baseInstructions"),
        tools=list(params.get("dynamicTools") or ()),
        environments=local if environments is None else list(environments),
        raw_events=bool(params.get("experimentalRawEvents")),
    )


class Threads:
    """The loaded threads. Of those that the client has left only the last few are kept, of the others a great many."""

    def __init__(self, kept: int = KEPT_THREADS, kept_left: int = KEPT_LEFT_THREADS) -> None:
        self._kept = kept
        self._kept_left = kept_left
        self._threads: dict[str, Thread] = {}
        self._left: deque[Thread] = deque()

    def __len__(self) -> int:
        return len(self._threads)

    def get(self, identity: str) -> Thread | None:
        """The thread of this id."""
        return self._threads.get(identity)

    def ids(self) -> list[str]:
        """All ids, the oldest first."""
        return list(self._threads)

    def add(self, thread: Thread) -> None:
        """Load a thread; beyond the number kept the oldest idle one is forgotten."""
        idle = None
        if len(self._threads) >= self._kept:
            idle = next((old for old in self._threads.values() if old.turn is None), None)
        if idle is not None:
            self.remove(idle)
        self._threads[thread.id] = thread

    def subscribed_to(self, connection: Connection) -> list[Thread]:
        """Those that the connection listens to."""
        return [thread for thread in self._threads.values() if connection in thread.subscribers]

    def leave(self, thread: Thread, connection: Connection) -> None:
        """A client no longer wants to hear of it."""
        thread.subscribers.discard(connection)
        if thread.subscribed:
            return
        self._left.append(thread)
        if len(self._left) > self._kept_left:
            old = self._left.popleft()
            if old.turn is None and not old.subscribed:
                self.remove(old)

    def remove(self, thread: Thread) -> None:
        """Unload it."""
        self._threads.pop(thread.id, None)
