"""The lists of threads: those that are stored, and those that are loaded."""

from __future__ import annotations

import re
from time import gmtime, strftime
from typing import TYPE_CHECKING, Any

from assay_mocks.codex import messages
from assay_mocks.codex.asking import Asked, check_uuid
from assay_mocks.codex.forms import trimmed
from assay_mocks.codex.params import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assay_mocks.codex.desk import Host
    from assay_mocks.codex.threads import Thread

Json = dict[str, Any]

_PAGE = 25


def is_loaded(server: Host, thread: Thread) -> bool:
    """Whether it is a thread that is loaded."""
    return server.threads.get(thread.id) is thread


def _thread_list(asked: Asked) -> None:
    server, params = asked.server, asked.params
    key = _SORTED[params.get("sortKey") or "created_at"]
    threads = sorted(listed(server, archived=bool(params.get("archived"))), key=lambda it: (key(it), it.id))[::-1]
    start = _after(threads, key, params.get("cursor"), server.version.stored.list_cursor)
    page = threads[start : start + _limit(params)]
    end = start + len(page) < len(threads)
    states = {it.id: it.past.read_state or _unread_nothing(it) for it in page}
    asked.reply(
        {
            "data": [_in_list(server, thread) for thread in page],
            "readStates": states,
            "nextCursor": _cursor(page[-1], key, server.version.stored.list_cursor) if end else None,
            "backwardsCursor": _moment(key(page[0])) if page else None,
        }
    )


def _limit(params: Mapping[str, Any], default: int = _PAGE) -> int:
    """The size of a page: one at least."""
    limit = params.get("limit")
    return default if limit is None else max(1, limit)


_SORTED: Mapping[str, Callable[[Thread], float]] = {
    "created_at": lambda it: it.created,
    "updated_at": lambda it: it.updated,
    "recency_at": lambda it: it.updated,
}


def listed(server: Host, *, archived: bool) -> list[Thread]:
    """The threads that were talked in, loaded ones as they are now."""
    stored = {it.id: it for it in server.shelf.all() if it.archived is archived}
    loaded = [thread for identity in server.threads.ids() if (thread := server.threads.get(identity)) is not None]
    stored |= {it.id: it for it in loaded if not (it.ephemeral or archived)}
    return [it for it in stored.values() if it.preview]


def _in_list(server: Host, thread: Thread) -> Json:
    told = messages.thread(thread, server.version, loaded=is_loaded(server, thread), listed=True)
    trimmed_thread: Json = trimmed(server.version.forms, ".thread", told)
    return trimmed_thread


def _unread_nothing(thread: Thread) -> Json:
    return {"firstUnread": None, "revision": f"initial:{thread.id}"}


def _cursor(thread: Thread, key: Callable[[Thread], float], form: str) -> str:
    return strftime(form, gmtime(key(thread))).format(id=thread.id)


def _after(threads: list[Thread], key: Callable[[Thread], float], cursor: str | None, form: str) -> int:
    """Where the page begins that follows a cursor.

    Raises:
        Refused: it is none.
    """
    if cursor is None:
        return 0
    if not re.match(r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d", cursor):
        raise Refused(f"invalid cursor: {cursor}")
    cursors = [_cursor(thread, key, form) for thread in threads]
    return max((at for at, one in enumerate(cursors, 1) if one >= cursor), default=0)


def _moment(at: float) -> str:
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(at))}.{int(at * 1000) % 1000:03}Z"


def _thread_loaded_list(asked: Asked) -> None:
    ids, cursor = sorted(asked.server.threads.ids()), asked.params.get("cursor")
    if cursor is not None:
        _check_cursor(cursor)
    after = [identity for identity in ids if identity > (cursor or "")]
    page = after[: _limit(asked.params, len(after) or 1)]
    asked.reply({"data": page, "nextCursor": page[-1] if len(page) < len(after) else None})


def _check_cursor(cursor: str) -> None:
    """Check that a cursor is an id.

    Raises:
        Refused: it is not.
    """
    try:
        check_uuid(cursor, "")
    except Refused as refused:
        raise Refused(f"invalid cursor: {cursor}") from refused


METHODS: Mapping[str, Callable[[Asked], None]] = {
    "thread/list": _thread_list,
    "thread/loaded/list": _thread_loaded_list,
}
