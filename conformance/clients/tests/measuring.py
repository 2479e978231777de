"""What real clients of Messages make of an answer with a fault, beside what they make of the right one.

Each client plays a few dialogues with the reference proxy and with its miniatures, which differ from it in one fault.
What it then has that is not what it has of the right answer is the effect of the fault.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from behaviours import AFTERWARDS
from coding_agents import AGENTS
from playback import MOST, Played, dialogue_of, playing

from clients import Client, Play

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from behaviours import Answers


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A client, by the name that rows of the catalogue have for it, with the ways in which it is asked."""

    name: str
    packages: tuple[str, ...]
    """What it is of: `npm:NAME` or `pypi:NAME`."""
    program: str
    """A program of this folder, or an agent of `coding_agents.py`."""
    ways: Mapping[str, str]
    """Surface and mode, as in "chat stream" → the way of the program."""


def _ways(**surfaces: str) -> dict[str, str]:
    """By surface: the way for streams, and behind a blank that for whole answers."""
    return {
        f"{surface} {mode}": way
        for surface, ways in surfaces.items()
        for mode, way in zip(("stream", "whole"), ways.split(), strict=False)
    }


AI, RUNNER = "npm:ai", "runner-unthreaded runner-unthreaded-whole"
MEASURED = (
    # Those that take longest come first.
    Measured(name="Claude Code", packages=("npm:@anthropic-ai/claude-code",), program="claude_code",
             ways=_ways(messages="run")),
    Measured(name="opencode", packages=("npm:opencode-ai",), program="opencode", ways=_ways(chat="run")),
    Measured(name="opencode", packages=("npm:opencode-ai",), program="opencode-responses",
             ways=_ways(responses="run")),
    Measured(name="codex", packages=("npm:@openai/codex",), program="codex_exec", ways=_ways(responses="run")),
    Measured(name="openai-python", packages=("pypi:openai",), program="openai_python.py",
             ways=_ways(chat="joined whole")),
    Measured(name="openai-python .stream", packages=("pypi:openai",), program="openai_python.py",
             ways=_ways(chat="stream")),
    Measured(name="the loop of OpenAI's function-calling guide", packages=("pypi:openai",),
             program="openai_python.py", ways=_ways(chat="guide")),
    Measured(name="openai-python", packages=("pypi:openai",), program="openai_python_responses.py",
             ways=_ways(responses="joined whole")),
    Measured(name="openai-python .stream", packages=("pypi:openai",), program="openai_python_responses.py",
             ways=_ways(responses="helper")),
    Measured(name="langchain-openai", packages=("pypi:langchain-openai",), program="langchain_python.py",
             ways=_ways(chat="stream whole", responses="responses-stream responses-whole")),
    Measured(name="pydantic-ai", packages=("pypi:pydantic-ai-slim",), program="pydantic_ai_python.py",
             ways=_ways(chat="stream whole", responses="responses-stream responses-whole")),
    Measured(name="openai-agents", packages=("pypi:openai-agents",), program="openai_agents_python.py",
             ways=_ways(chat="chat-stream chat-whole", responses="stream whole")),
    Measured(name="litellm", packages=("pypi:litellm",), program="litellm_python.py",
             ways=_ways(chat="stream whole", responses="responses-stream responses-whole")),
    Measured(name="llm", packages=("pypi:llm",), program="llm_python.py",
             ways=_ways(chat="stream whole", responses="responses-stream responses-whole")),
    Measured(name="openai-node", packages=("npm:openai",), program="openai_node.mjs", ways=_ways(chat="joined whole")),
    Measured(name="openai-node .stream", packages=("npm:openai",), program="openai_node.mjs",
             ways=_ways(chat="stream")),
    Measured(name="openai-node runTools", packages=("npm:openai",), program="openai_node.mjs",
             ways=_ways(chat="run-tools run-tools-whole")),
    Measured(name="openai-node", packages=("npm:openai",), program="openai_node_responses.mjs",
             ways=_ways(responses="joined whole")),
    Measured(name="openai-node .stream", packages=("npm:openai",), program="openai_node_responses.mjs",
             ways=_ways(responses="helper")),
    Measured(name="@ai-sdk/openai", packages=(AI, "npm:@ai-sdk/openai"), program="ai_sdk.mjs",
             ways=_ways(chat="openai-stream openai-whole", responses="responses-stream responses-whole")),
    Measured(name="@ai-sdk/openai-compatible", packages=(AI, "npm:@ai-sdk/openai-compatible"), program="ai_sdk.mjs",
             ways=_ways(chat="stream whole")),
    Measured(name="@langchain/openai", packages=("npm:@langchain/openai",), program="langchain_js.mjs",
             ways=_ways(chat="stream whole", responses="responses-stream responses-whole")),
    Measured(name="anthropic", packages=("pypi:anthropic",), program="anthropic_python.py",
             ways=_ways(messages=RUNNER)),
    Measured(name="@anthropic-ai/sdk", packages=("npm:@anthropic-ai/sdk",), program="anthropic_node.mjs",
             ways=_ways(messages=RUNNER)),
    Measured(name="@ai-sdk/anthropic", packages=(AI, "npm:@ai-sdk/anthropic"), program="ai_sdk.mjs",
             ways=_ways(messages="messages-stream messages-whole")),
    Measured(name="langchain-anthropic", packages=("pypi:langchain-anthropic",),
             program="langchain_python.py", ways=_ways(messages="messages-stream messages-whole")),
)  # fmt: skip
AT_ONCE = 2
"""Client programs that run at the same time."""
ACCOUNT = {"key": "any", "model": "codex"}
Key = tuple[str, str]
"""A row and a form."""
Effects = dict[Key, dict[str, str]]
"""By client what it does."""


