"""A proxy in front of Cursor's service that writes the whole history into the user's text, and has call ids of its own.

    python flattening_proxy.py SERVICE_URL SPELLING    prints its base URL, and serves until it is stopped

Chat Completions, streamed and whole. What the service asks for becomes a call of the client's tool; then the session is
given up, and the results come with the next request, as text.
"""

from __future__ import annotations

import itertools
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from cursor_agents import RunSSE, run_request, tool
from google.protobuf.json_format import MessageToDict

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
SPELLINGS = {
    "behind roles": (
        "{name}: {text}",
        "Assistant: [Called tool: {name}({arguments})]",
        "[Tool result for {id}]: {text}",
    ),
    "without ids": ("{name}: {text}", "Assistant: [Called tool: {name}({arguments})]", "Tool: {text}"),
    "without calls": ("{name}: {text}", "", "User: [tool:{id}] {text}"),
    "headings": ("### {name}\n{text}", "### Tool call ({id})\n{name} {arguments}", "### Tool result ({id})\n{text}"),
    "elements": (
        "<{name}>\n{text}\n</{name}>",
        '<tool_call id="{id}" name="{name}">{arguments}</tool_call>',
        '<tool_result id="{id}">\n{text}\n</tool_result>',
    ),
}
"""How a text, a call and a result are written."""


def flattened(messages: list[Json], spelling: str) -> str:
    """The messages as one text."""
    said, called, result = SPELLINGS[spelling]
    lines: list[str] = []
    for message in messages:
        content = message.get("content") or ""
        text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
        if message["role"] == "tool":
            lines.append(result.format(id=message["tool_call_id"], text=text))
        elif text:
            lines.append(said.format(name=message["role"].capitalize(), text=text))
        lines += [called.format(id=call["id"], **call["function"]) for call in message.get("tool_calls", ())]
    return "\n\n".join(filter(None, lines))


_numbers = itertools.count()


def deltas(service: str, body: Json, spelling: str) -> Iterator[Json]:
    """What the service answers, as deltas: of text, or of one call, which ends the answer."""
    tools = [tool(one["function"]["name"]) for one in body.get("tools", ())]
    with RunSSE(service) as agent:
        agent.send(run_request(flattened(body["messages"], spelling), tools=tools))
        while (message := agent.message()) is not None:
            update = message.interaction_update
            if update.HasField("text_delta"):
                yield {"content": update.text_delta.text}
            elif update.HasField("turn_ended"):
                return
            elif message.HasField("exec_server_message"):
                yield {
                    "tool_calls": [
                        {"index": 0, "id": f"own_{next(_numbers)}", "type": "function", "function": asked(message)}
                    ]
                }
                return
        yield {"content": f"\n[error: {agent.error()!r}]"}


def asked(message: Any) -> Json:
    """The function that the service asks for."""
    request = message.exec_server_message
    if request.HasField("mcp_args"):
        args = {key: MessageToDict(value) for key, value in request.mcp_args.args.items()}
        return {"name": request.mcp_args.tool_name, "arguments": json.dumps(args)}
    return {"name": "read", "arguments": json.dumps({"filePath": request.read_args.path})}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer({"object": "list", "data": [{"id": "auto", "object": "model", "created": 0, "owned_by": "x"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        head = {"id": "chatcmpl-1", "created": 0, "model": body["model"]}
        parts = deltas(sys.argv[1], body, sys.argv[2])
        if not body.get("stream"):
            found = list(parts)
            calls = [call for part in found for call in part.get("tool_calls", ())]
            text = "".join(part.get("content", "") for part in found)
            message = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
            reason = "tool_calls" if calls else "stop"
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self.answer({**head, "object": "chat.completion", "choices": [choice]})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        reason = "stop"
        for part in ({"role": "assistant"}, *parts):
            reason = "tool_calls" if "tool_calls" in part else reason
            self.send_chunk(head, part, None)
        self.send_chunk(head, {}, reason)
        self.wfile.write(b"data: [DONE]\n\n")

    def send_chunk(self, head: Json, delta: Json, reason: str | None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        chunk = {**head, "object": "chat.completion.chunk", "choices": [choice]}
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.flush()

    def answer(self, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing: the output has the address alone."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}/v1\n")
    sys.stdout.flush()
    server.serve_forever()
