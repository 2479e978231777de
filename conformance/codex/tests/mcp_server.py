"""An MCP server on stdio with two tools that bring what they are sent: `echo`, and `fail`, which calls it an error."""

from __future__ import annotations

import json
import sys
from typing import Any

_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_READS = {"readOnlyHint": True}  # else later versions ask the client before they call
_TOOLS = [
    {"name": name, "description": "Brings its text.", "inputSchema": _SCHEMA, "annotations": _READS}
    for name in ("echo", "fail")
]


def _result(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            server = {"name": "mini", "version": "1"}
            version = params["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            return {"tools": _TOOLS}
        case "tools/call":
            content = [{"type": "text", "text": f"echo: {params['arguments']['text']}"}]
            return {"content": content, "isError": params["name"] == "fail"}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = _result(request["method"], request.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
