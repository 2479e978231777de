"""The turns that a thread has had, as thread/read, thread/resume and thread/fork send them again.

They are kept in the form of the newest version. Older versions rebuilt them from the thread's file, which held less:
messages and thoughts alone, without their ids, and no failures.
"""

from __future__ import annotations

from copy import deepcopy
from itertools import count
from typing import TYPE_CHECKING, Any

from wireproof_scripts.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.versions.version import Version

Cost = tuple[Usage, Usage] | None

# A bound for a thread that lives as long as its process.
KEPT_TURNS = 1024


def milliseconds(at: float) -> int:
    """Whole milliseconds of a time or a duration in seconds."""
    return int(at * 1000)


def turn_object(
    identity: str,
    state: str,
    *,
    items: Sequence[Json] = (),
    error: Json | None = None,
    started: float | None = None,
    completed: float | None = None,
) -> Json:
    """A `turn` object, with the fields of the recordings in their order.

    `items`: what the turn sent; () for "not loaded". `started`, `completed`: epoch seconds; None leaves the time null.
    """
    lasted = None if started is None or completed is None else milliseconds(completed - started)
    return {
        "id": identity,
        "rootTurnId": identity,
        "items": list(items),
        "itemsView": "summary" if items else "notLoaded",
        "status": state,
        "error": error,
        "startedAt": None if started is None else int(started),
        "completedAt": None if completed is None else int(completed),
        "durationMs": lasted,
    }


class TurnHistory:
    """The turns of one thread, the oldest first."""

    def __init__(self, turns: Iterable[Json] = ()) -> None:
        self.turns = list(turns)
        """`turn` objects with all their items."""
        self.costs: list[Cost] = [None] * len(self.turns)
        """The tokens at the end of each turn: of all responses of the thread, and of the last one. None: unknown."""
        self.read_state: Json | None = None
        """`readState` of the last thread/readState/changed, None before there was one."""
        self._known: dict[str, Json] = {}  # those of this process, whose ids older processes may have given, too

    def record(self, method: str, params: Mapping[str, Any]) -> None:
        """Keep what a notification says of a turn; its method is one of `RECORDED`."""
        RECORDED[method](self, params)

    def turn(self, identity: str) -> Json:
        """The turn of this id; an unknown id begins a new turn."""
        # Not by the ids of all turns: up to 0.99.0 a resumed thread counts from 0 again.
        if identity not in self._known:
            self._known[identity] = {**turn_object(identity, "inProgress"), "itemsView": "full"}
            self.turns.append(self._known[identity])
            self.costs.append(None)
            if len(self.turns) > KEPT_TURNS:
                self._known.pop(self.turns.pop(0)["id"], None)
                self.costs.pop(0)
        return self._known[identity]

    def _begin(self, params: Mapping[str, Any]) -> None:
        self.turn(params["turn"]["id"])["startedAt"] = params["turn"]["startedAt"]

    def _keep(self, params: Mapping[str, Any]) -> None:
        items, item = self.turn(params["turnId"])["items"], params["item"]
        if items and items[-1]["id"] == item["id"]:  # up to 0.98 item/completed of a refused command is sent twice
            items.pop()
        items.append(item)

    def _end(self, params: Mapping[str, Any]) -> None:
        turn = params["turn"]
        self.turn(turn["id"]).update({name: value for name, value in turn.items() if name not in _OWN})

    def _unread(self, params: Mapping[str, Any]) -> None:
        self.read_state = params["readState"]

    def cost(self, identity: str, total: Usage, last: Usage | None) -> None:
        """Note the tokens of the thread at the end of the turn of this id."""
        turn = self.turn(identity)
        at = next(at for at, it in enumerate(self.turns) if it is turn)
        self.costs[at] = None if last is None else (total, last)

    def copy(self) -> TurnHistory:
        """The same turns, for a fork."""
        # Deep: a turn that still runs goes on in the source alone.
        copied = TurnHistory(deepcopy(self.turns))
        copied.costs = list(self.costs)
        return copied

    def drop(self, number: int) -> int:
        """Remove the last `number` turns and return how many messages of the user they held."""
        dropped, self.turns, self.costs = self.turns[-number:], self.turns[:-number], self.costs[:-number]
        return sum(item["type"] == "userMessage" for turn in dropped for item in turn["items"])

    def detach(self) -> None:
        """Treat the turns as those of another process: turns that ran were interrupted with it."""
        self._known.clear()
        for turn in self.turns:
            turn["status"] = "interrupted" if turn["status"] == "inProgress" else turn["status"]

    @property
    def numbers(self) -> int:
        """The highest number in the ids of the items, as the mock numbers them."""
        # Ids that scripts or real servers gave need not end in a number.
        ids = (str(item["id"]).rpartition("_")[2] for turn in self.turns for item in turn["items"])
        return max((int(number) for number in ids if number.isdecimal()), default=0)

    @property
    def preview(self) -> str:
        """The user's first text, empty if there is none."""
        users = (item for turn in self.turns for item in turn["items"] if item["type"] == "userMessage")
        parts: list[Json] = next(users, {"content": []})["content"]
        return "\n".join(part["text"] for part in parts if part["type"] == "text")

    def as_sent_by(self, version: Version) -> list[Json]:
        """The turns in the form of a version."""
        numbers = count(1)
        return [_as_sent_by(turn, number, numbers, version) for number, turn in enumerate(self.turns, 1)]


# What older versions kept of a stored turn.
_KEPT_ITEMS = frozenset({"userMessage", "reasoning", "agentMessage"})
# turn/completed has the last item at most; here are all of them.
_OWN = frozenset({"items", "itemsView"})

RECORDED: Mapping[str, Callable[[TurnHistory, Mapping[str, Any]], None]] = {
    "turn/started": TurnHistory._begin,  # noqa: SLF001 - a table of its own methods
    "item/completed": TurnHistory._keep,  # noqa: SLF001 - same
    "turn/completed": TurnHistory._end,  # noqa: SLF001 - same
    "thread/readState/changed": TurnHistory._unread,  # noqa: SLF001 - same
}


def _as_sent_by(turn: Json, number: int, numbers: count[int], version: Version) -> Json:
    sent = {**turn, "items": list(turn["items"])}
    # Before 0.160.0: messages and thoughts alone, without their ids.
    if not version.stored.paged:
        kept = [item for item in turn["items"] if item["type"] in _KEPT_ITEMS]
        sent["items"] = [{**item, "id": f"item-{next(numbers)}"} for item in kept]
    # Before 0.105.0: the ids were those of the process that ran them.
    if version.stored.renumbers_turns:
        sent["id"] = f"turn-{number}"
    # Before 0.150.0 a failed turn is read as completed, before 0.105.0 also one without an end.
    if turn["status"] in version.stored.forgotten_statuses:
        sent |= {"status": "completed", "error": None}
    return sent
