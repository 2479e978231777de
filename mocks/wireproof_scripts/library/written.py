"""How the scripts of the library are written: the name, the title, and what is played."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_scripts.steps import Script

if TYPE_CHECKING:
    from wireproof_scripts.steps import Notifications, Step


def parts(name: str, title: str, *played: tuple[Step, ...]) -> Script:
    """A script of several parts."""
    return Script(name=name, title=title, parts=played)


def part(name: str, title: str, *steps: Step, notifications: Notifications = "v2") -> Script:
    """A script of one part."""
    return Script(name=name, title=title, parts=(steps,), notifications=notifications)
