"""What an answer is recognised as: a chat completion, a response, a message, or none. Nothing is judged or sent.

Lenient on purpose, and so no part of the wire grammar: an answer whose form is wrong is to be judged, and must not be
left out as if the target did not serve it. So neither the content type nor the framing counts: JSON that came as text,
a stream that came where a whole answer was asked for, `data:` lines with anything in them.

Of refusals it is recognised which ones no waiting ends, and no change of the request: what is wrong, and what would be
right. Services say it by the status, by `code` and `type` of the error, or in its message alone. That a key is missing
or wrong is what is left of the statuses 401 and 403: a region, an account and a plan are refused by the same ones.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof.model.dialect import Carrier, Surface, carriers_of
from wireproof.wire.fields import json_object, json_of, list_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

UNAUTHORIZED = 401
NO_ENTRY = frozenset({UNAUTHORIZED, 403})
"""Statuses that ask for a key, if nothing else is said."""
_SPEAK = NO_ENTRY | {429}
"""Statuses whose messages are read."""
SHOWN = 200
"""Characters of an answer that are shown."""
DONE = "[DONE]"
LAST_EVENTS = frozenset({"response.completed", "response.incomplete", "response.failed", "message_stop", "error"})
"""The events that end a stream of Responses or of Messages."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recognised:
    """An answer of a surface."""

    text: str
    """All its text, of all choices or items; "" for none."""
    carriers: frozenset[Carrier]
    """Where it carries calls."""


def recognise(body: bytes, surface: Surface) -> Recognised | None:
    """The answer of a surface that a body is; None when it is none."""
    if is_page(body):
        return None
    said = [one for one in payloads(body) if isinstance(one, dict)]
    match surface:
        case Surface.CHAT:
            # Frames that cannot be read are a stream all the same; those of an error alone, or of Responses, are not.
            return _chat(said, unreadable=is_stream(body) and not said)
        case Surface.RESPONSES:
            return _response(said)
        case Surface.MESSAGES:
            return _message(said)


def is_page(body: bytes) -> bool:
    """Whether a body is a page for a browser, or XML."""
    # Neither JSON nor a stream begins so.
    return body.lstrip().startswith(b"<")


def is_data(body: bytes) -> bool:
    """Whether a body is what an API sends: a JSON object, or a stream of events."""
    return json_object(body) is not None or is_stream(body)


def is_over(body: bytes) -> bool:
    """Whether a stream has sent what ends it, and nothing more need be read."""
    *_, last = ("", *_data(body))
    if last == DONE:
        return True
    parsed = json_of(last)
    return isinstance(parsed, dict) and text_of(parsed.get("type")) in LAST_EVENTS


def error_of(body: bytes) -> dict[str, Any] | None:
    """The error that a body reports, whole or in a stream; None when it reports none."""
    for payload in payloads(body):
        match payload:
            case {"error": {} as error} if error:
                return dict(error)
            case {"error": str(message)} if message:
                return {"message": message}
            # The framework's own spelling (FastAPI), and that of an error event.
            case {"detail": detail} if detail and "choices" not in payload:
                return {"message": detail if isinstance(detail, str) else json.dumps(detail)}
            case {"type": "error", "message": str(message)}:
                return dict(payload)
    return None


def shown(body: bytes) -> str:
    """The beginning of a body, on one line."""
    return " ".join(body[: 4 * SHOWN].decode(errors="replace").split())[:SHOWN]


def payloads(body: bytes) -> list[Any]:
    """The JSON values of a body: the body itself, or what its `data:` lines hold."""
    whole = json_of(body)
    if whole is not None:
        return [whole]
    return [parsed for data in _data(body) if (parsed := json_of(data)) is not None]


def _data(body: bytes) -> Iterator[str]:
    # As bytes, which end a line as a stream of events does: a text may hold U+2028 as it is.
    for line in body.splitlines():
        if line.startswith(b"data:"):
            yield line.removeprefix(b"data:").decode(errors="replace").strip()


def is_stream(body: bytes) -> bool:
    """Whether a body is a stream of events, whatever they hold."""
    return any(True for _ in _data(body))


def _chat(said: Sequence[Any], *, unreadable: bool) -> Recognised | None:
    chunks = [one for one in said if isinstance(one.get("choices"), list)]
    if not chunks and not unreadable:
        return None
    messages = [
        message
        for chunk in chunks
        for choice in chunk["choices"]
        if isinstance(choice, dict)
        for message in (choice.get("message"), choice.get("delta"))
        if isinstance(message, dict)
    ]
    text = "".join(_text(message.get("content")) for message in messages)
    calls = [{**message, "content": _text(message.get("content"))} for message in messages]
    found = [carriers_of(message) for message in (*calls, {"content": text})]
    return Recognised(text=text, carriers=frozenset[Carrier]().union(*found))


