from __future__ import annotations

from assay_scripts.nonces import KEPT_TURNS, Nonces


def test_turns_are_counted_per_script() -> None:
    nonce = Nonces().get("n")
    first, second = nonce.begin("a", 0), nonce.begin("b", 0)
    nonce.begin("a", 1)
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
        nonce.begin("a", part)
    assert len(nonce.turns) == KEPT_TURNS
    assert nonce.played["a"] == KEPT_TURNS + 1
