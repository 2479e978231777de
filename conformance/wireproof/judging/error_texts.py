"""What an error says, without what differs from request to request: then two errors can be compared.

Numbers, ids, nonces, quoted values and what an error repeats of its request are masked; its names of fields are kept.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.wire.fields import JsonObject, json_object
from wireproof.wire.locating import strings_in

if TYPE_CHECKING:
    from collections.abc import Iterator


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
