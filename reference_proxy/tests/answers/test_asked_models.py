from __future__ import annotations

from wireproof_surfaces.answers.kept import NAMES, AskedModels


def test_the_models_asked_for_last_are_kept_each_once() -> None:
    asked = AskedModels()
    for name in ("a", "b", "a"):
        asked.note(name)
    assert asked.names == ("b", "a")
    for number in range(NAMES):
        asked.note(str(number))
    assert asked.names == tuple(str(number) for number in range(NAMES))
