"""Faults that are no single requirement's: everything fails in one way, or one thing is wrong wherever it could be.

They show what a report makes of one cause that hundreds of exchanges share.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from wireproof_mocks.miniatures.fault import (
    FUNCTION_CALL,
    MESSAGES,
    OBSIDIAN_XML,
    OPENAI_JSON,
    RESPONSES,
    Fault,
    MiniatureExit,
    NeverAnswer,
    json_reply,
)
from wireproof_mocks.miniatures.rewriting import at, each_event, with_members, without

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_mocks.miniatures.fault import Bodies, Frames, Instead, Json, SentRequest
    from wireproof_mocks.miniatures.rewriting import Change

OPENAIS = (OPENAI_JSON, OBSIDIAN_XML, FUNCTION_CALL, RESPONSES)
EVERYWHERE = (*OPENAIS, MESSAGES)
STATUS = 7
"""The exit status of a proxy that dies."""


def _refused(status: str, kind: str, message: str, *more: tuple[str, str]) -> Callable[[SentRequest, int], Instead]:
    """Every request gets this error; each has an id of its own, as proxies write it."""

    def instead(_: SentRequest, __: int) -> Instead:
        error = {"message": f"{message} (request {uuid.uuid4()})", "type": kind, "param": None, "code": None}
        return json_reply(status, {"error": error}, *more)

    return instead


def _hangs(request: SentRequest, _: int) -> Instead | None:
    return NeverAnswer() if request.streamed else None


def _dies(_: SentRequest, number: int) -> Instead | None:
    """Whoever starts a proxy asks it a few things first, so it is not the very next request."""
    return MiniatureExit(status=STATUS, last_words="panic: slice index 4 is out of range") if number == 3 else None  # noqa: PLR2004 (the third)


def _in_answers(change: Change) -> Bodies:
    """A change of whole answers, not of errors and lists."""
    return lambda body, _, head: (
        change(body) if head.code < 300 and {"choices", "output"} & body.keys() else body  # noqa: PLR2004 (HTTP)
    )


def _in_frames(change: Change) -> Frames:
    """The same in each chunk, and in each event of Responses that holds the response."""
    return each_event(lambda frame: change(frame) if "choices" in frame else at("response", change)(frame))


_VENDOR = with_members(provider_specific_fields={"refusal": None})
_NO_MODEL = without("model")


def _no_tools(request: Json) -> Json:
    """As if no tool were offered; what the request declares is still what the answer repeats."""
    return {**request, "tool_choice": "none"} if {"tools", "functions"} & request.keys() else request


TARGET_FAULTS = (
    Fault(
        name="every-request-crashes",
        breaks="target.answers",
        dialects=EVERYWHERE,
        instead=_refused("500 Internal Server Error", "server_error", "Something went wrong"),
    ),
    Fault(
        name="slots-never-free",
        breaks="target.capacity",
        dialects=EVERYWHERE,
        instead=_refused("429 Too Many Requests", "rate_limit_error", "All slots are taken", ("Retry-After", "0")),
    ),
    Fault(name="dies-at-third-request", breaks="target.alive", dialects=EVERYWHERE, instead=_dies),
    Fault(name="streams-hang", breaks="target.answers", dialects=EVERYWHERE, instead=_hangs),
    Fault(
        name="vendor-fields-everywhere",
        breaks="chat.stream.schema",
        dialects=OPENAIS,
        whole=_in_answers(_VENDOR),
        frames=_in_frames(_VENDOR),
    ),
    Fault(
        name="model-left-out",
        breaks="chat.stream.schema",
        dialects=OPENAIS,
        whole=_in_answers(_NO_MODEL),
        frames=_in_frames(_NO_MODEL),
    ),
    Fault(name="tools-never-offered", breaks="chat.whole.calls-all-in-order", dialects=OPENAIS, request=_no_tools),
)
"""Each is looked at as a whole, by tests of its own: hundreds of exchanges, one finding."""
