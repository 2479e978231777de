from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_proxy.backends.codex.rpc import (
    ErrorReply,
    Garbled,
    LineReader,
    Notice,
    ResultReply,
    ServerRequest,
    decode,
    encode,
)

CASES = [
    (b'{"id":1,"result":{"a":1}}', ResultReply(1, {"a": 1})),
    (b'{"id":"x","result":null}', ResultReply("x", {})),
    (b'{"error":{"code":-32600,"message":"no"},"id":2}', ErrorReply(2, -32600, "no")),
    (
        b'{"method":"item/tool/call","id":0,"params":{"threadId":"t"}}',
        ServerRequest(0, "item/tool/call", {"threadId": "t"}),
    ),
    (b'{"method":"a","params":{"b":1},"emittedAtMs":5}', Notice("a", {"b": 1})),
    (b'{"method":"a"}', Notice("a", {})),
    (b'{"method":"a","params":[]}', Notice("a", {})),
]


@pytest.mark.parametrize(("line", "message"), CASES)
def test_a_line_is_a_message(line: bytes, message: object) -> None:
    assert decode(line) == message


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"delta":"\xff"}', "not UTF-8"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"foo":1}', "not a message"),
        (b"[]", "not a message"),
        (b'{"id":1.5,"result":{}}', "not a message"),
    ],
)
def test_a_line_that_is_no_message_keeps_its_head(line: bytes, reason: str) -> None:
    garbled = decode(line)
    assert isinstance(garbled, Garbled)
    assert garbled.reason == reason
    assert garbled.head.startswith(line[:3].decode(errors="replace"))


def test_a_line_that_is_too_long_is_dropped_and_the_next_one_read() -> None:
    reader = LineReader(limit=20)
    data = b'{"threadId":"t' + b"x" * 100 + b'"}\n{"method":"a"}\n'
    messages = [message for at in range(len(data)) for message in reader.feed(data[at : at + 1])]
    assert messages == [Garbled("line too long", '{"threadId":"txxxxxx'), Notice("a", {})]


def test_blank_lines_are_skipped_and_carriage_returns_allowed() -> None:
    assert LineReader().feed(b'\n \r\n{"method":"a"}\r\n') == [Notice("a", {})]


@given(st.lists(st.integers(1, 40)))
def test_messages_do_not_depend_on_how_the_bytes_are_cut(cuts: list[int]) -> None:
    data = b"".join(line + b"\n" for line, _ in CASES)
    reader, messages = LineReader(), []
    for cut in cuts:
        messages += reader.feed(data[:cut])
        data = data[cut:]
    messages += reader.feed(data)
    assert messages == [message for _, message in CASES]


def test_what_is_sent_is_one_line_of_plain_utf8() -> None:
    assert encode({"a": "é\n😀"}) == '{"a":"é\\n😀"}\n'.encode()


def test_half_a_character_is_never_sent() -> None:
    line = encode({"a": "\ud83d"})
    assert json.loads(line.decode()) == {"a": "?"}
