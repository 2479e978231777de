"""What the Python programs share; they read and write the same JSON as the JavaScript ones (`asked.mjs`).

In: {url, key, model}. Out: {way: what came of it}, or {way: {"raised": class, "said": its message}}; a way that a
client does not have is not there.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Coroutine
from typing import Any

from pydantic import BaseModel

ENDPOINT = json.load(sys.stdin)
URL, KEY, MODEL = (ENDPOINT[name] for name in ("url", "key", "model"))
os.environ.update(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=URL, OPENAI_API_BASE=URL)
HELLO = "Say hello to everyone."
WEATHER = "What is the weather in Bern?"
EVENT = "Alice and Bob meet at the fair on the 5th."
REFUSED = "Please refuse me."
FLAKY = "This is flaky."
RAN = []


class Event(BaseModel):
    """What is asked to be extracted."""

    name: str
    day: int
    people: list[str]


def get_weather(city: str) -> str:
    """Get the weather of a city.

    Args:
        city: the name of the city
    """
    RAN.append(city)
    return f"Sunny in {city}."


SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "the name of the city"}},
    "required": ["city"],
}
TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "description": "Get the weather.", "parameters": SCHEMA},
}


def event(found: Any) -> dict[str, Any]:
    """An event as JSON."""
    if isinstance(found, str):
        found = json.loads(found)
    return found.model_dump() if isinstance(found, BaseModel) else Event(**found).model_dump()


def main(**ways: Any) -> None:
    """Go each way, and print what came of it."""
    results = {}
    for name, way in ways.items():
        try:
            found = way()
            results[name] = asyncio.run(found) if isinstance(found, Coroutine) else found
        except BaseException as error:
            results[name] = {"raised": type(error).__name__, "said": str(error)[:2000]}
        if name == "tool":
            results["ran"] = RAN[:]
    print("\n" + json.dumps(results, default=str))
