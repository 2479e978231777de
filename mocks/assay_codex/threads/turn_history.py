"""The turns that a thread has had, as they are told again by thread/read, thread/resume and thread/fork.

They are kept as the newest version tells them. Older ones made them out of the file of the thread, which held less: the
items of talk alone, without their ids, and no failures.
"""

from __future__ import annotations

from copy import deepcopy
from itertools import count
from typing import TYPE_CHECKING, Any

from assay_codex.threads.turn_object import turn_object
from assay_scripts.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from assay_codex.versions.version import Version

Json = dict[str, Any]

Cost = tuple[Usage, Usage] | None

KEPT_TURNS = 1024


class TurnHistory:
    """The turns of one thread, the oldest first.

    `costs`: the tokens of the thread in all, and of the last answer, at the end of each; None: none were known.
    `read_state`: what of the turns is unread, None before that was told.
    """

    def __init__(self, turns: Iterable[Json] = (), read_state: Json | None = None) -> None:
        self.turns = list(turns)
        self.costs: list[Cost] = [None] * len(self.turns)
        self.read_state = read_state
        self._known: dict[str, Json] = {}  # those of this process, whose ids older processes may have given, too

    def hear(self, method: str, params: Mapping[str, Any]) -> None:
        """Keep what a notification tells of a turn; it is one of `HEARD`."""
        HEARD[method](self, params)

    def turn(self, identity: str) -> Json:
        """The turn of this id, which begins with what is told of it first."""
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
        if items and items[-1]["id"] == item["id"]:  # its end was told twice
            items.pop()
        items.append(item)

    def _end(self, params: Mapping[str, Any]) -> None:
        told = params["turn"]
        self.turn(told["id"]).update({name: value for name, value in told.items() if name not in _OWN})

    def _unread(self, params: Mapping[str, Any]) -> None:
        self.read_state = params["readState"]

    def cost(self, identity: str, total: Usage, last: Usage | None) -> None:
        """Note what the thread had cost when the turn of this id ended."""
        turn = self.turn(identity)
        at = next(at for at, it in enumerate(self.turns) if it is turn)
        self.costs[at] = None if last is None else (total, last)

    def copy(self) -> TurnHistory:
        """The same turns, of another thread."""
        past = TurnHistory(deepcopy(self.turns))
        past.costs = list(self.costs)
        return past

    def drop(self, number: int) -> int:
        """Forget the last so many turns; how many messages the user said in them."""
        dropped, self.turns, self.costs = self.turns[-number:], self.turns[:-number], self.costs[:-number]
        return sum(item["type"] == "userMessage" for turn in dropped for item in turn["items"])

    def leave(self) -> None:
        """The turns were played by a process that is gone."""
        self._known.clear()
        for turn in self.turns:
            turn["status"] = "interrupted" if turn["status"] == "inProgress" else turn["status"]

    @property
    def numbers(self) -> int:
        """The highest number that the mock has given to an item of a turn."""
        ids = (str(item["id"]).rpartition("_")[2] for turn in self.turns for item in turn["items"])
        return max((int(number) for number in ids if number.isdecimal()), default=0)

    @property
    def preview(self) -> str:
        """The first text of the user's."""
        users = (item for turn in self.turns for item in turn["items"] if item["type"] == "userMessage")
        parts: list[Json] = next(users, {"content": []})["content"]
        return "\n".join(part["text"] for part in parts if part["type"] == "text")

    def told(self, version: Version) -> list[Json]:
        """The turns in the words of a version."""
        numbers = count(1)
        return [_told(turn, number, numbers, version) for number, turn in enumerate(self.turns, 1)]


_OWN = frozenset({"items", "itemsView"})

HEARD: Mapping[str, Callable[[TurnHistory, Mapping[str, Any]], None]] = {
    "turn/started": TurnHistory._begin,  # noqa: SLF001 - a table of its own methods
    "item/completed": TurnHistory._keep,  # noqa: SLF001 - same
    "turn/completed": TurnHistory._end,  # noqa: SLF001 - same
    "thread/readState/changed": TurnHistory._unread,  # noqa: SLF001 - same
}


def _told(turn: Json, number: int, numbers: count[int], version: Version) -> Json:
    told = {**turn, "items": list(turn["items"])}
    if version.stored.item_kinds is not None:
        kept = [item for item in turn["items"] if item["type"] in version.stored.item_kinds]
        told["items"] = [{**item, "id": f"item-{next(numbers)}"} for item in kept]
    if version.stored.renumbers_turns:
        told["id"] = f"turn-{number}"
    if turn["status"] in version.stored.forgotten_statuses:
        told |= {"status": "completed", "error": None}
    return told
