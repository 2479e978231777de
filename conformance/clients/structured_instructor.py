"""instructor, which wants the previous major version of the `openai` package: an output in each of its modes."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import instructor
from openai import AsyncOpenAI, OpenAI
from structured import QUESTION, Account, Event, event, main

if TYPE_CHECKING:
    from structured import Result

MODES = ("TOOLS", "TOOLS_STRICT", "JSON", "JSON_SCHEMA", "RESPONSES_TOOLS")
ASK: Any = [{"role": "user", "content": QUESTION}]


def _asked(account: Account, *, mode: str) -> Result:
    with OpenAI(base_url=account.url, api_key=account.key, max_retries=0, timeout=20) as client:
        made: Any = instructor.from_openai(client, mode=instructor.Mode[mode])
        return event(_plain(made.create(model=account.model, response_model=Event, messages=ASK, max_retries=0)))


async def _asked_async(account: Account) -> Result:
    async with AsyncOpenAI(base_url=account.url, api_key=account.key, max_retries=0, timeout=20) as client:
        made: Any = instructor.from_openai(client)
        return event(_plain(await made.create(model=account.model, response_model=Event, messages=ASK, max_retries=0)))


def _plain(found: Any) -> Event:  # noqa: ANN401 - a class that instructor makes
    return Event(**found.model_dump())


if __name__ == "__main__":
    main({**{mode: partial(_asked, mode=mode) for mode in MODES}, "async": _asked_async})
