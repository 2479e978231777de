from __future__ import annotations

from wireproof_surfaces.answers.threads import SECONDS, HeldThread, Threads
from wireproof_surfaces.conversation import Message, TextPart


def thread(text: str) -> HeldThread:
    return HeldThread(items=(Message(role="user", parts=(TextPart(text),)),))


def test_a_thread_is_held_until_it_was_not_used_for_its_time() -> None:
    now = [0.0]
    threads = Threads(9, clock=lambda: now[0])
    threads.hold("a", thread("x"))
    now[0] = SECONDS
    assert threads.get("a") == thread("x")
    now[0] = 2 * SECONDS
    assert threads.get("a") == thread("x")
    now[0] = 3 * SECONDS + 1
    assert threads.get("a") is None
    threads.hold("b", thread("y"))
    assert threads.get("b") == thread("y")


def test_threads_that_were_not_used_for_longest_go_first() -> None:
    for threads in (Threads(2), Threads(9, size=2)):
        threads.hold("a", thread("x"))
        threads.hold("b", thread("y"))
        assert threads.get("a")
        threads.hold("c", thread("z"))
        assert [threads.get(id_) is not None for id_ in "abc"] == [True, False, True]


def test_one_that_alone_is_too_large_is_not_held() -> None:
    threads = Threads(9, size=2)
    threads.hold("a", thread("xyz"))
    assert threads.get("a") is None
    assert Threads(0).get("a") is None
