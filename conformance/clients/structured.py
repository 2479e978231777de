"""What the programs share that ask for structured output and for forced calls (`structured.mjs` is the same).

In: {url, key, model}. Out: {way: what came of it}, which is `{"event": …}`, `{"calls": [names]}` or `{"error": …}`.
"""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

QUESTION = "Alice and Bob meet at the fair on the 5th."


class Event(BaseModel):
    """What is asked to be extracted: a text, a number within bounds, a list."""

    name: str
    day: int = Field(ge=1, le=31)
    people: list[str]


class FirstTool(BaseModel):
    """The first of two tools that no text asks for."""

    note: str


class SecondTool(BaseModel):
    """The second one."""

    count: int


@dataclass(frozen=True)
class Account:
    """Where the endpoint is."""

    url: str
    key: str
    model: str


Result = Mapping[str, Any]
Way = Callable[[Account], Result | Coroutine[Any, Any, Result]]


def event(found: object) -> Result:
    """A way's result that is an event.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(found, Event):
        raise TypeError(f"not an event: {found!r}")
    return {"event": found.model_dump()}


def main(ways: Mapping[str, Way]) -> None:
    """Go all ways."""
    account = Account(**json.load(sys.stdin))
    sys.stdout.write(json.dumps({name: _gone(way, account) for name, way in ways.items()}))


def _gone(way: Way, account: Account) -> Result:
    try:
        result = way(account)
        return asyncio.run(result) if isinstance(result, Coroutine) else result
    except Exception:  # noqa: BLE001 - whatever a client raises is what the test wants to show
        return {"error": traceback.format_exc()}
