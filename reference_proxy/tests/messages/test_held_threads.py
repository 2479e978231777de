from __future__ import annotations

from wireproof_surfaces.answers.kept import SECONDS, HeldThread, Threads
from wireproof_surfaces.conversation import Message, TextPart


def thread(text: str) -> HeldThread:
    return HeldThread(items=(Message(role="user", parts=(TextPart(text),)),))


def test_a_thread_is_held_until_it_was_not_used_for_its_time() -> None:
    now = [0.0]
    threads = Threads(9, clock=lambda: now[0])
    threads.put("a", thread("x"), 1)
    now[0] = SECONDS
    assert threads.get("a") == thread("x")
    now[0] = 2 * SECONDS
    assert threads.get("a") == thread("x")
    now[0] = 3 * SECONDS + 1
    assert threads.get("a") is None
    threads.put("b", thread("y"), 1)
    assert threads.get("b") == thread("y")


def test_threads_that_were_not_used_for_longest_go_first() -> None:
    for threads in (Threads(2), Threads(9, size=2)):
        threads.put("a", thread("x"), 1)
        threads.put("b", thread("y"), 1)
        assert threads.get("a")
        threads.put("c", thread("z"), 1)
        assert [threads.get(id_) is not None for id_ in "abc"] == [True, False, True]


def test_one_that_alone_is_too_large_is_not_held() -> None:
    threads = Threads(9, size=2)
    threads.put("a", thread("xyz"), 3)
    assert threads.get("a") is None
    assert Threads(0).get("a") is None
