from __future__ import annotations

import pytest

from wireproof.model.transcript import End, Piece, Transcript


def transcript(status: int | None = 200, headers: tuple[tuple[str, str], ...] = (), *pieces: bytes) -> Transcript:
    return Transcript(
        method="POST",
        url="http://127.0.0.1:1/v1/chat/completions",
        request_headers=(),
        request_body=b"{}",
        status=status,
        headers=headers,
        pieces=tuple(Piece(at=0.1, data=data) for data in pieces),
        end=End.COMPLETE,
        seconds=0.2,
    )


def test_the_body_is_all_pieces_joined() -> None:
    assert transcript(200, (), b"da", b"", b"ta: 1").body == b"data: 1"
    assert transcript().body == b""


@pytest.mark.parametrize(
    ("status", "ok"), [(None, False), (199, False), (200, True), (204, True), (299, True), (300, False), (500, False)]
)
def test_a_success_is_2xx(status: int | None, *, ok: bool) -> None:
    assert transcript(status).ok is ok


def test_headers_are_found_in_any_case_and_the_first_counts() -> None:
    one = transcript(200, (("Content-Type", "a"), ("content-type", "b")))
    assert one.header("CONTENT-TYPE") == "a"
    assert one.header("x-request-id") is None
