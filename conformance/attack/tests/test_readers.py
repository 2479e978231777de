"""Each reader of foreign bytes, with any bytes: it reads, or says in its own words what is wrong."""

from __future__ import annotations

import itertools
import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wireproof.wire.sse import Reader
from wireproof_proxy.backends.codex.link import CodexLink
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.http.body import object_in
from wireproof_surfaces.surfaces import chat_request, responses_request
from wireproof_surfaces.tools import sentinel, use_tool

if TYPE_CHECKING:
    from collections.abc import Callable

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(["model", "messages", "input", "role", "content", "tools", "stream", "n", "type", "function"])
inner = st.lists(st.dictionaries(names, values, max_size=4), max_size=3)
bodies = st.dictionaries(names, values | inner | st.just("codex"), max_size=6)
tags = st.sampled_from(["<use_tool>", "</use_tool>", "<name>", "</name>", "<<", ">>", "{", "}", '"', "\n", "&lt;"])
texts = st.lists(tags | st.text(max_size=5), max_size=12).map("".join)
messages = st.fixed_dictionaries(
    {},
    optional={
        "id": values,
        "method": st.sampled_from(["turn/completed", "item/agentMessage/delta", "initialize"]) | values,
        "params": st.dictionaries(st.sampled_from(["threadId", "turnId", "item", "delta", "turn"]), values) | values,
        "result": values,
        "error": values,
    },
)
lines = st.lists(messages.map(lambda one: json.dumps(one).encode()) | st.binary(max_size=40), max_size=5).map(
    b"\n".join
)
blocks = st.lists(
    st.sampled_from([b"data: ", b"\n", b"\r", b"\r\n", b"event:", b":", b"[DONE]"]) | st.binary(max_size=6)
)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """The data in pieces."""
    ends = sorted({min(place, len(data)) for place in places} | {0, len(data)})
    return [data[begin:end] for begin, end in itertools.pairwise(ends)]


def read_stream(data: bytes, places: list[int]) -> None:
    """The frames of the suite's reader are the bytes, whole or in pieces."""

    def frames(pieces: list[bytes]) -> bytes:
        reader = Reader()
        found = [frame for piece in pieces for frame in reader.feed(piece)] + reader.end()
        return b"".join(frame.raw for frame in found) + reader.rest

    assert frames([data]) == frames(cut(data, places)) == data


def read_lines(data: bytes, places: list[int]) -> None:
    """Whatever a backend sends, a right message behind it is read."""
    link = CodexLink(send=lambda _: None, clock=lambda: 0.0)
    answers: list[Any] = []
    link.listen("t", lambda _: None)
    for piece in cut(data + b"\n", places):
        link.feed(piece)
    link.request("a", {}, answers.append)
    for number in range(1, 8):
        link.feed(b'{"id":%d,"result":{}}\n' % number)
    assert answers


def read_body(body: dict[str, Any], _places: list[int]) -> None:
    """A body is a request, or a fault of the client's."""
    with suppress(ApiError):
        found = dict(object_in(json.dumps(body).encode(), "application/json"))
        for parse in (chat_request.parse, responses_request.parse):
            with suppress(ApiError):
                parse(found, {})


def read_block(text: str, _places: list[int]) -> None:
    """A block is a call whose arguments are JSON, or text."""
    for read in (use_tool.read, sentinel.read):
        call = read(text)
        if call is not None:
            json.loads(call.arguments)


READERS: dict[str, tuple[Any, Callable[[Any, list[int]], None]]] = {
    "events": (blocks.map(b"".join), read_stream),
    "lines": (lines, read_lines),
    "bodies": (bodies, read_body),
    "blocks": (texts, read_block),
}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_whatever_comes(name: str, seconds: float) -> None:
    given_, read = READERS[name]

    @settings(max_examples=50, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(data=given_, places=st.lists(st.integers(0, 200), max_size=5))
    def attack(data: Any, places: list[int]) -> None:
        read(data, places)

    over = time.monotonic() + seconds / 4
    while time.monotonic() < over:
        attack()
