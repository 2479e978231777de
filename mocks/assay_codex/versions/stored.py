"""What versions do with threads that are stored, and what differs between them, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """What a version does with stored threads.

    `items`: the kinds of items that it finds in them, and numbers anew; None: all, as they were. `numbered_turns`: it
    numbers their turns anew, too. `forgotten_ends`: turns that ended so are told as completed.

    `at_once`: a thread is stored before its first turn. `no_turns`: how it refuses to tell the turns where there are
    none, code and text. `resumes_anew`: thread/resume starts a thread that is loaded once more. `reads_archived`:
    thread/read finds what was put away. `paged`: turns are to be asked for in pages, and it says so.

    `counts_again`: who resumes or forks a thread is told what it has cost; `counts_forks`: also of a fork that was not
    loaded. `forked_turns`: the start of a fork tells its turns. `forks_ephemeral`: forks can be kept in memory alone.
    `keeps_parents`: a thread cannot be deleted while a fork of it is left. `rollback_leaves`: it says that
    thread/rollback will be gone. `tells_shutdown`: the older family tells that a thread that is put away has ended.

    `list_cursor`: where a page of threads ends. `not_loaded`, `archived`, `unnamed`: what it says of threads that
    cannot be read, resumed and named; `no_metadata`, of an update of nothing.
    """

    items: frozenset[str] | None
    numbered_turns: bool
    forgotten_ends: frozenset[str]
    at_once: bool
    no_turns: tuple[int, str] | None
    resumes_anew: bool
    reads_archived: bool
    paged: bool
    counts_again: bool
    counts_forks: bool
    forked_turns: bool
    forks_ephemeral: bool
    keeps_parents: bool
    rollback_leaves: bool
    tells_shutdown: bool
    list_cursor: str
    no_metadata: str
    not_loaded: str
    archived: str
    unnamed: str


_NONE_FOUND = "no rollout found for thread id {id}"
_UNBEGUN = "thread {id} is not materialized yet; includeTurns is unavailable before first user message"

# The first version in which each change was seen, and the fields that hold from it on.
_CHANGES: tuple[tuple[int, Mapping[str, Any]], ...] = (
    (
        89,
        {
            "items": frozenset({"userMessage", "reasoning", "agentMessage"}),
            "numbered_turns": True,
            "forgotten_ends": frozenset({"failed", "inProgress"}),
            "at_once": True,
            "no_turns": None,
            "resumes_anew": True,
            "reads_archived": False,
            "no_metadata": "gitInfo must include at least one field",
            "not_loaded": _NONE_FOUND,
            "archived": _NONE_FOUND,
            "paged": False,
            "counts_again": False,
            "counts_forks": True,
            "rollback_leaves": False,
            "forked_turns": True,
            "forks_ephemeral": False,
            "keeps_parents": False,
            "list_cursor": "%Y-%m-%dT%H-%M-%S|{id}",
            "tells_shutdown": False,
            "unnamed": "thread not found: {id}",
        },
    ),
    (92, {"not_loaded": "thread not loaded: {id}", "tells_shutdown": True}),
    (99, {"at_once": False, "no_turns": (-32600, _UNBEGUN), "list_cursor": "%Y-%m-%dT%H:%M:%SZ|{id}"}),
    (
        105,
        {
            "numbered_turns": False,
            "forgotten_ends": frozenset({"failed"}),
            "resumes_anew": False,
            "reads_archived": True,
        },
    ),
    (118, {"forks_ephemeral": True}),
    (125, {"counts_again": True, "list_cursor": "%Y-%m-%dT%H:%M:%SZ"}),
    (134, {"forked_turns": False}),
    (142, {"archived": "session {id} is archived. Run `codex unarchive {id}` to unarchive it first."}),
    (150, {"no_metadata": "thread metadata update must include at least one field"}),
    (150, {"rollback_leaves": True, "forgotten_ends": frozenset(), "unnamed": _NONE_FOUND}),
    (160, {"items": None, "paged": True, "keeps_parents": True, "at_once": True}),
    (160, {"no_turns": (-32601, "list_turns is not supported yet")}),
    (169, {"list_cursor": "%Y-%m-%dT%H:%M:%SZ|{id}", "counts_forks": False}),
)


def stored_by(at: int) -> Stored:
    """What the version of this number does with stored threads."""
    changed: dict[str, Any] = {}
    for first, changes in _CHANGES:
        changed |= changes if first <= at else {}
    return Stored(**changed)
