r"""What an error says: out of an answer, or out of what a process wrote before it ended.

Of an answer it is what is left without what differs from request to request: then two errors can be compared. Numbers,
ids, nonces, quoted values and what an error repeats of its request are masked; its names of fields are kept.

Of a process it is seldom the last line of stderr: Node ends with its version, Go and Rust with a trace, a runner with
"exit status 1". So the line is looked for by how each runtime begins its last report, and what stands around such a
report is passed over.

    'Error: no model\n    at main (a.js:1:2)\n\nNode.js v22.1.0'   →   'Error: no model'
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.wire.fields import JsonObject, json_object
from wireproof.wire.locating import strings_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LONGEST = 200
"""Characters of an error that a symptom keeps: what differs behind them is no other cause."""
MASK = "…"
"""What stands for a value that differs from request to request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What of a request an error about it may repeat."""

    fields: frozenset[str] = frozenset()
    """The names of its fields: a message that quotes one says what it is about."""
    texts: tuple[str, ...] = ()
    """The texts in it, long ones in front, each also as JSON spells it."""

    @classmethod
    def of(cls, request: bytes) -> Sent:
        """What the body of a request has."""
        body = json_object(request) or {}
        plain = {text for _, text in strings_in(body) if len(text) >= WORDS}
        spelt = {json.dumps(text, ensure_ascii=plainly)[1:-1] for text in plain for plainly in (True, False)}
        return cls(fields=frozenset(body), texts=tuple(sorted(plain | spelt, key=lambda one: (-len(one), one))))


WORDS = 12
"""Characters of a text of a request that an error is taken to repeat. A shorter one may be a word of its own."""


def said_in(body: bytes, sent: Sent) -> str:
    """What an error says: its envelope's words, the first complaint of a list, or the first line of any other body."""
    said = json_object(body) or {}
    error = said.get("error")
    if isinstance(error, dict):
        return in_envelope(error, sent)
    other = error or said.get("message") or said.get("detail")
    if isinstance(other, str):
        return _shortened(masked(other, sent))
    # The first alone: of several tools each has the same fault, and what else one request has is no other cause.
    complaint = next(_complaints(other), None) if isinstance(other, list) else None
    if complaint is None:
        lines = (line.strip() for line in _TAG.sub(" ", body.decode("utf-8", errors="replace")).splitlines())
        complaint = next(filter(None, lines), "")
    return masked(complaint, sent)


def _complaints(detail: list[object]) -> Iterator[str]:
    """What a list of faults says of each, as FastAPI and pydantic write them: where it is, not what was sent."""
    for one in detail:
        if isinstance(one, dict) and isinstance(one.get("msg"), str):
            where = one.get("loc")
            place = ".".join(map(str, where)) if isinstance(where, list) else ""
            yield f"{place}: {one['msg']}" if place else one["msg"]


def in_envelope(error: JsonObject, sent: Sent) -> str:
    """What the error object of OpenAI's envelope says: its message, with type, code and param where it has them."""
    named = [f"{name} {error[name]}" for name in ("type", "code", "param") if error.get(name)]
    message = _shortened(masked(str(error.get("message") or ""), sent))
    return f"{message} ({', '.join(named)})" if named else message


_SHOWN_VALUE = re.compile(r"\{[^{}]*[:,][^{}]*\}|\[[^\[\]]*\{…\}[^\[\]]*\]")
"""An object of a request that a message shows, and a list of such."""


def _shortened(message: str) -> str:
    """A message without the objects of the request that it shows."""
    shorter = _SHOWN_VALUE.sub("{…}", message)
    # One that is an object as a whole says what it says in there.
    return message if shorter in {message, "{…}"} else _shortened(shorter)


