"""What real clients of Messages make of an answer with a fault, beside what they make of the right one.

Each client plays a few dialogues with the reference proxy and with its miniatures, which differ from it in one fault.
What it then has that is not what it has of the right answer is the effect of the fault.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dialogues import DIALOGUES, Answer, Dialogue

from clients import Client, Play

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

RIGHT = "none"
"""The miniature without a fault."""
ASKED = {
    "text": Dialogue(script="text/hello", answers=(Answer(text="Hello, world!"),), tools=()),
    "thoughts": DIALOGUES["a silence"],
    "call": DIALOGUES["a call in fragments"],
    "calls": DIALOGUES["two equal calls at once"],
    "limit": Dialogue(script="text/length", answers=(), tools=()),
    "failure": Dialogue(script="fail/after-text", answers=(), tools=()),
}
"""The dialogues, by what of an answer they show."""
_NAME = re.compile(r"^(?:[a-z_0-9]+\.)*([A-Za-z_]*(?:Error|Exception)[A-Za-z_]*)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A client, by the name that rows of the catalogue have for it, with the ways in which it is asked."""

    name: str
    program: str
    stream: str
    whole: str

    @property
    def ways(self) -> tuple[Client, Client]:
        """The clients that play in streams and in whole answers."""
        return (
            Client(program=self.program, way=self.stream, streamed=True, in_parts=True),
            Client(program=self.program, way=self.whole, streamed=False, in_parts=True),
        )


MEASURED = (
    Measured(name="anthropic", program="anthropic_python.py",
             stream="runner-unthreaded", whole="runner-unthreaded-whole"),
    Measured(name="@anthropic-ai/sdk", program="anthropic_node.mjs",
             stream="runner-unthreaded", whole="runner-unthreaded-whole"),
    Measured(name="@ai-sdk/anthropic", program="ai_sdk.mjs", stream="messages-stream", whole="messages-whole"),
    Measured(name="langchain-anthropic", program="langchain_anthropic_python.py", stream="stream", whole="whole"),
)  # fmt: skip


def effects(client: Measured, faults: Iterable[str], root: str, account: Mapping[str, str]) -> dict[str, list[str]]:
    """Fault → what of it reaches the client's user, empty where nothing does; miniatures are served below `root`."""
    names = [RIGHT, *faults]
    plan = [(name, kind) for name in names for kind in ASKED]
    found: dict[str, list[str]] = {name: [] for name in names[1:]}
    for way in client.ways:
        asked = [ASKED[kind].asked(f"{root}/{name}/v1") for name, kind in plan]
        plays = dict(zip(plan, way.play(asked, account), strict=True))
        for name, kind in plan[len(ASKED) :]:
            effect = difference(plays[RIGHT, kind], plays[name, kind])
            if effect is not None and effect not in found[name]:
                found[name].append(effect)
    return found


def difference(right: Play, got: Play) -> str | None:
    """How what became of a dialogue differs from what should have; None: in nothing that a user would see."""
    if "error" in right or "error" in got:
        return _of_errors(right, got)
    return next((word for word, test in _TESTS.items() if test(right, got)), None)


def _of_errors(right: Play, got: Play) -> str | None:
    if "error" not in got:
        return "a failed answer is taken for a whole one"
    if "error" not in right:
        return f"exception ({_exception(got['error'])})"
    # Both raise: whether the reason is one that a program can act on.
    name = _exception(got["error"])
    return None if _exception(right["error"]) == name else f"another exception ({name})"


def _exception(trace: str) -> str:
    """The name of the exception that a program ended with."""
    names: list[str] = _NAME.findall(trace)
    # Python has it in the last line of a traceback, JavaScript in the first.
    return (names[-1] if trace.startswith("Traceback") else names[0]) if names else trace.splitlines()[0][:60]


def _texts(play: Play) -> str:
    return "".join(turn["text"] for turn in play["turns"])


def _arguments(play: Play) -> list[Any]:
    return [one["arguments"] for one in play["ran"]]


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
    "another stop reason": lambda right, got: _last(got, "finish") != _last(right, "finish"),
    "other counts": lambda right, got: _last(got, "usage") != _last(right, "usage"),
}
"""Effect → whether a dialogue shows it, the worst first."""
OF_NUMBERS = frozenset({"another stop reason", "other counts"})
"""The effects that a user sees in figures alone: text and tools are as they should be."""
