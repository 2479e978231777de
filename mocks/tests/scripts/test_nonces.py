from __future__ import annotations

from wireproof_scripts.nonces import KEPT_TURNS, Nonces, State


def test_turns_are_counted_per_script() -> None:
    nonce = Nonces().get("n")
    first, second = nonce.begin("a", 0, "one"), nonce.begin("b", 0, "one")
    nonce.begin("a", 1, "two")
    assert nonce.played == {"a": 2, "b": 1}
    assert [(other.script, other.part) for other in nonce.others(first)] == [("b", 0), ("a", 1)]
    assert nonce.others(second)[0] is first


def test_only_the_nonces_used_last_are_kept() -> None:
    nonces = Nonces(kept=2)
    first = nonces.get("a")
    nonces.get("b")
    assert nonces.get("a") is first
    nonces.get("c")
    assert len(nonces) == 2
    assert nonces.get("a") is first
    assert nonces.get("b").played == {}


def test_only_the_last_turns_of_a_nonce_are_kept() -> None:
    nonce = Nonces().get("n")
    for part in range(KEPT_TURNS + 1):
        nonce.begin("a", part, str(part))
    assert len(nonce.turns) == KEPT_TURNS
    assert nonce.played["a"] == KEPT_TURNS + 1
    # The oldest conversation is forgotten, and how many there were is not.
    assert [nonce.conversations["a"].number(name) for name in ("1", "0", "new")] == [1, KEPT_TURNS + 1, KEPT_TURNS + 1]


def test_a_conversation_keeps_its_number_until_a_turn_of_it_fails() -> None:
    nonce = Nonces().get("n")
    known = nonce.conversations["a"]
    records = [nonce.begin("a", 0, name) for name in ("one", "two", "one")]
    assert [known.number(name) for name in ("one", "two", "three")] == [0, 1, 2]
    states: tuple[State, ...] = ("completed", "interrupted", "failed")
    for state in states:
        records[2].state = state
        assert known.number("one") == (2 if state == "failed" else 0)
    nonce.begin("a", 2, "one")
    assert [known.number(name) for name in ("one", "two", "three")] == [2, 1, 3]
