from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from wireproof_surfaces.answers.kept import Store, StoredResponse


def stored(id_: str) -> StoredResponse:
    return StoredResponse(response={"id": id_}, conversation=(), given=())


def put(store: Store, id_: str, size: int = 1) -> None:
    store.put(id_, stored(id_), size)


def kept(store: Store, *ids: str) -> list[str]:
    return [id_ for id_ in ids if store.get(id_)]


def test_what_was_put_can_be_got_until_it_is_deleted() -> None:
    store = Store(2)
    one = stored("a")
    store.put("a", one, 1)
    assert store.get("a") is one
    assert store.delete("a")
    assert store.get("a") is None
    assert not store.delete("a")


def test_the_one_used_least_recently_goes_first() -> None:
    store = Store(2)
    put(store, "a")
    put(store, "b")
    store.get("a")
    put(store, "c")
    assert kept(store, "a", "b", "c") == ["a", "c"]


def test_large_responses_make_others_go() -> None:
    store = Store(10, size=10)
    for id_ in "abc":
        put(store, id_, 4)
    assert kept(store, *"abc") == ["b", "c"]
    store.delete("b")
    put(store, "d", 6)
    assert kept(store, *"cd") == ["c", "d"]
    put(store, "e", 11)
    assert kept(store, *"cde") == []


def test_nothing_is_kept_where_nothing_may_be() -> None:
    store = Store(0)
    put(store, "a")
    assert store.get("a") is None


def test_many_threads_may_use_it_at_once() -> None:
    store = Store(5)

    def use(number: int) -> None:
        put(store, str(number))
        store.get(str(number // 2))
        store.delete(str(number - 3))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(use, range(500)))
    assert len(kept(store, *map(str, range(500)))) <= 5
