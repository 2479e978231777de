"""Legacy `POST /v1/completions`: a prompt is answered as what a user says, written as a `text_completion`. Pure.

What a chat answer would be is rewritten, object by object, so that both say the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_endpoint.api.problems import TYPE, UNSUPPORTED
from wireproof_scripts.json_text import parse_json
from wireproof_surfaces.errors import MISSING_PARAM
from wireproof_surfaces.surfaces.json_text import encoded
from wireproof_surfaces.surfaces.rules import Body, fault
from wireproof_surfaces.surfaces.sse import DONE, frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_surfaces.events import TurnEvent
    from wireproof_surfaces.surfaces.writer import Writer

LENGTH = 16
"""OpenAI's default of `max_tokens` here."""
_ALIKE = (
    "model", "n", "stream", "stream_options", "temperature", "top_p", "stop", "seed", "user", "logit_bias",
    "frequency_penalty", "presence_penalty",
)  # fmt: skip
"""Fields that mean the same in chat."""
_NOT_SERVED = ("suffix", "best_of", "logprobs")


def as_chat(body: Body) -> dict[str, Any]:
    """The chat request that asks the same.

    Raises:
        ApiError: 400, when there is not one prompt as text.
    """
    match body.get("prompt"):
        case str(text) | [str(text)]:
            pass
        case None:
            raise fault("prompt", "a string", MISSING_PARAM)
        case [str(), *_]:
            raise fault("prompt", "one string: several prompts are not answered at once here", UNSUPPORTED)
        case _:
            raise fault("prompt", "a string: tokens are not read here", TYPE)
    for name in _NOT_SERVED:
        # A tuple: what a client sends need not be hashable.
        if body.get(name) not in (None, 1) or body.get(name) is True:
            raise fault(name, "absent: it is not served here", UNSUPPORTED)
    length = body.get("max_tokens")
    asked = {name: body[name] for name in _ALIKE if name in body}
    messages = [{"role": "user", "content": text}]
    return {**asked, "messages": messages, "max_tokens": LENGTH if length is None else length}


class CompletionWriter:
    """Writes what `inner` writes of a chat answer as that of a completion; `echo` is said before it."""

    def __init__(self, inner: Writer, *, stream: bool, echo: str = "") -> None:
        self._inner = inner
        self._stream = stream
        self._echo = echo
        self._echoed: set[int] = set()

    def feed(self, event: TurnEvent) -> bytes:
        """What is sent for an event."""
        return self._frames(self._inner.feed(event))

    def texts(self, texts: Sequence[str], choice: int = 0) -> bytes:
        """What is sent for pieces of text."""
        return self._frames(self._inner.texts(texts, choice))

    def end(self) -> bytes:
        """What is sent at the end."""
        last = self._inner.end()
        return self._frames(last) if self._stream else encoded(self._rewritten(parse_json(last)))

    def _frames(self, data: bytes) -> bytes:
        return b"".join(map(self._frame, filter(None, data.split(b"\n\n"))))

    def _frame(self, sent: bytes) -> bytes:
        text = sent.removeprefix(b"data: ")
        if not text.startswith(b"{"):
            return DONE if text == b"[DONE]" else sent + b"\n\n"
        found = parse_json(text)
        if "error" in found:
            return sent + b"\n\n"
        made = self._rewritten(found)
        # The role has a chunk of its own in chat, and none here.
        return frame(made) if made["choices"] or found.get("usage") else b""

    def _rewritten(self, chat: Mapping[str, Any]) -> dict[str, Any]:
        choices = [made for choice in chat["choices"] if (made := self._choice(choice)) is not None]
        named = {"id": f"cmpl-{chat['id'].removeprefix('chatcmpl-')}", "object": "text_completion"}
        same = {name: chat[name] for name in ("created", "model", "system_fingerprint") if name in chat}
        usage = {"usage": chat["usage"]} if "usage" in chat else {}
        return {**named, **same, "choices": choices, **usage}

    def _choice(self, choice: Mapping[str, Any]) -> dict[str, Any] | None:
        said, ends = choice.get("delta") or choice.get("message") or {}, choice["finish_reason"]
        text = said.get("content") or ""
        if not text and ends is None:
            return None
        if choice["index"] not in self._echoed:
            self._echoed.add(choice["index"])
            text = self._echo + text
        return {"text": text, "index": choice["index"], "logprobs": None, "finish_reason": ends}
