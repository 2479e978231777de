"""The threads of one app-server process, and which of them are kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from time import gmtime, strftime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from wireproof_codex.threads.thread_settings import SANDBOXES, ThreadSettings
from wireproof_codex.threads.turn_history import TurnHistory
from wireproof_scripts.conversation import is_user
from wireproof_scripts.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wireproof_scripts.nonces import Nonce
    from wireproof_scripts.player import Until
    from wireproof_scripts.selection import Selection

Item = dict[str, Any]
"""A Responses item, or another JSON object."""
Log = Callable[[str, object], None]
"""Stores an entry of a thread: its kind and its payload, see `thread_store`."""

# Bounds for a process that runs for months, beyond what a client is likely to use.
KEPT_THREADS = 4096
KEPT_LEFT_THREADS = 64
KEPT_ITEMS = 8192
KEPT_NOTIFICATIONS = 16_384


class Running(Protocol):
    """A turn of a thread, as the server and the methods know it: see `turns.turn`."""

    id: str
    thread: Thread
    nonce: Nonce
    wait: Until | None
    """The moment before which it has nothing to do, None if it has something to do now."""
    done: bool
    """Whether nothing of it is left to play."""
    steerable: bool
    """Whether it takes more input; a turn that only summarises the conversation does not."""

    def step(self) -> None:
        """Do the next action, or set `wait`."""

    def steer(self, given: Sequence[Mapping[str, Any]], client_id: str | None, casting: Selection) -> None:
        """Take more input, and what the model is to answer to it."""

    def answered(self, request: int, result: object, error: object) -> None:
        """Take the client's answer to a request of this turn."""

    def unanswered(self) -> list[int]:
        """The ids of the requests that the client has not answered."""

    @property
    def waits_for_approval(self) -> bool:
        """Whether it waits for the client's answer about a command, a patch or a question."""

    def interrupt(self, reason: str = "interrupted") -> None:
        """End it because the client wants that, or because another turn takes its place: `replaced`."""

    def drop(self) -> None:
        """Play nothing more of it, without a notification."""


