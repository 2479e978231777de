"""`POST /v1/embeddings`: vectors that follow from the text alone. Pure.

The same text has the same vector everywhere and always; texts that share words are closer than others, so that a search
by similarity has something to find. A vector has length 1, also when fewer dimensions are asked for.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import struct
from collections import Counter
from typing import TYPE_CHECKING, Any

from wireproof_endpoint.api.problems import EMPTY, LONG, UNCODED
from wireproof_endpoint.api.rules import integer
from wireproof_surfaces.errors import MISSING_PARAM, Problem
from wireproof_surfaces.surfaces.rules import Body, Rule, fault, first_fault, required, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DIMENSIONS = 1536
"""As many as text-embedding-3-small and its predecessor have."""
LARGE = 3072
"""As many as text-embedding-3-large has."""
MOST_INPUTS = 2048
MOST_TOKENS = 8192
MOST_TOGETHER = 300_000
"""Tokens of one request, all inputs together."""
_BYTES_PER_TOKEN = 4
_TOGETHER = Problem(400, "max_tokens_per_request", "max_tokens_per_request", "The request is too long.")
_WORDS = re.compile(r"\w+")

Given = str | list[int]
"""A text, or its tokens."""


def answer(body: Body) -> dict[str, Any]:
    """The answer to a request.

    Raises:
        ApiError: 400, naming the parameter that is not acceptable.
    """
    first_fault(_RULES, body)
    size = body.get("dimensions") or (LARGE if "large" in body["model"] else DIMENSIONS)
    written = _base64 if body.get("encoding_format") == "base64" else list
    inputs = _inputs(body["input"])
    tokens = sum(map(_tokens, inputs))
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": written(vector(given, size))}
            for index, given in enumerate(inputs)
        ],
        "model": body["model"],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def vector(given: Given, size: int) -> Sequence[float]:
    """The vector of a text or of its tokens: the sum of the vectors of its words, made as long as 1."""
    words = _WORDS.findall(given.casefold()) or [given] if isinstance(given, str) else list(map(str, given))
    sums = [0.0] * size
    for word, times in Counter(words).items():
        for place, value in _of_word(word):
            sums[place % size] += times * value
    # Words may take each other away, in few dimensions; a vector always has a direction.
    sums[0] += 0 if any(sums) else 1
    length = math.sqrt(sum(value * value for value in sums))
    # As single floats, so that both encodings have the same numbers.
    return struct.unpack(f"<{size}f", struct.pack(f"<{size}f", *(value / length for value in sums)))


def _of_word(word: str) -> Iterator[tuple[int, int]]:
    """Places and values; few, since a text may have thousands of words."""
    drawn = hashlib.blake2b(word.encode(errors="replace"), digest_size=64).digest()
    # Positive and negative ones alike, so that texts without a common word are neither close nor opposite.
    return struct.iter_unpack("<Hh", drawn)


def _base64(values: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()


def _inputs(given: str | list[Any]) -> list[Given]:
    if isinstance(given, str) or isinstance(given[0], int):
        return [given]
    return given


def _tokens(given: Given) -> int:
    return (
        len(given) if isinstance(given, list) else max(1, -(-len(given.encode(errors="replace")) // _BYTES_PER_TOKEN))
    )


def _input(body: Body) -> None:
    given, right = body.get("input"), "a text, a list of texts, a list of tokens, or a list of such lists"
    match given:
        case None:
            raise fault("input", right, MISSING_PARAM)
        case "" | []:
            raise fault("input", f"{right}, and not empty", EMPTY if given == [] else UNCODED)
        case str():
            _long(given, "input")
        case list() if _are_tokens(given):
            _long(given, "input")
        case list() if len(given) > MOST_INPUTS:
            raise fault("input", f"a list of at most {MOST_INPUTS}", LONG)
        case list() if all(isinstance(one, str) and one for one in given) or all(map(_are_tokens, given)):
            for index, one in enumerate(given):
                _long(one, f"input[{index}]")
            if sum(map(_tokens, given)) > MOST_TOGETHER:
                raise fault("input", f"at most {MOST_TOGETHER} tokens long together", _TOGETHER)
        case _:
            raise fault("input", right, UNCODED)


def _are_tokens(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(type(one) is int and one >= 0 for one in value)


def _long(given: Given, place: str) -> None:
    if _tokens(given) > MOST_TOKENS:
        raise fault(place, f"at most {MOST_TOKENS} tokens long", UNCODED)


def _encoding(body: Body) -> None:
    # A tuple: what a client sends need not be hashable.
    if body.get("encoding_format") not in (None, "float", "base64"):
        raise fault("encoding_format", "float or base64")


_RULES: tuple[Rule, ...] = (required("model", text), _input, integer("dimensions", 1, LARGE)[1], _encoding)
