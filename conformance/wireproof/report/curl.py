"""The request of an exchange as a command that a person can run again, in a POSIX shell, as it is printed.

The command is one line, whatever the body holds: a body that a line cannot show goes through a pipe, packed. The key
is a variable, the one that the person named; what else each request carries of the person's own is masked.
"""

from __future__ import annotations

import base64
import gzip
import shlex
from typing import TYPE_CHECKING
from urllib.parse import quote

from wireproof.model.target import MASK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wireproof.model.target import Target
    from wireproof.model.transcript import Transcript

    Word = Callable[[str], str]
    """Writes a text as a word of a shell."""

LONGEST = 2000
"""Characters of a body that a command shows: beyond this it does not fit into a screen."""
WORD = 2**17 - 2**10
"""Characters of a packed body that a command holds: Linux refuses a word of 128 KiB."""
KEY = "API_KEY"
"""The variable that stands for the key where the person named none."""
_BY_DEFAULT = {
    "host": ("",),
    "content-length": ("",),
    "accept": ("*/*",),
    "accept-encoding": ("identity",),
    "connection": ("keep-alive", "close"),
    "user-agent": ("python-httpx/",),
}
"""Headers that clients add by themselves → how the values begin that say no more than curl does by itself."""
_SPECIAL = frozenset("[]{}")
"""Characters of a URL that curl takes for a pattern."""


def curl(transcript: Transcript, target: Target, *, key: str | None = None) -> str:
    """A command line for POSIX shells that sends the request of a transcript again.

    The key of the target is written as a variable and never as it is: `key` names it; None: it is the one that the key
    was read from, else `KEY`. What else each request carries of the person's own is masked.

    A body that fits into no command even when it is packed is left out, and a comment at the end of the line says so.
    """
    variable = key or target.key_variable or KEY

    def word(text: str) -> str:
        return shell_word(text, key=target.api_key, variable=variable)

    before, body, after = _body(transcript, word)
    words = [*before, "curl", "-sN", *_method(transcript)]
    words += ["-g"] if _SPECIAL & set(transcript.url) else []
    words += ["--path-as-is"] if "/." in transcript.url else []
    words += [word(_shown_url(transcript.url, target))]
    words += _headers(transcript, target, word)
    return " ".join([*words, *body, *after])


def _method(transcript: Transcript) -> list[str]:
    match transcript.method:
        case "POST" if transcript.request_body:
            return []  # what curl takes for itself where there is a body
        case "HEAD":
            return ["--head"]  # with `-X` curl would wait for a body
        case method:
            return ["-X", shlex.quote(method)]


def _shown_url(url: str, target: Target) -> str:
    """The URL; parameters of the person's own are masked, and a key stays, since it is written as a variable."""
    for _, value in target.query:
        url = url.replace("=" + quote(value, safe=""), f"={MASK}") if value else url
    return url


def _headers(transcript: Transcript, target: Target, word: Word) -> Iterator[str]:
    own = {name.lower() for name, _ in target.headers}
    for name, sent in transcript.request_headers:
        # A header of the person's own may hold a secret of any kind.
        value = MASK if name.lower() in own else sent
        if not _says_nothing(name.lower(), value):
            # With a colon and no value behind it curl leaves the header out.
            yield from ("-H", word(f"{name}: {value}" if value else f"{name};"))
    names = {name.lower() for name, _ in transcript.request_headers}
    if transcript.request_body:
        # What curl adds where there is a body.
        yield from ("-H", "Content-Type:") if "content-type" not in names else ()
        yield from ("-H", "Expect:") if len(transcript.request_body) > LONGEST and "expect" not in names else ()


def _says_nothing(name: str, value: str) -> bool:
    """Whether curl sends a header of this meaning by itself."""
    return name in _BY_DEFAULT and value.startswith(_BY_DEFAULT[name])


def _body(transcript: Transcript, word: Word) -> tuple[list[str], list[str], list[str]]:
    """The body, as words before the command, in it and at its end."""
    body = transcript.request_body
    if not body:
        return [], [], []
    text = _line(body)
    if text is not None and len(text) <= LONGEST:
        # `--data-raw`: after `-d` a text that begins with @ would name a file.
        return [], ["--data-raw", word(text)], []
    # Without a time in it, so that the same request is the same command.
    packed = base64.b64encode(gzip.compress(body, mtime=0)).decode()
    if len(packed) > WORD:
        return [], ["--data-binary", "@BODY"], [f"# {len(body)} bytes, too many for a command"]
    return ["echo", packed, "|", "base64", "-d", "|", "gunzip", "|"], ["--data-binary", "@-"], []


def _line(body: bytes) -> str | None:
    """A body as text of one line; None if it is no such text."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() else None


def shell_word(text: str, *, key: str | None, variable: str) -> str:
    """A word of a shell, in which a key is written as the variable that holds it."""
    if not key or key not in text:
        return shlex.quote(text)
    # Single quotes around each piece, the variable between them in double ones.
    pieces = [shlex.quote(piece) if piece else "" for piece in text.split(key)]
    return f'"${variable}"'.join(pieces)
