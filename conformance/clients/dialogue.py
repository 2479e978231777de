"""What the Python client programs share; they read and write the same JSON as the JavaScript ones (`dialogue.mjs`)."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_STEPS = 5


@dataclass(frozen=True)
class Play:
    """A dialogue to be played at an endpoint, and what is noted meanwhile.

    `ran` are the tools that ran, `pieces` the deltas of text that came, `parsed` what was read out of text.
    """

    endpoint: Mapping[str, str]
    dialogue: Mapping[str, Any]
    ran: list[dict[str, Any]] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    parsed: list[Any] = field(default_factory=list)

    def run(self, name: str, arguments: Any) -> str:  # noqa: ANN401 - whatever JSON the model sent
        """The result of a tool; one that there is not does not run."""
        result = next((str(tool["result"]) for tool in self.dialogue["tools"] if tool["name"] == name), None)
        if result is None:
            return f"there is no tool {name}"
        self.ran.append({"name": name, "arguments": arguments})
        return result

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools as chat requests declare them."""
        keys = ("name", "description", "parameters")
        return [{"type": "function", "function": {key: tool[key] for key in keys}} for tool in self.dialogue["tools"]]

    @property
    def functions(self) -> list[dict[str, Any]]:
        """The tools as responses requests declare them."""
        return [{"type": "function", "strict": False, **tool["function"]} for tool in self.tools]

    @property
    def input_tools(self) -> list[dict[str, Any]]:
        """The tools as Messages requests declare them."""
        declared = self.dialogue["tools"]
        return [
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
            for tool in declared
        ]

    @property
    def options(self) -> dict[str, Any]:
        """`parallel_tool_calls`, if the dialogue says anything of it."""
        parallel = self.dialogue["parallel"]
        return {} if parallel is None else {"parallel_tool_calls": parallel}


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call: its arguments as JSON, and as text where the client keeps it."""

    id: str
    name: str
    arguments: Any
    raw: str | None = None


@dataclass(frozen=True, kw_only=True)
class Turn:
    """An answer of the model; `finish` is the client's word for how it ended, `usage` is (input, output) in tokens.

    None: the client does not tell.
    """

    text: str
    finish: str | None
    usage: tuple[int, int] | None
    calls: list[Call]


def main(ways: Mapping[str, Callable[[Play], list[Turn]]]) -> None:
    """Play all dialogues of stdin in the way that the command line names."""
    job = json.load(sys.stdin)
    dialogues = job.pop("dialogues")
    played = [_played(ways[sys.argv[1]], Play({**job, "url": dialogue["url"]}, dialogue)) for dialogue in dialogues]
    sys.stdout.write(json.dumps(played))


def _played(way: Callable[[Play], list[Turn]], play: Play) -> dict[str, Any]:
    try:
        turns = way(play)
    except Exception:  # noqa: BLE001 - whatever a client raises is what the test wants to show
        return {"error": traceback.format_exc()}
    notes = {"ran": play.ran, "pieces": play.pieces, "parsed": play.parsed}
    return {"turns": [asdict(turn) for turn in turns], **notes}
