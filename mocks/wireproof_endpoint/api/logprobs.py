"""Log probabilities of an answer's tokens, made up: a piece of text counts as a token. Pure.

The same token has the same ones always. What was said is the likeliest, and all alternatives together are less likely
than it: their probabilities halve from one to the next.
"""

from __future__ import annotations

import hashlib
import math
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Logprobs = Callable[[Sequence[str]], list[dict[str, Any]]]

INCLUDED = "message.output_text.logprobs"
"""What a request of the Responses API includes to get them."""
ALTERNATIVES = (
    " the", " a", " of", " and", " to", " in", " is", " it", " you", " that",
    " for", " on", " with", " as", " this", " be", " at", " or", " an", " from",
)  # fmt: skip
_DIGITS = 6


def of_chat(body: Mapping[str, Any]) -> Logprobs | None:
    """What a chat request asks to be reported of each token; None: nothing."""
    return partial(entries, most=body.get("top_logprobs") or 0) if body.get("logprobs") else None


def of_response(body: Mapping[str, Any]) -> Logprobs | None:
    """The same of a request of the Responses API."""
    included = body.get("include")
    asked = isinstance(included, list) and INCLUDED in included
    return partial(entries, most=body.get("top_logprobs") or 0) if asked or body.get("top_logprobs") else None


def entries(texts: Sequence[str], *, most: int) -> list[dict[str, Any]]:
    """An entry for each token, with at most `most` of the likeliest in its place."""
    return [_entry(text, most) for text in texts if text]


def _entry(token: str, most: int) -> dict[str, Any]:
    drawn = int.from_bytes(hashlib.blake2b(token.encode(errors="replace"), digest_size=2).digest(), "big")
    # From a half to all but certain.
    probability = 0.5 + 0.499 * drawn / 0xFFFF
    said = _likely(token, math.log(probability))
    others = _others(token, 1 - probability)
    return {**said, "top_logprobs": [said, *others][:most]}


def _others(token: str, left: float) -> Iterator[dict[str, Any]]:
    for alternative in ALTERNATIVES:
        if alternative != token:
            left /= 2
            yield _likely(alternative, math.log(left))


def _likely(token: str, logprob: float) -> dict[str, Any]:
    return {"token": token, "logprob": round(logprob, _DIGITS), "bytes": list(token.encode(errors="replace"))}
