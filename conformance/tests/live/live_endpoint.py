"""An endpoint with the small model behind it: chat completions and Responses, whole and streamed, over HTTP.

Written for itself, with no parser or writer of the suite or of the reference proxy. Each endpoint is a path of one
server, `/<name>/v1`; a `Defect` changes what one does at the place that it names.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import socketserver
import threading
import time
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from live_model import Call, Json, Prompt, Said, Temper, answer, chat_prompt, cut_up, response_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from io import BufferedIOBase

KEY = "sk-live-endpoint-1"
MODEL = "small-model"
EMBEDDER = "small-embedder"
"""A model that is listed, and does not chat."""
ROLES = {"system", "developer", "user", "assistant", "tool"}
ALLOWED = {"Origin": "*", "Methods": "GET, POST", "Headers": "authorization, content-type, x-stainless-lang"}
Events = list[Any]
"""Objects of a stream; text is written as it stands."""
HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
    "Connection": "keep-alive",
}


def same(value: Any) -> Any:
    return value


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """How an endpoint answers. Each field but the first is a change of what a good one does."""

    name: str
    request: Callable[[Json], Json] = same
    """The body as the endpoint reads it."""
    prompt: Callable[[Prompt], Prompt] = same
    """What of it reaches the model."""
    thinks: Callable[[list[Said]], list[Said]] = same
    """What the model says, with what it thinks."""
    said: Callable[[list[Said]], list[Said]] = same
    """What of its answer comes back."""
    streamed_said: Callable[[list[Said]], list[Said]] = same
    """The same in streams of responses."""
    temper: Temper = str
    lazy: bool = False
    """The model obeys at the second try only."""
    seed: int | None = None
    """With one, the model has moods, which follow from it."""
    pause: float = 0.0
    """Seconds before each token of a stream."""
    whole: Callable[[Json], Json] = same
    """A chat.completion."""
    chunks: Callable[[Events], Events] = same
    """The chunks of a stream."""
    response: Callable[[Json], Json] = same
    """A response, whole or in the last event."""
    only_whole: Callable[[Json], Json] = same
    """A response that is a whole answer."""
    events: Callable[[Events], Events] = same
    """The events of a response's stream."""
    raw: Callable[[bytes], bytes] = same
    """The bytes of a stream's body."""
    text: Callable[[bytes], bytes] = same
    """The bytes of a whole answer's body."""
    headers: Callable[[Json], Json] = same
    """The headers of a stream."""
    error: Callable[[int, Json], tuple[int, Json]] = lambda status, body: (status, body)
    """An error's status and body."""
    swaps: bool = False
    """Texts that are asked for at the same time get each other's answers."""
    any_model: bool = False
    """A model that does not exist is answered for, too."""
    stores: bool = True
    """Responses are kept, to be continued."""
    cut: bool = False
    """Streams break off before their last frame."""
    models: Callable[[Json], Json] = same
    finds_listed: bool = True
    """Each model of the list is found by its name."""
    allows: Mapping[str, str] = field(default_factory=lambda: dict(ALLOWED))
    """What it answers to a browser's question, by the end of the header's name."""
    serves: tuple[str, ...] = ("/chat/completions", "/responses")


class RefusedError(Exception):
    def __init__(self, status: int, message: str, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


@dataclass(kw_only=True)
class _Slot:
    """What is said to a request that waits for another one."""

    mine: list[Said]
    theirs: list[Said] | None = None


@dataclass
class State:
    """What an endpoint remembers: how often it was asked the same, and its last number."""

    asked: dict[bytes, int] = field(default_factory=dict)
    kept: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    waiting: _Slot | None = None
    lock: threading.Condition = field(default_factory=threading.Condition)

    def swapped(self, mine: list[Said]) -> list[Said]:
        """What is said to another request that comes meanwhile, which gets this; the same where none comes."""
        with self.lock:
            if (other := self.waiting) is not None:
                self.waiting, other.theirs = None, mine
                self.lock.notify_all()
                return other.mine
            slot = self.waiting = _Slot(mine=mine)
            self.lock.wait_for(lambda: slot.theirs is not None, timeout=1)
            if self.waiting is slot:
                self.waiting = None
            return slot.theirs or mine


@dataclass
class Server:
    """The endpoints of one server, by name."""

    endpoints: Mapping[str, Endpoint]
    port: int = 0
    states: dict[str, State] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}/v1"


