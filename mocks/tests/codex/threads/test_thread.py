from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from wireproof_codex.threads.thread import KEPT_ITEMS, LoadedThreads, Thread, new_thread

if TYPE_CHECKING:
    from wireproof_codex.turns.turn import PlayedTurn

RUNNING = cast("PlayedTurn", object())


def _thread(identity: str = "t", **params: Any) -> Thread:
    return new_thread(params, identity=identity, now=5.0, cwd="/here", home="/home", originator="client")


def test_a_thread_begins_with_the_servers_defaults() -> None:
    thread = _thread()
    assert (thread.cwd, thread.ephemeral) == ("/here", False)
    assert thread.path == "/home/sessions/1970/01/01/rollout-1970-01-01T00-00-05-t.jsonl"
    assert thread.environments == [{"environmentId": "local", "cwd": "/here", "runtimeWorkspaceRoots": ["/here"]}]
    assert (thread.settings.model, thread.settings.asked_model) == ("mock-model", None)
    assert thread.settings.sandbox == {"type": "readOnly", "access": {"type": "fullAccess"}, "networkAccess": False}


def test_a_thread_begins_as_it_is_asked_for() -> None:
    config = {"model_reasoning_effort": "high"}
    thread = _thread(ephemeral=True, cwd="/x", environments=[], model="m", sandbox="danger-full-access", config=config)
    assert (thread.path, thread.ephemeral, thread.environments) == (None, True, [])
    assert (thread.settings.model, thread.settings.effort) == ("m", "high")
    assert thread.settings.sandbox == {"type": "dangerFullAccess"}


def test_settings_that_a_turn_overrides_stay() -> None:
    settings = _thread(model="m").settings
    assert not settings.override({"model": "m", "effort": None, "input": []})
    assert settings.override({"model": "n", "approvalPolicy": "on-request", "summary": "concise"})
    assert (settings.model, settings.approval_policy, settings.summary) == ("n", "on-request", "concise")


def test_a_thread_knows_the_tools_that_were_declared() -> None:
    thread = _thread(dynamicTools=[{"name": "a"}])
    assert thread.function("a")
    assert thread.function("b") is None


def test_a_very_long_history_forgets_its_oldest_items() -> None:
    thread = _thread()
    thread.remember([{"n": -1}])
    for number in range(KEPT_ITEMS):
        thread.remember([{"n": number}])
    assert len(thread.history) == KEPT_ITEMS
    assert thread.history[0] == {"n": 0}
    longer = [{"n": number} for number in range(KEPT_ITEMS + 5)]
    thread.remember(longer)
    assert thread.history == longer


def test_the_oldest_idle_thread_is_forgotten() -> None:
    threads = LoadedThreads(kept=2)
    for name in "abc":
        thread = _thread(name)
        thread.turn = RUNNING if name == "a" else None
        threads.add(thread)
    assert [it.id for it in threads] == ["a", "c"]
    assert threads.get("b") is None


def test_busy_threads_are_never_forgotten() -> None:
    threads = LoadedThreads(kept=1)
    for name in "ab":
        thread = _thread(name)
        thread.turn = RUNNING
        threads.add(thread)
    assert len(threads) == 2


def test_only_the_last_threads_that_were_left_are_kept() -> None:
    threads = LoadedThreads(kept_left=1)
    loaded = {name: _thread(name) for name in "abcd"}
    for thread in loaded.values():
        threads.add(thread)
    loaded["b"].turn = RUNNING
    for name in "abc":
        threads.leave(loaded[name])
    assert [it.id for it in threads] == ["b", "c", "d"]
    loaded["c"].subscribed = True
    threads.leave(loaded["d"])
    assert [it.id for it in threads] == ["b", "c", "d"]
