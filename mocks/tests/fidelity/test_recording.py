from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from wireproof_fidelity.recording import Line, read_recording, without

if TYPE_CHECKING:
    from pathlib import Path


def asks(request: object, **more: Any) -> Line:
    return Line(sent=True, message={"id": request, "method": "m", **more})


def says(word: str) -> Line:
    return Line(sent=False, message={"method": word})


def test_lines_come_with_their_direction_and_the_rest_is_passed_over(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"dir": "META", "data": {}},
        {"dir": "C->", "msg": {"id": 1, "method": "initialize"}},
        {"dir": "ERR", "raw": "WARN"},
        {"dir": "S->", "msg": {"id": 1, "result": {"text": "two\u2028lines"}}},
        {"dir": "C->", "raw": "{half"},
        {"dir": "EOF", "raw": "stdout closed"},
    ]
    path = tmp_path / "one.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    assert read_recording(path) == [
        Line(sent=True, message={"id": 1, "method": "initialize"}),
        Line(sent=False, message={"id": 1, "result": {"text": "two\u2028lines"}}),
        Line(sent=True, raw="{half"),
    ]


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (asks(1), 1),
        (asks("a"), "a"),
        (Line(sent=True, message={"method": "initialized"}), None),
        (Line(sent=True, message={"id": 1, "result": {}}), None),
        (Line(sent=False, message={"id": 1, "method": "item/tool/call"}), None),
        (Line(sent=True, raw="{}"), None),
    ],
)
def test_a_request_is_of_the_client_and_has_a_method(line: Line, request_id: object) -> None:
    assert line.request == request_id


def test_a_request_is_left_out_with_all_that_follows_it() -> None:
    lines = [
        asks(1),
        says("a"),
        asks(2),
        says("b"),
        says("c"),
        Line(sent=True, message={"id": 0, "result": {}}),
        says("d"),
    ]
    assert without(lines, [2]) == [lines[0], lines[1], lines[5], lines[6]]
    assert without(lines, []) == lines
