"""Calls and their results, over the messages of a request. Pure.

Messages of one role in a row are one turn. The calls of an assistant's turn are answered in the user's turn behind it,
all of them, by results with their ids. A message of role system may stand anywhere, and ends no turn.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from wireproof_surfaces.messages.content_blocks import blocks
from wireproof_surfaces.messages.faults import fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class _Placed(NamedTuple):
    """A block, and where it is."""

    message: str
    """The path of its message."""
    path: str
    block: Mapping[str, Any]


def paired(sent: Sequence[Mapping[str, Any]], waiting: Sequence[str] = ()) -> None:
    """The rule of calls and results; `waiting` are the calls that a thread has open before these messages."""
    opened = dict.fromkeys(waiting, "messages.0")
    known = set(waiting)
    for role, turn in _turns(sent):
        if role == "user":
            _answered(turn, opened)
            opened = {}
        for placed in _of_type("tool_use", turn):
            id_ = placed.block["id"]
            if id_ in known:
                raise fault(placed.path, "`tool_use` ids must be unique")
            known.add(id_)
            opened[id_] = placed.message
    _unanswered(opened)


def _turns(sent: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[_Placed]]]:
    """The turns of user and assistant, in order, with their blocks."""
    said = [(f"messages.{index}", one) for index, one in enumerate(sent) if one["role"] != "system"]
    for role, group in groupby(said, key=lambda pair: pair[1]["role"]):
        yield (
            role,
            [
                _Placed(path, f"{path}.content.{at}", block)
                for path, message in group
                for at, block in enumerate(blocks(message["content"]))
            ],
        )


def _of_type(kind: str, turn: Sequence[_Placed]) -> Iterator[_Placed]:
    return (placed for placed in turn if placed.block["type"] == kind)


def _answered(turn: Sequence[_Placed], opened: Mapping[str, str]) -> None:
    """The results in a user's turn are those of the calls before it: ids with the paths of their messages."""
    left = dict(opened)
    for placed in _of_type("tool_result", turn):
        id_ = placed.block["tool_use_id"]
        if id_ not in left:
            text = (
                f"unexpected `tool_use_id` found in `tool_result` blocks: {id_}. Each `tool_result` block must have a "
                "corresponding `tool_use` block in the previous message."
            )
            raise fault(placed.path, text)
        del left[id_]
    _unanswered(left)


def _unanswered(opened: Mapping[str, str]) -> None:
    if opened:
        text = (
            f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(opened)}. Each "
            "`tool_use` block must have a corresponding `tool_result` block in the next message."
        )
        raise fault(next(iter(opened.values())), text)
