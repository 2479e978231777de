from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import get_args

import pytest

from wireproof_surfaces.events import ChoiceFailed, Event, FailureReason, Quiet, TextAdded, TurnEvent


def test_events_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        TextAdded(text="a").text = "b"  # type: ignore[misc]


def test_choices_are_numbered_from_0_by_default() -> None:
    assert TextAdded(text="a").choice == 0


def test_a_failure_is_of_all_choices_unless_it_says_otherwise() -> None:
    assert ChoiceFailed(FailureReason.FAILED).choice is None


def test_only_the_listener_makes_quiet() -> None:
    assert Quiet not in get_args(Event)
    assert Quiet in get_args(TurnEvent)
