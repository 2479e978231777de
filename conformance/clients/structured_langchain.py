"""LangChain: `with_structured_output` by each of its methods, and `bind_tools` with a forced call."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Literal

from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from structured import QUESTION, Account, Event, FirstTool, SecondTool, event, main

if TYPE_CHECKING:
    from structured import Result

JSON_MODE = f"{QUESTION} Answer in JSON by this schema: {json.dumps(Event.model_json_schema())}"


def _model(account: Account, *, responses: bool) -> ChatOpenAI:
    return ChatOpenAI(
        model=account.model,
        base_url=account.url,
        api_key=SecretStr(account.key),
        max_retries=0,
        timeout=20,
        use_responses_api=responses,
    )


def _structured(
    account: Account, *, method: Literal["json_schema", "function_calling"], responses: bool = False
) -> Result:
    model = _model(account, responses=responses).with_structured_output(Event, method=method)
    return event(model.invoke(QUESTION))


def _json_mode(account: Account) -> Result:
    model = _model(account, responses=False).with_structured_output(Event, method="json_mode")
    return event(model.invoke(JSON_MODE))


def _called(account: Account, *, choice: str, responses: bool = False) -> Result:
    model = _model(account, responses=responses).bind_tools([FirstTool, SecondTool], tool_choice=choice)
    return {"calls": [call["name"] for call in model.invoke(QUESTION).tool_calls]}


if __name__ == "__main__":
    main(
        {
            "json-schema": partial(_structured, method="json_schema"),
            "function-calling": partial(_structured, method="function_calling"),
            "json-mode": _json_mode,
            "responses-json-schema": partial(_structured, method="json_schema", responses=True),
            "responses-function-calling": partial(_structured, method="function_calling", responses=True),
            "required": partial(_called, choice="any"),
            "named": partial(_called, choice="SecondTool"),
            "responses-required": partial(_called, choice="any", responses=True),
            "responses-named": partial(_called, choice="SecondTool", responses=True),
        }
    )
