"""What each of them does to a stream is in the tables of `test_stream_faults`."""

from __future__ import annotations

from wireproof_mocks.miniatures.chunk_faults import CHUNK_FAULTS
from wireproof_mocks.miniatures.stream_faults import STREAM_FAULTS


def test_they_are_faults_of_streams() -> None:
    assert set(CHUNK_FAULTS) < set(STREAM_FAULTS)
    assert all(fault.breaks.startswith("chat.stream.") for fault in CHUNK_FAULTS)


def test_each_changes_frames_and_nothing_else() -> None:
    for fault in CHUNK_FAULTS:
        assert fault.frames is not None
        assert not any([fault.whole, fault.request, fault.head, fault.environ, fault.salvage, fault.ignores_disconnect])