@dataclass(eq=False, kw_only=True, slots=True)
class Thread:
    """One thread: how it was started, its history, and what is known of its turns."""

    id: str
    created: float
    """Epoch seconds, as `updated`."""
    cwd: str
    """The folder in which it began."""
    path: str | None
    """The file in which it is stored, None for an ephemeral thread. Without CODEX_HOME no such file is written."""
    originator: str
    """The name of the first client of the process that began it."""
    settings: ThreadSettings
    developer: str | None
    """`developerInstructions` of thread/start."""
    base: str | None
    """`baseInstructions` of thread/start."""
    tools: list[Item]
    """`dynamicTools` of thread/start."""
    environments: list[Item]
    """Where commands can run; [] means that none can."""
    raw_events: bool
    """Whether the model's own items are sent too: `experimentalRawEvents`."""
    history: list[Item] = field(default_factory=list)
    """Responses items: the injected ones as they came, then those of its turns."""
    total: Usage = field(default_factory=lambda: Usage(input=0, output=0))
    """The tokens of all responses of the model."""
    turn: Running | None = None
    """The turn that runs."""
    first_unread: str | None = None
    """The id of the first turn that the client has not read, as thread/readState/changed says it."""
    subscribed: bool = False
    """Whether the client gets its notifications."""
    failed: bool = False
    """Whether the last turn failed: the status is then systemError."""
    folder: str = ""
    """The folder in which its turns work."""
    given_history: bool = False
    """Whether it began with a history of the client's."""
    name: str | None = None
    preview: str = ""
    """The first text of the user; lists of threads leave out those without one."""
    updated: float = 0.0
    conversation: bool = False
    """Whether a v1 method began it, which names it by `conversationId`."""
    last: Usage | None = None
    """The tokens of the last response, None before there is one."""
    estimated: int | None = None
    """How long the conversation is where no response says so: sent in the place of the counts of `last`."""
    filled: int = 0
    """The part of the total that no response used: what a full context window adds to the count."""
    operations: int = 0
    """What versions up to 0.99 number turns by."""
    interrupts: list[Callable[[], None]] = field(default_factory=list)
    """Answer the requests that wait for a turn to be interrupted."""
    listeners: int = 0
    """How many listeners v1 methods have added."""
    active_flags: list[str] = field(default_factory=list)
    """What the turn waits for, by the flags of the status: waitingOnApproval, waitingOnUserInput."""
    held_notifications: deque[tuple[str, Item]] | None = None
    """Method and params of what waits for a listener, None if nothing has to wait."""
    cli_version: str = ""
    """The version that began it."""
    turn_history: TurnHistory = field(default_factory=TurnHistory)
    archived: bool = False
    forked_from: str | None = None
    """The id of the thread that it began as a copy of."""
    goal: Item | None = None
    git: Item | None = None
    """`gitInfo`, as thread/metadata/update set it."""
    log: Log | None = None
    """Writes an entry to its file, None if it is not stored."""

    def __post_init__(self) -> None:
        """Work where it began."""
        self.folder = self.folder or self.cwd

    @property
    def ephemeral(self) -> bool:
        """Whether it is never stored."""
        return self.path is None

    def remember(self, items: list[Item]) -> None:
        """Append to the history; of a very long one the oldest items are dropped."""
        for item in items if self.log else ():
            self.store("response_item", item)
        self.history += items
        # A history that is given at once stays whole, however long it is.
        del self.history[: max(0, len(self.history) - max(KEPT_ITEMS, len(items)))]

    def spend(self, used: Usage) -> None:
        """Add the tokens of a response to the total."""
        self.estimated, total = None, self.total
        spent = Usage(
            input=total.input + used.input,
            output=total.output + used.output,
            cached=total.cached + used.cached,
            reasoning=total.reasoning + used.reasoning,
        )
        self.recount(spent, used)

    def recount(self, total: Usage, last: Usage | None) -> None:
        """Set the tokens of all responses, and those of the last one."""
        self.total, self.last = total, last
        if self.log is not None:
            self.store("token_count", {"total": asdict(total), "last": last and asdict(last)})

    def record(self, method: str, params: Item) -> None:
        """Store a notification for thread/read and thread/resume; ephemeral threads store nothing."""
        if not self.ephemeral:
            self.turn_history.record(method, params)
            self.store(method, params)
            if method == "turn/completed":
                self.turn_history.cost(params["turn"]["id"], self.total, self.last)

    def roll_back(self, turns: int) -> None:
        """Remove the last turns, with what they put into the history."""
        # Messages, not turns: queued input makes several of a turn, `input: []` none.
        users = self.turn_history.drop(turns)
        begun = [at for at, item in enumerate(self.history) if is_user(item)][-users:]
        if users and begun:  # `[-0:]` is the whole list
            del self.history[begun[0] :]
        self.store("rolled_back", {"turns": turns})

    def override(self, params: Mapping[str, Any]) -> bool:
        """Take the overrides of a turn/start; True if any setting changed."""
        changed = self.settings.override(params)
        if changed:
            self.store("settings", asdict(self.settings))
        folder = params.get("cwd") or self.folder
        if folder == self.folder:
            return changed
        self.move(folder)
        self.store("cwd", folder)
        return True

    def move(self, folder: str) -> None:
        """Work in another folder from now on."""
        moved = {"cwd": folder, "runtimeWorkspaceRoots": [folder]}
        self.environments = [{**it, **moved} if it.get("cwd") == self.folder else it for it in self.environments]
        self.folder = folder

    def annotate(self, what: Literal["name", "goal", "git"], value: object) -> None:
        """Set and store what a client noted about the thread."""
        setattr(self, what, value)
        self.store(what, value)

    def store(self, kind: str, payload: object) -> None:
        """Write an entry to its file, if it has one."""
        if self.log is not None:
            self.log(kind, payload)

    def fill(self, window: int) -> None:
        """Count the context as full: `window` tokens."""
        before = self.filled + self.total.input + self.total.output
        self.total, self.filled, self.estimated = Usage(input=0, output=0), window, max(0, window - before)

    @property
    def context(self) -> int:
        """How many tokens long the conversation is, as was sent last."""
        if self.estimated is not None:
            return self.estimated
        return self.last.input + self.last.output if self.last else 0

    def answer_interrupts(self) -> None:
        """Answer the requests that waited for a turn to be interrupted."""
        waiting, self.interrupts = self.interrupts, []
        for answer in waiting:
            answer()

    def hold_notifications(self) -> None:
        """Keep notifications until there is a listener; of very many the oldest are dropped."""
        self.held_notifications = deque(maxlen=KEPT_NOTIFICATIONS)

    def release_notifications(self) -> list[tuple[str, Item]]:
        """Stop keeping notifications; method and params of those that were kept."""
        held, self.held_notifications = list(self.held_notifications or ()), None
        return held

    @property
    def functions(self) -> list[Item]:
        """The tools that can be called: those of a namespace stand in its place, each with its `namespace`."""
        return [
            function
            for tool in self.tools
            for function in (
                [{"namespace": tool["name"], **inner} for inner in tool.get("tools") or ()]
                if tool.get("type") == "namespace"
                else [tool]
            )
        ]

    def function(self, name: str) -> Item | None:
        """The tool of this name that the client declared, None if it declared none."""
        return next((declared for declared in self.functions if declared.get("name") == name), None)


