from __future__ import annotations

from wireproof.wire.violation import Place, Violation


def test_a_violation_of_the_exchange_as_a_whole_has_no_place() -> None:
    assert Violation(requirement="chat.stream.headers", seen="no Content-Type").place is None


def test_violations_are_values() -> None:
    place = Place(offset=3, length=4, frame=1)
    one = Violation(requirement="chat.stream.frames", seen="x", place=place)
    assert one == Violation(requirement="chat.stream.frames", seen="x", place=Place(offset=3, length=4, frame=1))
    assert len({one, one}) == 1
