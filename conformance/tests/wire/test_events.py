from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import get_args

import pytest

from wireproof.wire import events
from wireproof.wire.events import Answer, ChatEvent, Choice, Text, ToolCall


def test_the_union_holds_every_event_of_the_module() -> None:
    declared = {value for value in vars(events).values() if isinstance(value, type)}
    assert set(get_args(ChatEvent)) == declared - {ToolCall, Choice, Answer}


@pytest.mark.parametrize("event", get_args(ChatEvent))
def test_every_event_knows_its_frame_first(event: type) -> None:
    assert fields(event)[0].name == "frame"


def test_events_are_values() -> None:
    text = Text(frame=1, choice=0, text="a")
    assert text == Text(frame=1, choice=0, text="a")
    assert len({text, Text(frame=1, choice=0, text="a")}) == 1
    with pytest.raises(FrozenInstanceError):
        text.text = "b"  # type: ignore[misc]
