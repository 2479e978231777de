from __future__ import annotations

import pytest

from wireproof.wire import grammar, messages_grammar, responses_grammar
from wireproof.wire.grammar import CallSign, CallState
from wireproof.wire.table import FrameFault, table

EVERYWHERE = {FrameFault.UNREADABLE, FrameFault.EMPTY_DATA, FrameFault.NO_DATA}


def test_a_row_that_lacks_a_cell_is_no_table() -> None:
    with pytest.raises(ValueError, match="zip"):
        table(CallState, {CallSign.HEAD: (CallState.OPENED,)})


def test_every_fault_of_a_frame_breaks_a_requirement_of_some_grammar() -> None:
    chat, responses, messages = (set(one.FRAME) for one in (grammar, responses_grammar, messages_grammar))
    assert chat | responses | messages == set(FrameFault)
    assert chat & responses & messages == EVERYWHERE
