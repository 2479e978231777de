"""A fault: one way in which a proxy can break one requirement, as a change of what the reference proxy says or hears.

The reference proxy stays as it is; a fault wraps its WSGI application. Most faults are a change of the frames of a
stream, of the body of a whole answer, of the request, or of the response's status and headers. A frame is a dict (the
JSON of a `data:` line), a str (other data, as `[DONE]`) or bytes (anything else, as comments).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

Json = dict[str, Any]
Frame = Json | str | bytes
Headers = list[tuple[str, str]]

MODE_HEADER = "x-proxy-output-mode"
OPENAI_JSON, OBSIDIAN_XML, FUNCTION_CALL = "openai-json", "obsidian-xml", "function-call"
RESPONSES = "responses"
DONE = "[DONE]"
"""The last data of a stream of chat."""
_SCRIPT = re.compile(rb"\[\[assay:([A-Za-z0-9._/-]+)#")


@dataclass(frozen=True, kw_only=True)
class Head:
    """Status line and headers of a response."""

    status: str
    headers: Headers

    @property
    def code(self) -> int:
        """The status as a number."""
        return int(self.status.split()[0])


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """What a fault may know of the exchange that it spoils, as the client sent it; names of headers are lower-case."""

    method: str
    path: str
    body: bytes
    key: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def script(self) -> str:
        """The script that the request's last marker asks for, "" without one."""
        scripts: list[bytes] = _SCRIPT.findall(self.body)
        return scripts[-1].decode() if scripts else ""

    @property
    def dialect(self) -> str:
        """The dialect that the request asks for."""
        if "/responses" in self.path:
            return RESPONSES
        if b'"functions":' in self.body and b'"tools":' not in self.body:
            return FUNCTION_CALL
        return self.headers.get(MODE_HEADER, OBSIDIAN_XML)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault, by a name that says what a developer did wrong, and the requirement that it breaks.

    `frames` changes a stream, `whole` the JSON of any other response, `asked` the request's JSON, `head` status
    and headers (after the body is known), `heard` the raw request headers. `salvage` makes the frames of a stream out
    of an error body whose status `head` has lowered. `deaf`: the client's departure is not noticed. `body_open`: the
    body is held open after its last frame. Where `dialects` or `scripts` are named, the fault shows only in answers of
    these dialects, or to requests whose marker asks for these scripts: it stands for a proxy that cannot do just that.
    Where no dialect is named, those of chat are meant.
    """

    name: str
    breaks: str
    frames: Callable[[Iterable[Frame], Exchange], Iterator[Frame]] | None = None
    whole: Callable[[Json, Exchange, Head], Json] | None = None
    asked: Callable[[Json], Json] | None = None
    head: Callable[[Head, Exchange], Head] | None = None
    heard: Callable[[dict[str, Any]], None] | None = None
    salvage: Callable[[Json], list[Frame]] | None = None
    deaf: bool = False
    body_open: bool = False
    dialects: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()

    def touches(self, exchange: Exchange) -> bool:
        """Whether the fault shows in an exchange."""
        spoken = exchange.dialect in self.dialects if self.dialects else exchange.dialect != RESPONSES
        return spoken and (not self.scripts or exchange.script in self.scripts)
