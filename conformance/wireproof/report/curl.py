"""The request of an exchange as a command that a person can run again."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING
from urllib.parse import quote

from wireproof.model.target import MASK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.model.target import Target
    from wireproof.model.transcript import Transcript

# Beyond this a command does not fit into a screen, and some shells refuse a word of 128 KiB.
LONGEST = 2000
"""Characters of a body that a command holds."""
KEY = "API_KEY"
"""The variable that stands for the key where the person named none."""
# What HTTP clients add by themselves; curl does so, too, and `accept` as this one sends it is curl's own.
ADDED = frozenset({"host", "content-length", "connection", "user-agent", "accept", "transfer-encoding"})


def curl(transcript: Transcript, target: Target, *, key: str | None = None) -> str:
    """A command line for POSIX shells that sends the request of a transcript again.

    Args:
        transcript: The exchange.
        target: Its target; the key of it is written as a variable and never as it is, and what else each request
            carries is masked.
        key: The environment variable that holds the key; None: `KEY`.

    A body that is too long, or not text, is left out, and a comment at the end of the line says so.
    """
    words = ["curl", "-sN"]
    words += [] if transcript.method == "POST" and transcript.request_body else ["-X", transcript.method]
    words += [_quoted(_shown_url(transcript.url, target), target, key or KEY)]
    own = {name.lower() for name, _ in target.headers}
    for name, sent in transcript.request_headers:
        # A header of the person's own may hold a secret of any kind.
        value = MASK if name.lower() in own else sent
        if name.lower() not in ADDED and not _says_nothing(name, value):
            words += ["-H", _quoted(f"{name}: {value}", target, key or KEY)]
    return " ".join([*words, *_body(transcript, target, key or KEY)])


def _shown_url(url: str, target: Target) -> str:
    """The URL; parameters of the person's own are masked, and a key stays, since it is written as a variable."""
    for _, value in target.query:
        url = url.replace("=" + quote(value, safe=""), f"={MASK}") if value else url
    return url


def _says_nothing(name: str, value: str) -> bool:
    """Whether a header asks for what curl asks for without it."""
    return name.lower() == "accept-encoding" and value == "identity"


def _body(transcript: Transcript, target: Target, key: str) -> Iterator[str]:
    body = transcript.request_body
    if not body:
        return
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = ""
    if text and len(text) <= LONGEST:
        # `--data-raw`: after `-d` a text that begins with @ would name a file.
        yield from ("--data-raw", _quoted(text, target, key))
    else:
        why = "too long to be written here" if text else "no UTF-8 text"
        yield f"--data-binary @BODY  # {len(body)} bytes, {why}"


def _quoted(text: str, target: Target, key: str) -> str:
    """A word of a shell, in which the target's key is a variable."""
    if not target.api_key or target.api_key not in text:
        return shlex.quote(text)
    # Single quotes around each piece, the variable between them in double ones.
    pieces = [shlex.quote(piece) if piece else "" for piece in text.split(target.api_key)]
    return f'"${key}"'.join(pieces)
