"""The tools of a dialogue for agents, which take theirs from such servers: MCP on standard input and output.

`python tool_server.py TOOLS RAN`: the file TOOLS has the tools as JSON, and RAN gets a line for each that ran.
"""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# The package `mcp` needs a second to be imported, at each of some hundred runs.
TOOLS, RAN = map(Path, sys.argv[1:])
DECLARED: list[dict[str, Any]] = json.loads(TOOLS.read_text(encoding="utf-8"))


def answer(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    match method:
        case "initialize":
            server = {"name": "wireproof", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            # Or agents ask a person first.
            kind = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}
            tools = [
                {
                    "name": one["name"],
                    "description": one["description"],
                    "inputSchema": one["parameters"],
                    "annotations": kind,
                }
                for one in DECLARED
            ]
            return {"tools": tools}
        case "tools/call":
            ran = {"name": params["name"], "arguments": params.get("arguments") or {}}
            with RAN.open("a", encoding="utf-8") as file:
                file.write(json.dumps(ran) + "\n")
            result = next(one["result"] for one in DECLARED if one["name"] == params["name"])
            return {"content": [{"type": "text", "text": result}]}
        case _:
            return {}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and "method" in asked:
        result = answer(asked["method"], asked.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)  # noqa: T201 - a program
