"""OpenCode: it declares its tools with every request, and goes on until an answer has no call.

Its files are a table in memory, so that nothing outside can be read or written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_mocks.personas.canned import Canned, function
from wireproof_mocks.personas.persona import Persona
from wireproof_mocks.personas.ways import ToolCalls

if TYPE_CHECKING:
    from wireproof_mocks.personas.answer import Json
    from wireproof_mocks.personas.line import Print
    from wireproof_mocks.personas.persona import Wishes

TOOLS = (
    function("bash", "Run a command.", "command", command="string", description="string"),
    function(
        "edit", "Replace text in a file.", "filePath", "oldString", "newString",
        filePath="string", oldString="string", newString="string",
    ),
    function("glob", "Find files by name.", "pattern", pattern="string"),
    function("grep", "Find files by content.", "pattern", pattern="string"),
    function("read", "Read a file.", "filePath", filePath="string"),
    function("write", "Write a file.", "filePath", "content", filePath="string", content="string"),
)  # fmt: skip


def _toolbox(wishes: Wishes, print_: Print) -> Canned:
    del wishes, print_
    files = {"README.md": "# Readme\n"}

    def read(arguments: Json) -> str:
        path = arguments["filePath"]
        if path not in files:
            return f"Error: File not found: {path}"
        lines = files[path].splitlines()
        return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1))

    def write(arguments: Json) -> str:
        files[arguments["filePath"]] = arguments["content"]
        return "Wrote file successfully."

    return Canned(tools=TOOLS, runs={"read": read, "write": write})


OPENCODE = (
    Persona(
        name="opencode",
        title="OpenCode, as the text opencode-cursor has it",
        does="declares its tools with every request: reads a file, writes it, gets a text",
        way=ToolCalls(
            more={"max_tokens": 32000, "tool_choice": "auto", "stream_options": {"include_usage": True}},
        ),
        script="persona/opencode",
        system="You are a coding agent in a terminal.",
        prompt="Read README.md and add a line to it.",
        toolbox=_toolbox,
    ),
)
