from __future__ import annotations

import pytest

from wireproof_proxy.backends.mailbox import Spool


def test_what_was_put_aside_is_read_in_any_order() -> None:
    spool = Spool()
    places = [spool.write(text) for text in ("one", "", "caf\u00e9 \U0001f600", "half \ud83d")]
    assert spool.unread == sum(size for _, size in places)
    assert [spool.read(place) for place in reversed(places)] == ["half \ud83d", "caf\u00e9 \U0001f600", "", "one"]
    assert spool.unread == 0
    spool.close()


def test_the_file_begins_again_when_all_is_read() -> None:
    spool = Spool()
    first = spool.write("x" * 1000)
    assert spool.read(first) == "x" * 1000
    assert spool.write("y") == (0, 1)
    spool.close()


def test_nothing_is_left_after_the_end() -> None:
    spool = Spool()
    spool.close()
    place = spool.write("text")
    spool.close()
    assert spool.unread == 0
    with pytest.raises(ValueError, match="nothing was put aside"):
        spool.read(place)
