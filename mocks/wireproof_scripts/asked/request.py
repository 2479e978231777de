"""What is asked: a conversation and what comes with it, read when a condition or a template wants to know."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wireproof_scripts.conversation import is_call, is_result, is_user, message_text, result_text
from wireproof_scripts.values import lazy, value

if TYPE_CHECKING:
    from collections.abc import Iterator

Items = Sequence[Mapping[str, Any]]


def _digested(items: Items) -> Iterator[list[str]]:
    """What a digest is of; messages of the assistant that follow each other are one."""
    before: list[str] = []
    for item in items:
        item_line = _one(item)
        if item_line[:2] == before[:2] == ["message", "assistant"]:
            before[2] += item_line[2]
            continue
        if before:
            yield before
        before = item_line
    if before:
        yield before


def _one(item: Mapping[str, Any]) -> list[str]:
    if is_result(item):
        return ["result", result_text(item)]
    if item.get("type") == "message":
        # Of an image its size is enough: two of one size are seldom meant to be kept apart.
        images = [str(len(str(part["image_url"]))) for part in item.get("content") or () if "image_url" in part]
        return ["message", str(item.get("role")), message_text(item), *images]
    return [str(item.get("type")), str(item.get("name")), str(item.get("arguments"))]


@value(frozen=True, kw_only=True)
class AskedTurn:
    """A turn that is asked for."""

    conversation: Items
    """Its items, the newest last."""
    developer: str = ""
    """The instructions."""
    tools: Items = ()
    """The tools that are declared."""
    model: str | None = None
    """The model; None where the backend does not see which."""
    headers: Mapping[str, str] | None = None
    """The headers of the request by lower-case names; None where there is none."""
    number: int | None = None
    """Which request it is of all; None where they are not counted."""

    @lazy
    def text(self) -> str | None:
        """The last message of the user; None if there is none."""
        for item in reversed(self.conversation):  # a loop: it is asked with every request
            if is_user(item):
                return message_text(item)
        return None

    @lazy
    def last_result(self) -> Mapping[str, Any] | None:
        """The tool result with which the conversation ends; None if it does not."""
        last = self.conversation[-1] if self.conversation else {}
        return last if is_result(last) else None

    @property
    def result(self) -> str | None:
        """The text of that result."""
        return None if self.last_result is None else result_text(self.last_result)

    @property
    def result_of(self) -> str | None:
        """The tool of that result; None also if its call is not in the conversation."""
        if self.last_result is None:
            return None
        id_ = self.last_result.get("call_id")
        calls = (item for item in self.conversation if is_call(item))
        return next((str(item.get("name")) for item in calls if item.get("call_id") == id_), None)

    @property
    def turn(self) -> int:
        """How many messages the user has sent."""
        return sum(map(is_user, self.conversation))

    @property
    def results(self) -> int:
        """How many tool results there are."""
        return sum(map(is_result, self.conversation))

    @lazy
    def digest(self) -> str:
        """The conversation up to the last message of the user, with instructions and tools, as 16 hex digits.

        Ids of calls are no part of it: a client may have its own.
        """
        last = max((at for at, item in enumerate(self.conversation) if is_user(item)), default=-1)
        tools = sorted(json.dumps([tool.get("name"), tool.get("inputSchema")], sort_keys=True) for tool in self.tools)
        said = list(_digested(self.conversation[: last + 1]))
        text = json.dumps([self.developer, tools, said])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def earlier(self) -> Iterator[AskedTurn]:
        """The turns before it, as they were asked for: each ends with a message of the user."""
        ends = [index for index, item in enumerate(self.conversation) if is_user(item)]
        return (replace(self, conversation=self.conversation[: end + 1]) for end in ends[:-1])
