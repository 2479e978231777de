"""The turns and items of a thread in pages, and thread/revert."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_codex.methods.lookup import NOT_LOADED, find_stored, find_thread, notify_status
from wireproof_codex.notifications import messages
from wireproof_codex.protocol.params import UNKNOWN, Refused
from wireproof_codex.versions.forms import trimmed
from wireproof_scripts.json_text import parse_json
from wireproof_scripts.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wireproof_codex.context import AdmittedRequest, ServerContext
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import Thread

_PAGE = 25
_UNBEGUN = "thread {id} is not materialized yet; thread/turns/list is unavailable before first user message"
_EPHEMERAL = "ephemeral threads do not support thread/turns/list"
_NO_ITEMS = "thread/items/list is not supported yet"


@dataclass(frozen=True, slots=True)
class _Places:
    """The cursors of a thread's turns, or of its items, which are numbered from 1."""

    thread: Thread
    kind: str
    paged: bool

    def cursor(self, at: int, *, anchor: bool) -> str:
        """The cursor of a place; `anchor`: a page from there includes what is at the place."""
        # Before 0.160.0 a cursor names a turn.
        if self.paged:
            return messages.cursor(self.thread, self.kind, at, anchor=anchor)
        turn = {"turnId": self.thread.turn_history.turns[at - 1]["id"], "includeAnchor": anchor}
        return json.dumps(turn, separators=(",", ":"))

    def read(self, cursor: str) -> tuple[int, bool]:
        """The place of a cursor, and whether a page from there includes what is at the place.

        Raises:
            Refused: it is not a cursor.
        """
        try:
            place = parse_json(cursor)
            if self.paged:
                return int(place["rolloutOrdinal"]), bool(place["includeAnchor"])
            ids = [turn["id"] for turn in self.thread.turn_history.turns]
            return ids.index(place["turnId"]) + 1, bool(place["includeAnchor"])
        except (ValueError, TypeError, KeyError) as error:
            raise Refused(f"invalid cursor: {cursor}") from error


def _page(entries: Sequence[tuple[int, Json]], places: _Places, params: Mapping[str, Any], direction: str) -> Json:
    """A page of entries, each with its place; they come in their order."""
    down = (params.get("sortDirection") or direction) == "desc"
    ordered = list(reversed(entries)) if down else list(entries)
    if params.get("cursor") is not None:
        at, anchor = places.read(params["cursor"])
        ordered = [(place, entry) for place, entry in ordered if (anchor and place == at) or (place < at) is down]
        # Going up, `place < at` is false for the place itself as well.
        ordered = [(place, entry) for place, entry in ordered if anchor or place != at]
    limit = params.get("limit")
    page = ordered[: _PAGE if limit is None else max(1, limit)]
    more = len(page) < len(ordered)
    return {
        "data": [entry for _, entry in page],
        "nextCursor": places.cursor(page[-1][0], anchor=False) if more else None,
        "backwardsCursor": places.cursor(page[0][0], anchor=True) if page else None,
    }


def turns_page(server: ServerContext, thread: Thread, params: Mapping[str, Any]) -> Json:
    """A page of the thread's turns, the newest first, with `limit`, `cursor`, `sortDirection` and `itemsView`."""
    version, view = server.version, params.get("itemsView") or "summary"
    sent = thread.turn_history.as_sent_by(version)
    turns = [{**turn, "items": _VIEWS[view](turn["items"]), "itemsView": view} for turn in sent]
    shown = [trimmed(version.messages.hidden, ".turn", turn) for turn in turns]
    return _page(list(enumerate(shown, 1)), _Places(thread, "turns", version.stored.paged), params, "desc")


def _summary(items: list[Json]) -> list[Json]:
    """The first message of the user and the last one of the model."""
    users = [item for item in items if item["type"] == "userMessage"]
    agents = [item for item in items if item["type"] == "agentMessage"]
    return users[:1] + agents[-1:]


_VIEWS: Mapping[str, Callable[[list[Json]], list[Json]]] = {
    "full": list,
    "summary": _summary,
    "notLoaded": lambda _: [],
}


def _thread_turns_list(request: AdmittedRequest) -> None:
    thread = find_stored(request, request.server.version.stored.unread_error)
    if thread.ephemeral:
        raise Refused(_EPHEMERAL)
    if not thread.turn_history.turns:
        raise Refused(_UNBEGUN.format(id=thread.id))
    request.reply(turns_page(request.server, thread, request.params))


def _thread_items_list(request: AdmittedRequest) -> None:
    server, wanted = request.server, request.params.get("turnId")
    try:
        thread = find_stored(request)
    except Refused as refused:
        raise Refused(_NO_ITEMS, UNKNOWN) from refused
    if thread.ephemeral or not (thread.turn_history.turns and server.version.stored.paged):
        raise Refused(_NO_ITEMS, UNKNOWN)
    items = [(turn["id"], item) for turn in thread.turn_history.as_sent_by(server.version) for item in turn["items"]]
    entries = [
        (place, trimmed(server.version.messages.hidden, "", _entry(turn, item)))
        for place, (turn, item) in enumerate(items, 1)
        if wanted in {None, turn}
    ]
    request.reply(_page(entries, _Places(thread, "itemsByCreatedAtOrdinal", paged=True), request.params, "asc"))


def _entry(turn: str, item: Json) -> Json:
    return {"turnId": turn, "item": item, **{name: item[name] for name in ("startedAtMs", "completedAtMs")}}


def _thread_revert(request: AdmittedRequest) -> None:
    server, before = request.server, request.params["beforeTurnId"]
    thread = find_thread(request)
    if not server.version.stored.paged:
        raise Refused("thread/revert only supports paginated threads")
    server.drop(thread)
    for state in (NOT_LOADED, {"type": "idle"}):
        notify_status(server, thread, state)
    ids = [turn["id"] for turn in thread.turn_history.turns]
    if before not in ids:
        raise Refused(f"turn not found: {before}")
    thread.roll_back(len(ids) - ids.index(before))
    # Back to the tokens at the end of the last turn that is left, to nothing without one.
    thread.recount(*(thread.turn_history.costs[-1:] or [None])[0] or (Usage(input=0, output=0), None))
    thread.updated = server.now
    request.reply({"thread": messages.thread(thread, server.version), **messages.places(thread, server.version)})
    server.notify_client("thread/reverted", {"threadId": thread.id})


METHODS: Mapping[str, Callable[[AdmittedRequest], None]] = {
    "thread/turns/list": _thread_turns_list,
    "thread/items/list": _thread_items_list,
    "thread/revert": _thread_revert,
}
