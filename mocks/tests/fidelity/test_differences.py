from __future__ import annotations

import json

from wireproof_fidelity.differences import MOCK, REAL, differences


def lines(*messages: object) -> list[str]:
    return [json.dumps(message) for message in messages]


def test_what_is_alike_but_for_ids_has_no_differences() -> None:
    turn = {"method": "turn/started", "params": {"id": "<id 3>", "n": [1, {"a": None}]}}
    other = {"method": "turn/started", "params": {"id": "<id 4>", "n": [1, {"a": None}]}}
    assert not differences(lines(turn), lines(other))


def test_a_difference_is_named_by_its_place() -> None:
    real = lines({"id": 2, "result": {"a": 1, "b": [{"c": 1}], "d": 0}}, {"method": "only", "params": {}})
    mock = lines({"id": 2, "result": {"b": [{"c": 2}], "a": 1, "e": 5}}, {"method": "other", "params": {}})
    assert dict(differences(real, mock, {2: "thread/read"})) == {
        f"answer of thread/read.result.d: {REAL}, 0": 1,
        f"answer of thread/read.result.e: {MOCK}, 5": 1,
        "answer of thread/read.result: the order of its fields": 1,
        "answer of thread/read.result.b[].c: 1 / 2": 1,
        f"only: {REAL}": 1,
        f"other: {MOCK}": 1,
    }


def test_what_a_run_writes_is_named_by_its_stream() -> None:
    real = lines({"out": {"type": "turn.failed", "error": {"message": "a"}}}, {"err": "x"}, {"status": 1})
    mock = lines({"out": {"type": "turn.failed", "error": {"message": "b"}}}, {"status": 0})
    assert dict(differences(real, mock)) == {
        'out turn.failed.out.error.message: "a" / "b"': 1,
        f"err: {REAL}": 1,
        "status.status: 1 / 0": 1,
    }
