from __future__ import annotations

from wireproof_scripts.library.reflect import REFLECT


def test_their_names_say_what_they_do() -> None:
    names = [script.name for script in REFLECT]
    assert names == ["probe", "open/gate", "reflect/received", "reflect/backend", "reflect/turns"]
