"""A fault: one way in which a proxy can break one requirement, as a change of what the proxy sends or receives.

The reference proxy stays as it is; a fault wraps its WSGI application. Most faults are a change of the frames of a
stream, of the body of a whole answer, of the request, or of the response's status and headers. A frame is a dict (the
JSON of a `data:` line), a str (other data, as `[DONE]`) or bytes (anything else, as comments).
"""

from __future__ import annotations

import io
import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]
Frame = Json | str | bytes
Headers = list[tuple[str, str]]

CLIENT_KEY = "wireproof_proxy.client"
"""Where in the WSGI environment the proxy finds whether the client has left."""
CONNECTION_KEY = "wireproof_proxy.connection"
"""Where it finds what is the same for all requests over one connection."""
MODE_HEADER = "x-proxy-output-mode"
OPENAI_JSON, OBSIDIAN_XML, FUNCTION_CALL = "openai-json", "obsidian-xml", "function-call"
RESPONSES = "responses"
MESSAGES = "messages"
WITH_MESSAGES = (OPENAI_JSON, OBSIDIAN_XML, FUNCTION_CALL, MESSAGES)
"""For what a proxy does wrong whatever the form of its answers is."""
DONE = "[DONE]"
"""The last data of a stream of chat."""
# In the bytes, so that it is found in bodies that are no JSON, too.
_SCRIPT = re.compile(rb"\[\[wireproof:([A-Za-z0-9._/-]+)#")


@dataclass(frozen=True, kw_only=True)
class FaultHead:
    """Status line and headers of a response."""

    status: str
    headers: Headers

    @property
    def code(self) -> int:
        """The status as a number."""
        return int(self.status.split()[0])

    @property
    def of_stream(self) -> bool:
        """Whether it is the head of a stream."""
        return any(name.lower() == "content-type" and "event-stream" in value for name, value in self.headers)

    def without(self, *names: str) -> FaultHead:
        """The head without these headers, whose names are given in lower case."""
        return replace(self, headers=[one for one in self.headers if one[0].lower() not in names])

    def with_header(self, name: str, value: str) -> FaultHead:
        """The head with this header, which takes the place of those of its name."""
        return replace(self, headers=[*self.without(name.lower()).headers, (name, value)])


@dataclass(frozen=True, kw_only=True)
class SentRequest:
    """A request as the client sent it; names of headers are lower-case."""

    method: str
    path: str
    body: bytes
    key: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def json(self) -> Any:  # noqa: ANN401 (JSON)
        """The body's JSON; None when it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def streamed(self) -> bool:
        """Whether it asks for a stream."""
        return b'"stream": true' in self.body

    @property
    def script(self) -> str:
        """The script that the request's last marker names, "" without one."""
        scripts: list[bytes] = _SCRIPT.findall(self.body)
        # The last, since a conversation repeats the markers of its earlier turns.
        return scripts[-1].decode() if scripts else ""

    @property
    def dialect(self) -> str:
        """The dialect that the request asks for."""
        if "/responses" in self.path:
            return RESPONSES
        # Models are asked for on one route by clients of all surfaces.
        if "/messages" in self.path or "anthropic-version" in self.headers:
            return MESSAGES
        # As the proxy decides it: with `tools`, `functions` does not count.
        if b'"functions":' in self.body and b'"tools":' not in self.body:
            return FUNCTION_CALL
        return self.headers.get(MODE_HEADER, OBSIDIAN_XML)  # the reference proxy's default


Frames = Callable[[Iterable[Any], SentRequest], Iterator[Frame]]
"""A change of the frames of a stream."""
Bodies = Callable[[Json, SentRequest, FaultHead], Json]
"""A change of the JSON of a response that is not a stream."""
Heads = Callable[[FaultHead, SentRequest], FaultHead]
"""A change of status and headers."""
Environ = dict[str, Any]
"""The WSGI environment of a request."""


def put_body(environ: Environ, body: bytes) -> None:
    """Put a body into a request, in place of its own."""
    environ["wsgi.input"], environ["CONTENT_LENGTH"] = io.BytesIO(body), str(len(body))


def own_id(prefix: str) -> str:
    """An id that no other answer has: of those that a proxy gives away, an answer that a fault makes has none."""
    return f"{prefix}{secrets.token_hex(12)}"


@dataclass(frozen=True, kw_only=True)
class FaultReply:
    """A response that the proxy did not make."""

    head: FaultHead
    body: bytes


def json_reply(status: str, body: Json, *more: tuple[str, str]) -> FaultReply:
    """A response with a JSON body, and more headers than its type and length."""
    data = json.dumps(body).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(data))), *more]
    return FaultReply(head=FaultHead(status=status, headers=headers), body=data)


@dataclass(frozen=True, kw_only=True)
class NeverAnswer:
    """No answer, until the client leaves."""


@dataclass(frozen=True, kw_only=True)
class MiniatureExit:
    """The end of the process, so that of every miniature that it serves."""

    status: int
    last_words: str
    """What it writes to stderr before."""


Instead = FaultReply | NeverAnswer | MiniatureExit
"""What happens to a request instead of an answer of the proxy."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault."""

    name: str
    """What a developer did wrong."""
    breaks: str
    """The requirement that the fault breaks."""
    frames: Frames | None = None
    """Changes the frames of a stream."""
    whole: Bodies | None = None
    """Changes the JSON of a response that is not a stream."""
    request: Callable[[Json], Json] | None = None
    """Changes the JSON of the request, before the proxy reads it."""
    head: Heads | None = None
    """Changes status and headers, after the body is known."""
    environ: Callable[[Environ], None] | None = None
    """Changes the WSGI environment: the request's headers, or the bytes of its body."""
    instead: Callable[[SentRequest, int], Instead | None] | None = None
    """What happens instead of the answer to the request of this number, counted from 1; None: the proxy answers."""
    salvage: Callable[[Json], list[Frame]] | None = None
    """Makes the frames of a stream out of an error body whose status `head` has lowered."""
    ignores_disconnect: bool = False
    """Whether the proxy does not notice that its client has left."""
    body_open: bool = False
    """Whether the body is held open after its last frame."""
    dialects: tuple[str, ...] = ()
    """The dialects in whose answers the fault shows; none named: those of chat."""
    scripts: tuple[str, ...] = ()
    """The scripts whose answers show the fault: it stands for a proxy that cannot do just that. None named: all."""
    in_turns: bool = False
    """Whether the fault shows only where a script is asked for. Many other requests are wrong, and the errors that
    answer them have rows of their own (param.*), which a request that was changed would break, too."""

    def touches(self, request: SentRequest) -> bool:
        """Whether the fault shows in the answer to a request."""
        # Most faults are of chunks, which only chat has.
        of_chat = request.dialect not in {RESPONSES, MESSAGES}
        in_dialect = request.dialect in self.dialects if self.dialects else of_chat
        in_script = not self.scripts or request.script in self.scripts
        return in_dialect and in_script and not (self.in_turns and not request.script)


def fault_below(rows: str, name: str, rest: str, **fields: Any) -> Fault:  # noqa: ANN401 (the fields of Fault)
    """A fault that breaks the requirement `rows` + `rest`; modules of many such faults bind what these share."""
    return Fault(name=name, breaks=rows + rest, **fields)
