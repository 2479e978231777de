from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_codex.protocol.rpc import (
    ClientReply,
    ClientRequest,
    LineSplitter,
    Message,
    Notification,
    NotUtf8Error,
    UnreadableLineError,
    error,
    notification,
    read,
    request,
    result,
)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id":1,"method":"m","params":{"a":1}}', ClientRequest(1, "m", {"a": 1})),
        (b'{"jsonrpc":"2.0","id":"x","method":"m"}\r', ClientRequest("x", "m", None)),
        (b'{"jsonrpc":"1.0","id":-5,"method":"m","params":null}', ClientRequest(-5, "m", None)),
        (b'{"id":9007199254740993,"method":"m"}', ClientRequest(9007199254740993, "m", None)),
        (b'{"method":"m","params":[1]}', Notification("m", [1])),
        (b'{"id":1.5,"method":"m"}', Notification("m", None)),
        (b'{"id":null,"method":"m"}', Notification("m", None)),
        (b'{"id":true,"method":"m"}', Notification("m", None)),
        (b'{"id":9223372036854775808,"method":"m"}', Notification("m", None)),
        (b'{"method":"m","params":[' + b"[]," * 200 + b"{}]}", Notification("m", [[]] * 200 + [{}])),
        (b'{"method":"m","params":[18446744073709551615]}', Notification("m", [2**64 - 1])),
        (b'{"method":"m","params":[18446744073709551616]}', Notification("m", [2.0**64])),
        (b'{"id":0,"result":null}', ClientReply(0, None, None)),
        (b'{"id":0,"result":{"a":1}}', ClientReply(0, {"a": 1}, None)),
        (b'{"id":0,"error":{"code":-1,"message":"x"}}', ClientReply(0, None, {"code": -1, "message": "x"})),
        ('{"id":"é","method":"\\u00e9"}'.encode(), ClientRequest("é", "é", None)),
    ],
)
def test_a_line_is_read_as_the_real_server_reads_it(line: bytes, message: Message) -> None:
    assert read(line) == message


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"   ",
        b"this is not json",
        b'{"id": 50, "method": ',
        b'[{"id":51,"method":"m"}]',
        b'{"foo":1}',
        b'{"id":1}',
        b'{"id":1,"error":"text"}',
        b'{"result":{}}',
        b'{"id":1,"method":7}',
        b'{"id":1,"method":"m","params":NaN}',
        b'{"id":1,"method":"m","params":[-Infinity]}',
        b'{"id":1,"method":"m","params":{"a":1e999}}',
        b'{"id":1,"method":"m","params":' + b"9" * 5000 + b"}",
        b'{"id":1,"method":"m","params":"\\ud800"}',
        b"[" * 100_000,
        b'{"method":"m","params":' + b"[" * 127 + b"]" * 127 + b"}",
    ],
)
def test_a_line_that_is_no_message_is_unreadable(line: bytes) -> None:
    with pytest.raises(UnreadableLineError):
        read(line)


def test_bytes_that_are_no_utf8_are_kept_apart() -> None:
    with pytest.raises(NotUtf8Error):
        read(b'{"id":1,"method":"\xff\xfe"}')


def test_what_is_written_has_the_real_servers_order_of_keys() -> None:
    assert result(1, {"é": "\u2028😀"}) == '{"id":1,"result":{"é":"\u2028😀"}}\n'.encode()
    assert error("a", -32600, "no") == b'{"error":{"code":-32600,"message":"no"},"id":"a"}\n'
    assert error(1, -1, "no", {"x": 1}) == b'{"error":{"code":-1,"data":{"x":1},"message":"no"},"id":1}\n'
    assert request("m", 0, {"a": None}) == b'{"method":"m","id":0,"params":{"a":null}}\n'
    assert notification("m", {}, 5) == b'{"method":"m","params":{},"emittedAtMs":5}\n'
    assert notification("m", {}, None) == b'{"method":"m","params":{}}\n'


def test_a_line_may_come_in_any_pieces() -> None:
    lines = LineSplitter()
    assert [lines.feed(piece) for piece in (b"a", b"b\nc\n\nd", b"\n", b"e")] == [[], [b"ab", b"c", b""], [b"d"], []]
    assert lines.end() == [b"e"]
    assert lines.end() == []


@given(st.lists(st.binary().filter(lambda line: b"\n" not in line)), st.integers(1, 7))
def test_lines_are_the_same_however_they_are_cut(whole: list[bytes], size: int) -> None:
    sent = b"".join(line + b"\n" for line in whole)
    lines = LineSplitter()
    pieces = [sent[start : start + size] for start in range(0, len(sent), size)]
    assert [line for piece in pieces for line in lines.feed(piece)] == whole
    assert lines.end() == []


@given(st.text(), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_what_is_written_is_one_line_of_json(text: str, value: object) -> None:
    line = result(text, value)
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"id": text, "result": value}


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf")])
def test_what_json_has_no_number_for_is_written_as_null(odd: float) -> None:
    line = notification("x", {"a": [1.5, odd], "b": {"c": (odd, "é\ud83d")}}, None)
    assert line == b'{"method":"x","params":{"a":[1.5,null],"b":{"c":[null,"\\u00e9\\ud83d"]}}}\n'
    assert error(1, -1, "x", odd) == b'{"error":{"code":-1,"data":null,"message":"x"},"id":1}\n'


def test_half_a_character_makes_a_line_of_escapes() -> None:
    line = notification("x", {"delta": "é\ud83d"}, None)
    assert line == b'{"method":"x","params":{"delta":"\\u00e9\\ud83d"}}\n'
