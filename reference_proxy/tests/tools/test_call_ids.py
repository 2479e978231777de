from __future__ import annotations

import re

from wireproof_surfaces.tools.call_ids import call_id


def test_an_id_follows_from_what_is_known_of_the_call() -> None:
    assert call_id("turn", 0, 1) == call_id("turn", 0, 1)
    assert len({call_id("turn", 0, 1), call_id("turn", 1, 0), call_id("other", 0, 1)}) == 3


def test_an_id_looks_like_those_of_others() -> None:
    assert re.fullmatch(r"call_[0-9a-f]{24}", call_id("\ud800"))
