from __future__ import annotations

import uuid

from wireproof_codex.context import Ids


def test_a_uuid_is_of_version_7_and_holds_the_time() -> None:
    now = 1_800_000_000.123
    made = uuid.UUID(Ids().uuid(now))
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert made.int >> 80 == int(now * 1000)


def test_no_two_ids_are_the_same() -> None:
    ids = Ids()
    assert len({ids.uuid(1.0) for _ in range(1000)}) == 1000
    assert [ids.number() for _ in range(3)] == [1, 2, 3]
