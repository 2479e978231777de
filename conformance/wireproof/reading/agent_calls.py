"""What Cursor's agent service asks its client to run, as the calls that the client's tools must get (contract, §12)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Call, cursor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_scripts.steps import Step

Arguments = dict[str, str]
"""What the service says of its own tools is text."""

_TOOLS: Mapping[type[Step], tuple[str, Mapping[str, str]]] = {
    cursor.Shell: ("bash", {"command": "command"}),
    cursor.Read: ("read", {"path": "filePath"}),
    cursor.Write: ("write", {"path": "filePath", "text": "content"}),
    cursor.Ls: ("list", {"path": "path"}),
    cursor.Grep: ("grep", {"pattern": "pattern", "path": "path"}),
    cursor.Glob: ("glob", {"pattern": "pattern", "path": "path"}),
}
"""Step → the tool's name, and its arguments by the fields of the step."""


def calls_of(script: str) -> dict[str, dict[str, Any]]:
    """The arguments of each call that the first part of a script asks for, by the name of the tool."""
    return dict(filter(None, map(_call, LIBRARY[script].parts[0])))


def _call(step: Step) -> tuple[str, dict[str, Any]] | None:
    if isinstance(step, Call):
        return step.name, json.loads(step.arguments)
    return agent_call(step)


def agent_call(step: Step) -> tuple[str, Arguments] | None:
    """The name of the tool and its arguments; None for a step that no tool of a client runs."""
    for kind, (name, names) in _TOOLS.items():
        if isinstance(step, kind):
            values = {name: getattr(step, field) for field, name in names.items()}
            # What the service left out is not sent.
            return name, {name: value for name, value in values.items() if value}
    return None
