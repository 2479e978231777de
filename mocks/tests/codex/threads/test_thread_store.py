from __future__ import annotations

from wireproof_codex.threads.thread import Thread, new_thread
from wireproof_codex.threads.thread_store import MemoryThreadStore, moved


def _thread(identity: str, **params: object) -> Thread:
    return new_thread(params, identity=identity, now=5.0, cwd="/here", home="/home", originator="client")


def test_the_last_threads_that_were_unloaded_are_kept() -> None:
    open_store = MemoryThreadStore(kept=2)
    for name in "abc":
        open_store.put(_thread(name))
    assert [thread.id for thread in open_store.all()] == ["b", "c"]
    assert open_store.find("a") is None


def test_ephemeral_threads_are_not_kept() -> None:
    open_store = MemoryThreadStore()
    open_store.put(_thread("a", ephemeral=True))
    assert open_store.all() == []


def test_a_path_goes_to_the_archive_and_back() -> None:
    path = "/a/sessions/b/sessions/2027/01/15/rollout-2027-01-15T08-00-00-x.jsonl"
    archived = moved(path, archived=True)
    assert archived == "/a/sessions/b/archived_sessions/rollout-2027-01-15T08-00-00-x.jsonl"
    assert moved(archived, archived=False) == path
