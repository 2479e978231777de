from __future__ import annotations

import json

from wireproof_scripts.library.calls import LARGE, ODD_SPELLING


def test_no_json_writer_would_spell_the_odd_arguments_that_way() -> None:
    value = json.loads(ODD_SPELLING)
    for ascii_only in (True, False):
        for separators in ((",", ":"), (", ", ": ")):
            assert json.dumps(value, ensure_ascii=ascii_only, separators=separators) != ODD_SPELLING


def test_the_large_arguments_are_more_than_64_kib_of_multi_byte_json() -> None:
    assert len(LARGE.encode()) > 64 * 1024
    assert len(LARGE.encode()) > len(LARGE)
    assert set(json.loads(LARGE)) == {"path", "content"}