@contextlib.contextmanager
def serving(*endpoints: Endpoint) -> Iterator[Server]:
    server = Server({one.name: one for one in endpoints})

    class Handler(socketserver.StreamRequestHandler):
        disable_nagle_algorithm = True

        def handle(self) -> None:
            with contextlib.suppress(ConnectionError):
                while line := self.rfile.readline():
                    _Answering(server, self, line.decode()).run()

    class Threads(socketserver.ThreadingTCPServer):
        daemon_threads = True
        request_queue_size = 128
        allow_reuse_address = True

    with Threads(("127.0.0.1", 0), Handler) as threads:
        server.port = threads.server_address[1]
        thread = threading.Thread(target=threads.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            threads.shutdown()
            thread.join()


class _Answering:
    """One request and its answer."""

    def __init__(self, server: Server, handler: socketserver.StreamRequestHandler, line: str) -> None:
        self.server, self.wfile = server, handler.wfile
        self.method, path = line.split()[:2]
        self.headers: dict[str, str] = {}
        while line := handler.rfile.readline().decode().strip():
            name, _, value = line.partition(":")
            self.headers[name.lower()] = value.strip()
        length = int(self.headers.get("content-length", 0))
        self.in_chunks = "transfer-encoding" in self.headers
        self.body = b"".join(_chunks_of(handler.rfile)) if self.in_chunks else handler.rfile.read(length)
        _, name, _version, *rest = path.split("/")
        self.endpoint, self.path = server.endpoints[name], "/" + "/".join(rest)
        self.state = server.states.setdefault(name, State())
        server.requests[name] = server.requests.get(name, 0) + 1

    def run(self) -> None:
        try:
            self._answer()
        except RefusedError as refused:
            status, body = self.endpoint.error(refused.status, refused.body)
            self._json(status, body)

    def _answer(self) -> None:
        if self.path not in {*self.endpoint.serves, "/models"} and not self.path.startswith("/models/"):
            raise RefusedError(404, f"there is nothing at {self.path}")
        if self.method == "OPTIONS":
            self._allow()
            return
        if self.headers.get("authorization") != f"Bearer {KEY}":
            raise RefusedError(401, "this key is not known", code="invalid_api_key")
        if self.method != ("GET" if self.path.startswith("/models") else "POST"):
            raise RefusedError(405, f"{self.path} does not take {self.method}")
        models = [
            {"id": name, "object": "model", "created": 1_750_000_000, "owned_by": "tests"} for name in (MODEL, EMBEDDER)
        ]
        if self.path == "/models":
            self._json(200, self.endpoint.models({"object": "list", "data": models}))
            return
        if self.path.startswith("/models/"):
            served = models if self.endpoint.finds_listed else models[:1]
            found = next((one for one in served if self.path == f"/models/{one['id']}"), None)
            if found is None:
                raise RefusedError(404, "there is no such model", "model", "model_not_found")
            self._json(200, found)
            return
        body = _checked(self.body, self.path)
        if body["model"] != MODEL and not self.endpoint.any_model:
            raise RefusedError(404, "there is no such model", "model", "model_not_found")
        body = self.endpoint.request(body)
        (self._chat if self.path == "/chat/completions" else self._respond)(body)

    def _allow(self) -> None:
        lines = "".join(f"Access-Control-Allow-{name}: {value}\r\n" for name, value in self.endpoint.allows.items())
        self.wfile.write(f"HTTP/1.1 204 X\r\n{lines}\r\n".encode())

    def _said(self, prompt: Prompt) -> list[Said]:
        times = self.state.asked[self.body] = self.state.asked.get(self.body, 0) + 1
        temper = self.endpoint.temper
        if self.endpoint.lazy and times % 2:
            temper = lambda text: f"Well, {text}"  # noqa: E731
        ids = (f"call_{next(self.state.numbers)}x" for _ in itertools.count())
        seed = self.endpoint.seed
        chance = None if seed is None else Random(f"{seed} {times} {self.body!r}")  # noqa: S311 (no secret)
        said = self.endpoint.thinks(answer(self.endpoint.prompt(prompt), ids, temper, chance))
        name = self.endpoint.name
        total = prompt.tokens + sum(one.tokens for one in said)
        self.server.tokens[name] = self.server.tokens.get(name, 0) + total
        is_text = not prompt.tools and prompt.schema is None and prompt.n == 1
        return self.state.swapped(said) if self.endpoint.swaps and is_text else said

    def _chat(self, body: Json) -> None:
        prompt = chat_prompt(body)
        said = self._said(prompt)
        usage = _usage(self.endpoint.prompt(prompt), said, "prompt", "completion")
        said = self.endpoint.said(said)
        head = {"id": f"chatcmpl-{next(self.state.numbers)}", "created": int(time.time()), "model": prompt.model}
        if prompt.stream:
            self._stream(
                [
                    json.dumps(one) if isinstance(one, dict) else one
                    for one in self.endpoint.chunks(
                        _chunks(head, said, usage if prompt.usage else None, logprobs=prompt.logprobs)
                    )
                ],
                named=False,
            )
            return
        choices = [
            {
                "index": number, "message": _message(one), "finish_reason": one.finish,
                **({"logprobs": _logprobs(cut_up(one.text or ""))} if prompt.logprobs else {}),
            }
            for number, one in enumerate(said)
        ]  # fmt: skip
        self._json(200, self.endpoint.whole({**head, "object": "chat.completion", "choices": choices, "usage": usage}))

    def _respond(self, body: Json) -> None:
        prompt = response_prompt(body)
        before = self.state.kept.get(body.get("previous_response_id") or "", [])
        prompt = dataclasses.replace(prompt, messages=[*before, *prompt.messages])
        (said,) = self._said(prompt)
        usage = _usage(self.endpoint.prompt(prompt), [said], "input", "output")
        (said,) = self.endpoint.said([said])
        if prompt.stream:
            (said,) = self.endpoint.streamed_said([said])
        made = _response(body, next(self.state.numbers), said, usage)
        if self.endpoint.stores:
            self.state.kept[made["id"]] = [*prompt.messages, ("assistant", said.text or "")]
        if prompt.stream:
            events = self.endpoint.events(_events(self.endpoint.response(made)))
            self._stream([json.dumps(one) if isinstance(one, dict) else one for one in events], named=True)
        else:
            self._json(200, self.endpoint.only_whole(self.endpoint.response(made)))

    def _json(self, status: int, body: Json) -> None:
        data = json.dumps(body).encode()
        data = self.endpoint.text(data) if status == 200 else data
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        self.wfile.write(head.encode() + data)

    def _stream(self, frames: list[str], *, named: bool) -> None:
        headers = self.endpoint.headers(dict(HEADERS))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.wfile.write(f"HTTP/1.1 200 OK\r\n{lines}Transfer-Encoding: chunked\r\n\r\n".encode())
        if self.endpoint.cut:
            frames = frames[:-1]
        written = [self.endpoint.raw(_frame(one, named=named)) for one in frames]
        # As one write where nothing is to be waited for: a system call for each frame costs more than all else.
        for data in written if self.endpoint.pause else [b"".join(written)]:
            if self.endpoint.pause:
                time.sleep(self.endpoint.pause)
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        if self.endpoint.cut:
            raise ConnectionAbortedError
        self.wfile.write(b"0\r\n\r\n")


def _frame(data: str, *, named: bool) -> bytes:
    event = f"event: {json.loads(data)['type']}\n" if named and data.startswith("{") and '"type"' in data else ""
    return f"{event}data: {data}\n\n".encode()


RIGHT: Mapping[str, Callable[[Any], bool]] = {
    "n": lambda value: isinstance(value, int) and value > 0,
    "stream": lambda value: isinstance(value, bool),
    "max_tokens": lambda value: isinstance(value, int) and value > 0,
    "tools": lambda value: isinstance(value, list),
    "temperature": lambda value: 0 <= value <= 2,
}
"""Members of a request that may be left out → what is right."""


def _checked(raw: bytes, path: str) -> Json:
    """The body of a request that may be answered."""
    try:
        body = json.loads(raw)
    except ValueError:
        raise RefusedError(400, "the body is not JSON") from None
    if not isinstance(body, dict):
        raise RefusedError(400, "the body is no object")
    wrong = next(_wrong(body, "messages" if path == "/chat/completions" else "input"), None)
    if wrong:
        raise RefusedError(400, f"{wrong} is not right", wrong)
    return body


def _wrong(body: Json, member: str) -> Iterator[str]:
    """The members of a request that are wrong."""
    yield from (name for name in ("model", member) if not body.get(name))
    for number, message in enumerate(body.get("messages", ())):
        if message.get("role") not in ROLES:
            yield f"messages[{number}].role"
    yield from (name for name, fits in RIGHT.items() if name in body and not fits(body[name]))
    choice, tools = body.get("tool_choice", "auto"), body.get("tools") or ()
    named = (choice.get("function") or choice)["name"] if isinstance(choice, dict) else None
    names = [(tool.get("function") or tool)["name"] for tool in tools]
    if (choice == "required" and not names) or named not in {None, *names}:
        yield "tool_choice"


def _usage(prompt: Prompt, said: list[Said], before: str, after: str) -> Json:
    sent, made = prompt.tokens, sum(one.tokens for one in said)
    # A call that is cut to its limit does not happen here; the limit of a choice is kept by the model.
    return {
        f"{before}_tokens": sent,
        f"{before}_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        f"{after}_tokens": made,
        f"{after}_tokens_details": {"reasoning_tokens": sum(one.hidden for one in said)},
        "total_tokens": sent + made,
    }


def _call(call: Call) -> Json:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _message(said: Said) -> Json:
    calls = {"tool_calls": [_call(call) for call in said.calls]} if said.calls else {}
    return {"role": "assistant", "content": said.text, "refusal": None, **calls}


def _logprobs(tokens: list[str]) -> Json:
    entries: list[Json] = [{"token": token, "logprob": -0.25, "bytes": None, "top_logprobs": []} for token in tokens]
    return {"content": entries, "refusal": None}


def _chunks_of(body: BufferedIOBase) -> Iterator[bytes]:
    """The chunks of a request's body."""
    while size := int(body.readline(), 16):
        yield body.read(size)
        body.readline()
    body.readline()


def _chunks(head: Json, said: list[Said], usage: Json | None, *, logprobs: bool) -> Events:
    def chunk(choices: list[Json], **more: Any) -> Json:
        return {**head, "object": "chat.completion.chunk", "choices": choices, **more}

    def delta(number: int, delta: Json, finish: str | None = None) -> Json:
        spoken = _logprobs([delta["content"]]) if logprobs and delta.get("content") else None
        return chunk([{"index": number, "delta": delta, "logprobs": spoken, "finish_reason": finish}])

    chunks: Events = []
    for number, one in enumerate(said):
        chunks.append(delta(number, {"role": "assistant", "content": None if one.calls else ""}))
        chunks += [delta(number, {"content": token}) for token in cut_up(one.text or "")]
        for index, call in enumerate(one.calls):
            opening = {**_call(call), "index": index, "function": {"name": call.name, "arguments": ""}}
            chunks.append(delta(number, {"tool_calls": [opening]}))
            chunks += [
                delta(number, {"tool_calls": [{"index": index, "function": {"arguments": token}}]})
                for token in cut_up(call.arguments)
            ]
        chunks.append(delta(number, {}, one.finish))
    return [*chunks, *([chunk([], usage=usage)] if usage is not None else []), "[DONE]"]


def _response(body: Json, number: int, said: Said, usage: Json) -> Json:
    cut = said.finish == "length"
    status = "incomplete" if cut else "completed"
    output: list[Json] = []
    if said.text is not None:
        part = {"type": "output_text", "text": said.text, "annotations": []}
        output.append(
            {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": status, "content": [part]}
        )
    output += [
        {
            "type": "function_call", "id": f"fc_{number}_{index}", "call_id": call.id, "name": call.name,
            "arguments": call.arguments, "status": "completed",
        }
        for index, call in enumerate(said.calls)
    ]  # fmt: skip
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "model": body["model"],
        "output": output,
        "previous_response_id": body.get("previous_response_id"),
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "temperature": 1.0,
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": [{"description": None, "strict": True, **tool} for tool in body.get("tools") or ()],
        "top_p": 1.0,
        "metadata": {},
        "usage": usage,
    }


def _events(made: Json) -> Events:
    begun = {**made, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    events: list[Json] = [
        {"type": "response.created", "response": begun}, {"type": "response.in_progress", "response": begun},
    ]  # fmt: skip
    for index, item in enumerate(made["output"]):
        at = {"output_index": index}
        empty: Json = {"content": []} if item["type"] == "message" else {"arguments": ""}
        open_ = {**item, "status": "in_progress", **empty}
        events.append({"type": "response.output_item.added", **at, "item": open_})
        events += _item_events({**at, "item_id": item["id"]}, item)
        events.append({"type": "response.output_item.done", **at, "item": item})
    events.append({"type": f"response.{made['status']}", "response": made})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _item_events(at: Json, item: Json) -> Iterator[Json]:
    if item["type"] == "function_call":
        for token in cut_up(item["arguments"]):
            yield {"type": "response.function_call_arguments.delta", **at, "delta": token}
        yield {"type": "response.function_call_arguments.done", **at, "arguments": item["arguments"]}
        return
    for number, part in enumerate(item["content"]):
        here = {**at, "content_index": number}
        yield {"type": "response.content_part.added", **here, "part": {**part, "text": ""}}
        for token in cut_up(part["text"]):
            yield {"type": "response.output_text.delta", **here, "delta": token, "logprobs": []}
        yield {"type": "response.output_text.done", **here, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **here, "part": part}
