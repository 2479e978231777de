from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wireproof_mocks.miniatures import FAULTS
from wireproof_mocks.miniatures.fault import FaultHead, SentRequest

if TYPE_CHECKING:
    from collections.abc import Callable

SENT = SentRequest(method="POST", path="/v1/chat/completions", body=b"{}", key="Bearer k")


@pytest.fixture
def made() -> Callable[[str, Any], Any]:
    """What a fault makes of the frames of a stream (a tuple), of the body of a request or of a whole answer."""

    def made(name: str, before: Any) -> Any:
        fault = FAULTS[name]
        if isinstance(before, tuple):
            assert fault.frames
            return tuple(fault.frames(before, SENT))
        if fault.request:
            return fault.request(before)
        assert fault.whole
        return fault.whole(before, SENT, FaultHead(status="200 OK", headers=[]))

    return made