def measure(every: Sequence[Answers]) -> Effects:
    """What each client does with each answer that is wrong, where that differs from what it does with the right one."""
    found: Effects = {(one.behaviour.requirement, one.behaviour.form): {} for one in every}
    plan = [(client, shape, way) for client in MEASURED for shape, way in client.ways.items()]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        columns = pool.map(lambda one: _column(every, *one), plan)
        for (client, _, _), column in zip(plan, columns, strict=True):
            for key, effect in column.items():
                found[key][client.name] = effect
    return found


def _column(every: Sequence[Answers], client: Measured, shape: str, way: str) -> dict[Key, str]:
    """What a client does, in one surface and mode."""
    mine = [one for one in every if f"{one.behaviour.surface} {one.behaviour.mode}" == shape]
    agent = AGENTS.get(client.program)
    streamed = shape.endswith("stream")
    player = agent or Client(program=client.program, way=way, streamed=streamed)
    given: dict[str, tuple[Answers, Played]] = {}
    # Forms of one scenario have their right answer together.
    rights: dict[bytes, str] = {}
    for place, one in enumerate(mine):
        whole = one.whole if streamed else None
        # A server that answers wrongly where the conversation is at its end does so to whoever goes on, too.
        then = one.wrong if one.behaviour.scenario == AFTERWARDS else one.then
        served = (
            Played(first=one.right, then=one.then, whole=whole), Played(first=one.wrong, then=then, whole=whole)
        )  # fmt: skip
        right = rights.setdefault(one.right.body, f"{place}/right/{one.behaviour.mode}")
        given[right], given[f"{place}/wrong/{one.behaviour.mode}"] = ((one, each) for each in served)
    paths = {path: agent.named(played) if agent else played for path, (_, played) in given.items()}
    asked: Counter[str] = Counter()
    with playing(paths, asked) as address:
        dialogues = [{**dialogue_of(one.behaviour.asked), "url": f"{address}/{path}/v1"}
                     for path, (one, _) in given.items()]  # fmt: skip
        plays = dict(zip(given, player.play(dialogues, ACCOUNT), strict=True))
    plays = {path: {**play, "requests": asked[path]} for path, play in plays.items()}
    found = {
        (one.behaviour.requirement, one.behaviour.form): difference(
            plays[rights[one.right.body]], plays[f"{place}/wrong/{one.behaviour.mode}"]
        )
        for place, one in enumerate(mine)
    }
    return {key: effect for key, effect in found.items() if effect is not None and effect not in OF_NUMBERS}


def difference(right: Play, got: Play) -> str | None:
    """How what became of a dialogue differs from what should have; None: in nothing that a user would see."""
    if got.get("requests", 0) >= MOST:
        return "endless requests"
    if "error" in right or "error" in got:
        return _of_errors(right, got)
    return next((word for word, test in _TESTS.items() if test(right, got)), None)


def _of_errors(right: Play, got: Play) -> str | None:
    if "error" not in got:
        return "a failed answer is taken for a whole one"
    return None if "error" in right else "exception"


def _texts(play: Play) -> str:
    # What is undefined in JavaScript has no member in its JSON.
    return "".join(turn.get("text") or "" for turn in play["turns"])


def _arguments(play: Play) -> list[Any]:
    return [one["arguments"] for one in play["ran"]]


def _nameless(play: Play) -> int:
    """How many calls have no id, so that no result of theirs can be sent back."""
    return sum(call.get("id") in {None, "", "None"} for turn in play["turns"] for call in turn["calls"])


def _last(play: Play, member: str) -> Any:
    # What is undefined in JavaScript has no member in its JSON.
    return play["turns"][-1].get(member) if play["turns"] else None


_TESTS: dict[str, Callable[[Play, Play], bool]] = {
    "a tool runs without its arguments": lambda right, got: {} in _arguments(got) and {} not in _arguments(right),
    "a tool is not run": lambda right, got: len(got["ran"]) < len(right["ran"]),
    "a tool runs too often": lambda right, got: len(got["ran"]) > len(right["ran"]),
    "a tool runs with other arguments": lambda right, got: _arguments(got) != _arguments(right),
    "the text is lost": lambda right, got: len(_texts(got)) < len(_texts(right)),
    "the text is another": lambda right, got: _texts(got) != _texts(right),
    "the call has no id": lambda right, got: _nameless(got) > _nameless(right),
    "finish_reason is written twice": lambda right, got: any(
        turn.get("finish") == 2 * str(meant.get("finish"))
        for meant, turn in zip(right["turns"], got["turns"], strict=False)
    ),
    "the request is sent again": lambda right, got: got.get("requests", 0) > right.get("requests", 0),
    "another stop reason": lambda right, got: _last(got, "finish") != _last(right, "finish"),
    "other counts": lambda right, got: _last(got, "usage") != _last(right, "usage"),
}
"""Effect → whether a dialogue shows it, the worst first."""
OF_NUMBERS = frozenset({"another stop reason", "other counts"})
"""The effects that a user sees in figures alone: text and tools are as they should be."""