def new_thread(params: Mapping[str, Any], *, identity: str, now: float, cwd: str, home: str, originator: str) -> Thread:
    """The thread that `thread/start` with `params` (checked) begins."""
    # Not checked: real servers accept a folder that does not exist.
    cwd = params.get("cwd") or cwd
    local = [{"environmentId": "local", "cwd": cwd, "runtimeWorkspaceRoots": [cwd]}]
    environments = params.get("environments")
    file = f"{strftime('%Y/%m/%d/rollout-%Y-%m-%dT%H-%M-%S', gmtime(now))}-{identity}.jsonl"
    return Thread(
        id=identity,
        created=now,
        updated=now,
        cwd=cwd,
        path=None if params.get("ephemeral") else f"{home}/sessions/{file}",
        originator=originator,
        settings=ThreadSettings(
            asked_model=params.get("model"),
            approval_policy=params.get("approvalPolicy") or "never",
            sandbox=SANDBOXES[params.get("sandbox") or "read-only"],
            effort=(params.get("config") or {}).get("model_reasoning_effort"),
            personality=params.get("personality"),
        ),
        developer=params.get("developerInstructions"),
        base=params.get("baseInstructions"),
        tools=list(params.get("dynamicTools") or ()),
        environments=local if environments is None else list(environments),
        raw_events=bool(params.get("experimentalRawEvents")),
    )


class LoadedThreads:
    """The loaded threads.

    A process that runs for months must not grow: of threads without a subscription only the last few are kept, and of
    all threads as many as no client is likely to use at once.
    """

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

    def __iter__(self) -> Iterator[Thread]:
        """All of them, the oldest first."""
        return iter(self._threads.values())

    def __contains__(self, thread: Thread) -> bool:
        """Whether it is this object that is loaded: what is read of a file is another one."""
        return self._threads.get(thread.id) is thread

    def add(self, thread: Thread) -> None:
        """Load a thread; beyond the number kept the oldest idle one is unloaded."""
        idle = None
        if len(self._threads) >= self._kept:
            # A running turn is never cut off for this: if all threads are busy, there are more than are kept.
            idle = next((old for old in self._threads.values() if old.turn is None), None)
        if idle is not None:
            self.remove(idle)
        self._threads[thread.id] = thread

    def leave(self, thread: Thread) -> None:
        """Unsubscribe the client; the thread may be unloaded."""
        thread.subscribed = False
        self._left.append(thread)
        if len(self._left) > self._kept_left:
            old = self._left.popleft()
            # It may have been resumed since, or its last turn goes on without a client (as in 0.169.0).
            if old.turn is None and not old.subscribed:
                self.remove(old)

    def remove(self, thread: Thread) -> None:
        """Unload it."""
        self._threads.pop(thread.id, None)
