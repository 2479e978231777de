r"""The error that ended a process, out of the end of what it wrote to stderr.

It is seldom the last line: Node ends with its version, Go and Rust with a trace, a runner with "exit status 1". So the
line is looked for by how each runtime begins its last report, and what stands around such a report is passed over.

    'Error: no model\n    at main (a.js:1:2)\n\nNode.js v22.1.0'   →   'Error: no model'
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
