"""The lists of threads: those that are stored, and those that are loaded."""

from __future__ import annotations

import re
from time import gmtime, strftime
from typing import TYPE_CHECKING, Any

from wireproof_codex.methods.lookup import check_uuid
from wireproof_codex.notifications import messages
from wireproof_codex.protocol.params import Refused
from wireproof_codex.versions.forms import trimmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from wireproof_codex.context import AdmittedRequest, ServerContext
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import Thread

_PAGE = 25


def _thread_list(request: AdmittedRequest) -> None:
    server, taken = request.server, request.server.version.requests.params.fields("thread/list")
    # Filters that came with later versions are ignored.
    params = {name: value for name, value in request.params.items() if name in taken and value is not None}
    key = _SORTED[params.get("sortKey", "created_at")]
    wanted = [(_WANTED[name], value) for name, value in params.items() if name in _WANTED and value]
    threads = listed(server, archived=params.get("archived", False))
    found = [thread for thread in threads if all(wants(thread, value) for wants, value in wanted)]
    page, cursor = page_of(request, found, params.get("limit"), key, down=params.get("sortDirection") != "asc")
    request.reply(
        {
            "data": [_in_list(server, thread) for thread in page],
            "readStates": {
                it.id: it.turn_history.read_state or {"firstUnread": None, "revision": f"initial:{it.id}"}
                for it in page
            },
            "nextCursor": cursor,
            "backwardsCursor": moment(key(page[0])) if page else None,
        }
    )


_WANTED: Mapping[str, Callable[[Thread, Any], bool]] = {
    "modelProviders": lambda _, wanted: messages.PROVIDER in wanted,
    "sourceKinds": lambda _, wanted: "vscode" in wanted,
    "cwd": lambda thread, wanted: thread.cwd == wanted,
    "searchTerm": lambda thread, wanted: wanted.lower() in f"{thread.preview}\n{thread.name or ''}".lower(),
}


def page_of(
    request: AdmittedRequest,
    threads: Iterable[Thread],
    limit: int | None,
    key: Callable[[Thread], float] | None = None,
    *,
    down: bool = True,
) -> tuple[list[Thread], str | None]:
    """A page of threads, the newest first if it goes `down`, and the cursor with which it ends, None for the last.

    Raises:
        Refused: the cursor of the request is not one.
    """
    key, form = key or _SORTED["created_at"], request.server.version.stored.list_cursor
    # By id within one moment: without an order pages would overlap.
    ordered = sorted(threads, key=lambda it: (key(it), it.id), reverse=down)
    start = _after([_cursor(thread, key, form) for thread in ordered], request.params.get("cursor"), down=down)
    page = ordered[start : start + (_PAGE if limit is None else max(1, limit))]
    more = start + len(page) < len(ordered)
    return page, _cursor(page[-1], key, form) if more else None


_SORTED: Mapping[str, Callable[[Thread], float]] = {
    "created_at": lambda it: it.created,
    "updated_at": lambda it: it.updated,
    "recency_at": lambda it: it.updated,
}


def listed(server: ServerContext, *, archived: bool) -> list[Thread]:
    """The threads with a text of the user, loaded ones as they are now."""
    stored = {it.id: it for it in server.thread_store.all() if it.archived is archived}
    # A thread that is archived is unloaded first, so loaded ones are in no archive.
    stored |= {it.id: it for it in server.threads if not (it.ephemeral or archived)}
    return [it for it in stored.values() if it.preview]


def _in_list(server: ServerContext, thread: Thread) -> Json:
    listed_thread = messages.thread(thread, server.version, loaded=thread in server.threads, listed=True)
    return trimmed(server.version.messages.hidden, ".thread", listed_thread)


def _cursor(thread: Thread, key: Callable[[Thread], float], form: str) -> str:
    return strftime(form, gmtime(key(thread))).format(id=thread.id)


def _after(cursors: list[str], cursor: str | None, *, down: bool) -> int:
    """Where the page begins that follows a cursor.

    Raises:
        Refused: it is not a cursor.
    """
    if cursor is None:
        return 0
    # Hyphens before 0.99.0, colons since; some versions add the id after a bar.
    if not re.match(r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d", cursor):
        raise Refused(f"invalid cursor: {cursor}")
    # Times of one width sort as text, so the thread of a cursor need not be there any more.
    return max((at for at, one in enumerate(cursors, 1) if one == cursor or (one > cursor) is down), default=0)


def moment(at: float) -> str:
    """A time with its milliseconds."""
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(at))}.{int(at * 1000) % 1000:03}Z"


def _thread_loaded_list(request: AdmittedRequest) -> None:
    # The ids are UUIDs of version 7: this is by age.
    ids, cursor = sorted(it.id for it in request.server.threads), request.params.get("cursor")
    if cursor is not None:
        try:
            check_uuid(cursor, "")
        except Refused as refused:
            raise Refused(f"invalid cursor: {cursor}") from refused
    after = [identity for identity in ids if identity > (cursor or "")]
    limit = request.params.get("limit")
    page = after if limit is None else after[: max(1, limit)]
    request.reply({"data": page, "nextCursor": page[-1] if len(page) < len(after) else None})


METHODS: Mapping[str, Callable[[AdmittedRequest], None]] = {
    "thread/list": _thread_list,
    "thread/loaded/list": _thread_loaded_list,
}
