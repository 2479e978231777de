from __future__ import annotations

from wireproof_codex.transports.outbox import Outbox


def _writes(outbox: Outbox, most: int = 1 << 20) -> list[bytes]:
    """What is written when a write takes at most so many bytes."""
    writes = []
    while outbox:
        writes.append(bytes(outbox.next[:most]))
        outbox.written(len(writes[-1]))
    return writes


def test_everything_that_waits_is_one_write() -> None:
    outbox = Outbox()
    outbox.add(b"one\n")
    outbox.add(b"two\n")
    assert len(outbox) == 8
    assert not outbox.in_pieces
    assert _writes(outbox) == [b"one\ntwo\n"]


def test_while_it_is_cut_each_piece_is_a_write() -> None:
    outbox = Outbox()
    outbox.add(b"before\n")
    outbox.cut((2, 1))
    outbox.add(b"abcd\n")
    outbox.cut(())
    outbox.add(b"after\n")
    outbox.add(b"that\n")
    assert len(outbox) == 23
    assert not outbox.in_pieces
    assert _writes(outbox) == [b"before\n", b"ab", b"c", b"d\n", b"after\n", b"that\n"]
    assert not outbox.in_pieces


def test_a_piece_may_take_several_writes() -> None:
    outbox = Outbox()
    outbox.cut((3,))
    outbox.add(b"abcde")
    assert _writes(outbox, most=2) == [b"ab", b"c", b"de"]
    assert len(outbox) == 0