def _response(said: Sequence[Any]) -> Recognised | None:
    events = [one for one in said if str(one.get("type", "")).startswith("response.")]
    objects = [one for one in said if one.get("object") == "response"]
    objects += [one["response"] for one in events if isinstance(one.get("response"), dict)]
    if not events and not objects:
        return None
    items = [item for one in objects for item in list_of(one.get("output")) if isinstance(item, dict)]
    deltas = [str(one["delta"]) for one in events if one["type"] == "response.output_text.delta" and "delta" in one]
    texts = [_text(item.get("content")) for item in items if item.get("type") == "message"]
    calls = any(item.get("type") == "function_call" for item in items)
    text = "".join(deltas) or "".join(texts)
    return Recognised(text=text, carriers=frozenset({Carrier.ITEMS} if calls else ()))


def _message(said: Sequence[Any]) -> Recognised | None:
    events = [one for one in said if str(one.get("type")) in _MESSAGE_EVENTS]
    objects = [one for one in said if one.get("type") == "message"]
    # One that came without its type has what no other surface's answer has.
    objects += [one for one in said if "type" not in one and "stop_reason" in one]
    if not events and not objects:
        return None
    blocks = [block for one in objects for block in list_of(one.get("content")) if isinstance(block, dict)]
    blocks += [one["content_block"] for one in events if isinstance(one.get("content_block"), dict)]
    deltas = [one["delta"] for one in events if isinstance(one.get("delta"), dict)]
    text = "".join(str(part["text"]) for part in (*blocks, *deltas) if isinstance(part.get("text"), str))
    calls = any(block.get("type") == "tool_use" for block in blocks)
    return Recognised(text=text, carriers=frozenset({Carrier.TOOL_USE} if calls else ()))


_MESSAGE_EVENTS = frozenset({
    "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
})  # fmt: skip
"""The events of a stream of Messages that no other stream has."""


def _text(content: object) -> str:
    """The text of a content: a string, or a list of parts."""
    match content:
        case str():
            return content
        case list():
            return "".join(str(part["text"]) for part in content if isinstance(part, dict) and "text" in part)
        case _:
            return ""


_OF_KEYS = re.compile(r"\b(api[ _-]?key|token|credentials?|authenticat\w*|unauthori[sz]ed)\b", re.IGNORECASE)
"""What a message has that is about a key."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Lasting:
    """One reason of such refusals."""

    says: str
    """What is wrong, and what would be right."""
    names: frozenset[str]
    """`code` or `type` of the error."""
    words: re.Pattern[str]
    """What its message has."""
    statuses: frozenset[int] = frozenset()
    """Statuses that mean nothing else."""


_REASONS = (
    _Lasting(
        says="it does not serve the region from which it is asked; run this from one that it serves",
        names=frozenset({"unsupported_country_region_territory", "unsupported_country", "unsupported_region"}),
        words=re.compile(r"\b(country|countries|regions?|territory|territories)\b", re.IGNORECASE),
        statuses=frozenset({451}),
    ),
    _Lasting(
        says="the account is closed; use the key of another one",
        names=frozenset({"account_deactivated", "access_terminated", "account_suspended"}),
        words=re.compile(r"\b(account|organi[sz]ation)\b.*\b(deactivated|disabled|suspended)\b", re.IGNORECASE),
    ),
    _Lasting(
        says="the quota or the credit of the account is used up; raise it, or use the key of another account",
        names=frozenset({
            "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance",
            "insufficient_credits", "quota_exceeded",
        }),
        words=re.compile(r"\binsufficient (balance|credits?|funds|quota)\b", re.IGNORECASE),
        statuses=frozenset({402}),
    ),
    _Lasting(
        says="the account may not do this; use the key of one that may",
        names=frozenset({"permission_denied", "permission_error", "permissiondenied"}),
        words=re.compile(r"\b(not have (access|permission)|permission denied|not allowed to)\b", re.IGNORECASE),
    ),
)  # fmt: skip


def is_about_key(error: Mapping[str, object] | None) -> bool:
    """Whether a refusal says that it is the key that is not taken."""
    said = error or {}
    return any(_OF_KEYS.search(str(said.get(name)).replace("_", " ")) for name in ("message", "code", "type"))


def lasting(status: int | None, error: Mapping[str, object] | None) -> str:
    """Why a refusal lasts, and what would be right; "": it need not, or it is about the key alone."""
    said = error or {}
    names = {str(said.get(one)).casefold() for one in ("code", "type")}
    # By what is named first: a message speaks of regions and accounts in passing, too.
    named = (one.says for one in _REASONS if names & one.names or status in one.statuses)
    worded = (one.says for one in _REASONS if status in _SPEAK and one.words.search(str(said.get("message"))))
    return next(named, "") or next(worded, "")
