from __future__ import annotations

import json
import os
from contextlib import closing
from typing import TYPE_CHECKING

from assay_codex.transports.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path


def test_what_python_alone_reads_as_json_is_written_as_text(tmp_path: Path) -> None:
    odd = [b'{"id":NaN}', b'{"id":1e999}', b"[" * 100_000]
    with closing(Journal(tmp_path / "journal.jsonl")) as journal:
        for line in odd:
            journal.note("received", line, 1.5)
    lines = (tmp_path / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["raw"] for line in lines] == [line.decode() for line in odd]


def test_every_line_is_written_with_its_direction_and_time(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    for _ in range(2):
        journal = Journal(path)
        journal.flush()
        journal.note("received", '{"id":1, "é":2}\r'.encode(), 1.5)
        journal.note("received", b"no json \xff", 2.0)
        journal.flush()
        journal.note("sent", b'{"id":1}\n', 2.25, message=True)
        journal.note("sent", b"\xff\n", 2.5)
        journal.close()
    pid = os.getpid()
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert entries == 2 * [
        {"at": 1.5, "pid": pid, "direction": "received", "message": {"id": 1, "é": 2}},
        {"at": 2.0, "pid": pid, "direction": "received", "raw": "no json \\xff"},
        {"at": 2.25, "pid": pid, "direction": "sent", "message": {"id": 1}},
        {"at": 2.5, "pid": pid, "direction": "sent", "raw": "\\xff"},
    ]
