"""Faults of proxies in front of Cursor's agent service: calls misnamed or lost, sessions that go on, files read.

They are shown in answers of OpenAI's form, with the mock of that service behind the proxy.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import CALLS, TEXT, WHOLE_CALLS, call_of, each, outside_blocks
from wireproof_mocks.miniatures.fault import OPENAI_JSON, Fault, json_reply
from wireproof_mocks.miniatures.rewriting import at, in_body
from wireproof_mocks.miniatures.stream_faults import answered_with_nothing

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_mocks.miniatures.fault import Instead, SentRequest

_CONTENT = "choices[].message.content"
USERS = "root:x:0:0:root:/root:/bin/sh"


def _functions(place: str, change: Callable[[str], str]) -> dict[str, Any]:
    """A change within the function of each call, in streams and in whole answers."""
    return {
        "frames": each(at(f"{CALLS}.function.{place}", change)),
        "whole": in_body(at(f"{WHOLE_CALLS}[].function.{place}", change)),
    }


def _going_on(request: SentRequest, _: int) -> Instead | None:
    """Results go into the session that asked for the calls: nothing comes until the proxy gives up."""
    if b'"role": "tool"' not in request.body:
        return None
    error = {"message": "The backend was silent for too long.", "type": "server_error", "param": None, "code": None}
    return json_reply("504 GATEWAY TIMEOUT", {"error": error})


def _reading_anywhere(content: str) -> str:
    """A path is opened as it comes: the model gets whatever is there."""
    received = at("history[].output", lambda _: USERS)(json.loads(content))
    return json.dumps(received)


def _fault(name: str, breaks: str, script: str, **how: Any) -> Fault:  # noqa: ANN401 (see Fault)
    row, scripts = f"agent.{breaks}", (f"agent/{script}",)
    return Fault(name=name, breaks=row, scripts=scripts, dialects=(OPENAI_JSON,), **how)


AGENT_FAULTS: tuple[Fault, ...] = (
    # The service's name for what clients call `list`.
    _fault(
        "own-name-for-a-folder", "names", "names", **_functions("name", lambda name: "ls" if name == "list" else name)
    ),
    # The service's name for what clients call `filePath`.
    _fault(
        "own-name-for-a-path",
        "arguments",
        "arguments",
        **_functions("arguments", lambda arguments: arguments.replace('"filePath"', '"path"')),
    ),
    _fault(
        "closed-at-the-first-request",
        "all-emitted",
        "all",
        frames=each(lambda chunk: () if call_of(chunk).get("index") else chunk),
        whole=in_body(at(WHOLE_CALLS, lambda calls: calls[:1])),
    ),
    _fault("results-into-the-old-session", "fresh-session", "fresh", instead=_going_on),
    # When nothing has come for long enough the answer just ends.
    _fault("trapped-session-stops", "same-session-trap", "trap", frames=answered_with_nothing("cursor")),
    _fault(
        "over-where-tools-begin",
        "without-tools",
        "without-tools",
        frames=each(at(TEXT, outside_blocks(lambda _: ""))),
        whole=in_body(at(_CONTENT, lambda _: "")),
    ),
    _fault("any-file-is-read", "scratch-only", "scratch", whole=in_body(at(_CONTENT, _reading_anywhere))),
)
"""Each is the reference proxy, in front of Cursor's agent service, with one thing wrong."""
