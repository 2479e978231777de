"""A proxy in front of `codex exec`: each request is a run; a choice is the last message. Text alone, no tools."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import time
from typing import Any

STREAM_HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
CODEX = os.environ.get("CODEX_BIN", "codex")


Json = dict[str, Any]


def said(messages: list[Json], *roles: str) -> str:
    """The texts of messages of these roles, the speaker named where there are several."""
    kept = [one for one in messages if one["role"] in roles]
    named = "user" in roles and len(kept) > 1
    return "\n\n".join((f"{one['role']}: " if named else "") + text_of(one.get("content")) for one in kept)


def text_of(content: object) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return str(content or "")


def run(messages: list[Json]) -> tuple[str, Json, str | None]:
    """The last message, the usage, and why the turn failed."""
    command = [CODEX, "exec", "--json", "--skip-git-repo-check", "--ephemeral"]
    system = said(messages, "system", "developer")
    if system:
        command += ["-c", f"developer_instructions={json.dumps(system)}"]
    prompt = said(messages, "user", "assistant", "tool")
    done = subprocess.run([*command, "-"], input=prompt, capture_output=True, text=True, check=False)
    events = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
    texts = [event["item"]["text"] for event in events if event.get("item", {}).get("type") == "agent_message"]
    usage: Json = next((event["usage"] for event in events if event["type"] == "turn.completed"), {})
    failed = next((event["error"]["message"] for event in events if event["type"] == "turn.failed"), None)
    return (texts or [""])[-1], usage, failed if done.returncode else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.reply(200, {"object": "list", "data": [{"id": "codex", "object": "model", "created": 1, "owned_by": "x"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text, usage, failed = run(asked["messages"])
        if failed is not None:
            error = {"message": failed, "type": "server_error", "param": None, "code": None}
            self.reply(502, {"error": error})
            return
        whole = {"id": f"chatcmpl-{time.time_ns()}", "created": int(time.time()), "model": asked["model"]}
        if asked.get("stream"):
            self.stream(whole, text)
            return
        given, made = usage.get("input_tokens", 0), usage.get("output_tokens", 0)
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        counts = {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
        self.reply(200, {**whole, "object": "chat.completion", "choices": [choice], "usage": counts})

    def stream(self, whole: Json, text: str) -> None:
        self.send_response(200)
        for name, value in STREAM_HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        for delta, finish in (({"role": "assistant"}, None), ({"content": text}, None), ({}, "stop")):
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            chunk = {**whole, "object": "chat.completion.chunk", "choices": [choice]}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def reply(self, status: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: object) -> None:
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
