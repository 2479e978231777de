"""A small model that obeys the prompts of the live scenarios by simple rules, and the words of which it is made.

It knows nothing of the suite: it reads the request of a client, as OpenAI publishes it, and says what a good model
would. `Temper` makes it chatty or lazy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random  # noqa: TC003 (beside what is imported for good)
from typing import Any

Json = dict[str, Any]
TOKEN = re.compile(r"\s*[A-Za-z]{1,12}|\s*\d{1,4}|\s*[^\sA-Za-z\d]|\s+")
BABBLE = "I shall gladly help with that, dear friend of the sea."
PICTURE = " [a picture that is red all over] "
OFTEN = 0.3
"""How often a model that has moods does not do what it is asked."""
CHATTER = "Sure, here you are: "


@dataclass(kw_only=True)
class Call:
    id: str
    name: str
    arguments: str


@dataclass(kw_only=True)
class Said:
    """What the model says in one choice."""

    text: str | None
    calls: list[Call] = field(default_factory=list)
    finish: str = "stop"
    hidden: int = 0
    """Tokens of reasoning."""

    @property
    def tokens(self) -> int:
        return self.hidden + len(cut_up(self.text or "")) + sum(6 + len(cut_up(c.arguments)) for c in self.calls)


@dataclass(kw_only=True)
class Prompt:
    """A request, in the words of either surface."""

    messages: list[tuple[str, str]]
    """Role and text of each message; calls have the role `call`, results `tool`."""
    tools: dict[str, Json]
    choice: Any
    """`auto`, `none`, `required`, or a name."""
    schema: Json | None
    limit: int | None
    stop: list[str]
    n: int
    stream: bool
    usage: bool
    model: str
    logprobs: bool = False

    @property
    def tokens(self) -> int:
        return 8 + sum(3 + len(cut_up(text)) for _, text in self.messages) + 30 * len(self.tools)


def cut_up(text: str) -> list[str]:
    return TOKEN.findall(text)


def chat_prompt(body: Json) -> Prompt:
    messages: list[tuple[str, str]] = []
    for message in body["messages"]:
        calls = [call["function"] for call in message.get("tool_calls") or ()]
        messages += [("call", f"{call['name']} {call['arguments']}") for call in calls]
        if message.get("content"):
            messages.append((message["role"], _text(message["content"])))
    choice = body.get("tool_choice", "auto")
    wanted = body.get("response_format") or {}
    stop = body.get("stop") or []
    return Prompt(
        messages=messages,
        tools={tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in body.get("tools") or ()},
        choice=choice["function"]["name"] if isinstance(choice, dict) else choice,
        schema=(wanted.get("json_schema") or {}).get("schema"),
        limit=body.get("max_tokens") or body.get("max_completion_tokens"),
        stop=[stop] if isinstance(stop, str) else stop,
        n=body.get("n") or 1,
        stream=bool(body.get("stream")),
        usage=bool((body.get("stream_options") or {}).get("include_usage")),
        model=body["model"],
        logprobs=bool(body.get("logprobs")),
    )


def response_prompt(body: Json) -> Prompt:
    messages: list[tuple[str, str]] = []
    given = body["input"]
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        match item.get("type", "message"):
            case "function_call":
                messages.append(("call", item["name"] + " " + item["arguments"]))
            case "reasoning":
                pass
            case "function_call_output":
                messages.append(("tool", _text(item["output"])))
            case _:
                messages.append((item["role"], _text(item["content"])))
    choice = body.get("tool_choice", "auto")
    return Prompt(
        messages=messages,
        tools={tool["name"]: tool.get("parameters", {}) for tool in body.get("tools") or ()},
        choice=choice["name"] if isinstance(choice, dict) else choice,
        schema=((body.get("text") or {}).get("format") or {}).get("schema"),
        limit=body.get("max_output_tokens"),
        stop=[],
        n=1,
        stream=bool(body.get("stream")),
        usage=True,
        model=body["model"],
    )


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", PICTURE) for part in content)


Temper = Callable[[str], str]
"""What a model makes of the text that it was to say."""


def chatty(text: str) -> str:
    return f"{CHATTER}{text} Anything else?"


def moody(chance: Random) -> Temper:
    """A model that does not do what it is asked, now and then: it says more, less, or something else."""
    ways: list[Temper] = [chatty, _forgetful, _shuffled, str.upper, lambda text: f"```\n{text}\n```", lambda _: BABBLE]
    return chance.choice(ways) if chance.random() < OFTEN else str


def _forgetful(text: str) -> str:
    """Without the second of its words."""
    first, _, rest = text.partition(" ")
    return f"{first} {rest.partition(' ')[2]}"


def _shuffled(text: str) -> str:
    first, _, rest = text.partition(" ")
    return f"{rest} {first}"


def answer(prompt: Prompt, ids: Iterator[str], temper: Temper = str, chance: Random | None = None) -> list[Said]:
    """What the model says, choice by choice; with a `chance` not always what it is asked."""
    return [_one(prompt, ids, moody(chance) if chance else temper, chance) for _ in range(prompt.n)]


def _one(prompt: Prompt, ids: Iterator[str], temper: Temper, chance: Random | None) -> Said:
    made = list(_calls(prompt))
    # What a request forces is the server's to see to.
    if chance and made and prompt.choice == "auto" and chance.random() < OFTEN:
        made = chance.choice([[], made[:1], [(name, json.dumps(_sample(prompt.tools[name]))) for name, _ in made]])
        if not made:
            return _limited(prompt, f"I would call {', '.join(prompt.tools)} now, if you agree with that, dear friend.")
    calls = [Call(id=next(ids), name=name, arguments=arguments) for name, arguments in made]
    if calls:
        return Said(text=None, calls=calls, finish="tool_calls")
    if prompt.schema is not None:
        return _limited(prompt, json.dumps(_sample(prompt.schema)))
    return _limited(prompt, temper(_text_of(prompt)))


def _limited(prompt: Prompt, text: str) -> Said:
    for stop in prompt.stop:
        text = text.partition(stop)[0]
    tokens = cut_up(text)
    if prompt.limit is not None and len(tokens) > prompt.limit:
        return Said(text="".join(tokens[: prompt.limit]), finish="length")
    return Said(text=text)


def _calls(prompt: Prompt) -> Iterator[tuple[str, str]]:
    if not prompt.tools or prompt.choice == "none":
        return
    said = prompt.messages[-1][1]
    one = re.search(r"Call the tool (\w+) once, with exactly these arguments: (\{.*\})", said, re.DOTALL)
    two = re.findall(r"(\w+) with (\{.*?\})", said) if said.startswith("Call two tools") else []
    asked_again = re.search(r"Call the tool (\w+) once more: its title is the number of the saved note", said)
    known = re.search(r"number (note-\d+)", "\n".join(text for _, text in prompt.messages[:-1]))
    if prompt.choice in prompt.tools:
        yield prompt.choice, json.dumps(_sample(prompt.tools[prompt.choice]))
    elif two:
        yield from two
    elif one:
        yield one[1], one[2]
    elif asked_again and known:
        yield asked_again[1], json.dumps({"title": known[1], "text": "again", "pages": 1})
    elif prompt.choice == "required":
        name = next(iter(prompt.tools))
        yield name, json.dumps(_sample(prompt.tools[name]))


def _text_of(prompt: Prompt) -> str:
    system = " ".join(text for role, text in prompt.messages if role in {"system", "developer"})
    said = prompt.messages[-1][1] if prompt.messages else ""
    before = "\n".join(text for _, text in prompt.messages[:-1])
    if "reply with exactly the following word" in system:
        return system.split()[-1]
    if said.startswith("Reply with exactly the text below"):
        return said.partition("\n")[2]
    if counting := re.search(r"Count from 1 to (\d+)", said):
        return " ".join(map(str, range(1, int(counting[1]) + 1)))
    wanted = {
        "number of the saved note": r"number (note-\d+)",
        "What is the code word": r"code word: ([\w-]+)",
        "What is its name": r"Its name is ([\w-]+)",
        "Which colour": r"picture that is (red)",
    }
    for asked, pattern in wanted.items():
        if asked in said and (found := re.search(pattern, before + said)):
            return found[1]
    return BABBLE


def _sample(schema: Json) -> Any:
    """A value that fits a schema."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type", "object"):
        case "object":
            return {name: _sample(inner) for name, inner in schema.get("properties", {}).items()}
        case "array":
            return [_sample(schema["items"])]
        case "integer":
            return 1815
        case _:
            return "Ada"