_TAG = re.compile(r"<style.*?</style>|<script.*?</script>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_EXCEPTION = re.compile(r"\b(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\b(?:: [^\n]*)?")
_TRACE = re.compile(r"Traceback \(most recent call last\)|\n\s+at [^\n]+:\d+")
"""What stands above or below an exception in Python and JavaScript."""


def exception_in(body: bytes) -> str:
    r"""The exception that a body shows with its trace; '' if it shows none."""
    text = body.decode("utf-8", errors="replace").replace("\\n", "\n")
    if not _TRACE.search(text):
        return ""
    # Python's stands below its trace, JavaScript's above.
    found: list[str] = _EXCEPTION.findall(text)
    return (found[-1] if "Traceback" in text else found[0]).rstrip('"}') if found else ""


_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'|`([^`]*)`|“([^”]*)”")
_CHANGING = re.compile(
    r"\[\[wireproof:[^\]]*\]\]|https?://\S+|\b[\w-]*\d[\w-]*\b|\b[0-9a-f]{8,}\b",
)


NOTHING_SENT = Sent()
"""Of a text that is about no request."""


def masked(text: str, sent: Sent = NOTHING_SENT) -> str:
    """A text without what differs from request to request: its texts, quoted values (but names of fields), ids."""

    def quoted(found: re.Match[str]) -> str:
        value = next(group for group in found.groups() if group is not None)
        # `messages[0].role` is about a field, too.
        return found.group() if re.split(r"[.\[]", value)[0] in sent.fields else f"“{MASK}”"

    for repeated in sent.texts:
        text = text.replace(repeated, MASK)
    plain = _CHANGING.sub(MASK, _QUOTED.sub(quoted, " ".join(text.split())))
    return plain[:LONGEST]


HEADS: Mapping[str, re.Pattern[str]] = {
    # The rest of a trace is indented; the error that ends it is not, and its message may go on in further lines.
    "Python": re.compile(r"^Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\S.*)", re.MULTILINE),
    "Python, a group": re.compile(r"^ *\+ Exception Group Traceback .*\n(?: *\|   .*\n)+ *\| (\S.*)", re.MULTILINE),
    "Python, a signal": re.compile(r"^(Fatal Python error: .*)", re.MULTILINE),
    # Below the line of source with its caret; an empty line stands between them unless what was thrown is no Error.
    "Node": re.compile(r"^[ \t]*\^+\n\n?(\S.*)", re.MULTILINE),
    "Node, no memory": re.compile(r"^(FATAL ERROR: .*)", re.MULTILINE),
    "Deno, Bun": re.compile(r"^(error: .+)\n(?: +at .*\n?)+", re.MULTILINE),
    "Go": re.compile(r"^((?:panic|fatal error): .*)", re.MULTILINE),
    "Rust": re.compile(r"^thread '.*?' (?:\(\d+\) )?panicked at .*:\d+:\d+:\n(.*)", re.MULTILINE),
    "Rust before 1.73": re.compile(r"^thread '.*?' panicked at ('.*)", re.MULTILINE),
    # The innermost cause stands last, and says more than those that were made of it.
    "JVM": re.compile(r'^(?:Exception in thread ".*?" |Caused by: )(\S.*)', re.MULTILINE),
    ".NET": re.compile(r"^Unhandled exception\. (\S.*)", re.MULTILINE),
    "Ruby": re.compile(r"^\S+:\d+:in .*?: (.* \([\w:]+\))$", re.MULTILINE),
    "PHP": re.compile(r"^(?:PHP )?(Fatal error: .*)", re.MULTILINE),
    "C++": re.compile(r"^terminate called after throwing .*\n\s+what\(\): +(.*)", re.MULTILINE),
}
"""Runtime → how its last report begins; the group is the error."""
MESSAGE = 8
"""Lines that a message may go on for. A report with more lines of its own behind it was not the last."""

_AROUND = re.compile(
    r"""
      \s*
    | \s+(at|from)\ .*                # a frame in JavaScript, on the JVM, in Rust, in .NET; in Ruby
    | \s+\.\.\.\ .*                   # frames that are left out
    | \s*(\d+:|\#\d+)\ .*            # a frame in Rust, a native one in Node; in PHP or C
    | \s+\S*\(.*\)\ called\ at\ .*    # a frame in Perl
    | \s+File\ ".*                    # a frame below "Fatal Python error"
    | \s+\S*\.go:\d+(\ .*)?           # a frame in Go, and its function:
    | [\w./*()-]+\(.*\)
    | (goroutine\ \d|created\ by\ |\[signal\ |Current\ thread\ |Thread\ 0x|Extension\ modules:).*
    | (stack\ backtrace|Stack\ trace):.* | -+\ (Native|JavaScript)\ stack\ trace\ -+
    | note:\ .*(BACKTRACE|backtrace).* | \(Use\ `node\ --.*
    | (Node\.js|Bun|Deno)\ v?\d.*
    | [\s|+]*[-+]{3,}.*               # the rules of a group of exceptions
    | \} | \s+\[?[\w$]+\]?:\ .*       # the members of an error in JavaScript
    # Runners that name the command which failed:
    | exit\ status\ \d+ | npm\ (ERR!|error).* | error\ Command\ failed.* | \s*ELIFECYCLE\ .* | error:\ script\ .*
    """,
    re.VERBOSE,
)
"""A line that stands around the error: a frame, a member, a version, what a runner says of the command."""

WIDTH = 500
"""Characters of a line that are looked at to see what it is: some programs print an object in one line."""


def error_in(said: str) -> str:
    """The line of an output that says why its process ended; "" for no output.

    Where no runtime says why, the last line: a process may end with a sentence of its own.
    """
    text = said.strip("\n")
    heads = (found for head in HEADS.values() for found in head.finditer(text))
    found = max(heads, key=lambda head: head.start(1), default=None)
    if found is not None and sum(1 for _ in _own(text[found.end(1) :])) <= MESSAGE:
        return found.group(1).strip()
    # Where there is nothing but what a runner says, that is better than nothing.
    return (list(_own(text)) or text.splitlines() or [""])[-1].strip()


def _own(text: str) -> Iterable[str]:
    """The lines that do not stand around an error."""
    return (line for line in text.splitlines() if not _AROUND.fullmatch(line[:WIDTH]))
