from __future__ import annotations

from typing import Any

import pytest

from wireproof_proxy.backends.codex.link import CodexLink
from wireproof_proxy.backends.codex.rpc import ErrorReply, ResultReply
from wireproof_proxy.backends.codex.turn import CodexTurn, id_in
from wireproof_proxy.backends.mailbox import Mailbox
from wireproof_surfaces.conversation import Conversation


@pytest.mark.parametrize(
    ("answer", "id_"),
    [
        (ResultReply(1, {"thread": {"id": "t"}}), "t"),
        (ResultReply(1, {"thread": []}), ""),
        (ResultReply(1, {}), ""),
        (ErrorReply(1, None, "no"), ""),
    ],
)
def test_an_id_is_found_or_empty(answer: Any, id_: str) -> None:
    assert id_in(answer, "thread", "id") == id_


def test_the_steps_are_those_of_a_protocol() -> None:
    link = CodexLink(send=lambda _: None, clock=lambda: 0.0)
    with pytest.raises(NotImplementedError):
        CodexTurn(link, Conversation(), Mailbox(), None, choice=0, choices=1)  # type: ignore[arg-type]
    for step in (CodexTurn._interruption, CodexTurn._endings):
        with pytest.raises(NotImplementedError):
            step(None, "t")  # type: ignore[arg-type]
