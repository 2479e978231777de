"""pydantic-ai: an output by a tool, by the service's own structured output, and by the prompt; on both surfaces."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
from structured import QUESTION, Account, Event, event, main

if TYPE_CHECKING:
    from structured import Result


def _asked(account: Account, *, output: Any, kind: Any = OpenAIChatModel) -> Result:  # noqa: ANN401 - its own types
    model = kind(account.model, provider=OpenAIProvider(base_url=account.url, api_key=account.key))
    return event(Agent(model, output_type=output).run_sync(QUESTION).output)


if __name__ == "__main__":
    main(
        {
            "tool": partial(_asked, output=ToolOutput(Event)),
            "native": partial(_asked, output=NativeOutput(Event, strict=True)),
            "prompted": partial(_asked, output=PromptedOutput(Event)),
            "responses-tool": partial(_asked, output=ToolOutput(Event), kind=OpenAIResponsesModel),
            "responses-native": partial(_asked, output=NativeOutput(Event, strict=True), kind=OpenAIResponsesModel),
        }
    )
