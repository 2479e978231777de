from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from wireproof_codex.transports.journal import LineJournal

if TYPE_CHECKING:
    from pathlib import Path


def test_what_python_alone_reads_as_json_is_written_as_text(tmp_path: Path) -> None:
    odd = [b'{"id":NaN}', b'{"id":1e999}', b"[" * 100_000]
    with closing(LineJournal(tmp_path / "journal.jsonl")) as journal:
        for line in odd:
            journal.note("received", line, 1.5)
    lines = (tmp_path / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["raw"] for line in lines] == [line.decode() for line in odd]


def test_every_line_is_written_with_its_direction_and_time(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    for _ in range(2):
        journal = LineJournal(path)
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


FULL = """
import resource, sys
from pathlib import Path
from wireproof_codex.transports.journal import LineJournal
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
journal = LineJournal(Path(sys.argv[1]))
for number in range(100):
    journal.note("sent", b'{"id":%d}' % number, 1.5, message=True)
    if number % 3 == 0:
        journal.flush()
journal.close()
"""


def test_the_journal_of_a_full_disk_ends_with_a_whole_line_and_one_complaint(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    # The limit of a file's size stops a write in its midst as a full disk does.
    # Without the measuring of the night, which has files of its own to write.
    env = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_CONFIG"}
    ended = subprocess.run([sys.executable, "-c", FULL, path], env=env, stderr=subprocess.PIPE, text=True, check=True)
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert [json.loads(line)["message"]["id"] for line in text.splitlines()] == list(range(text.count("\n")))
    assert 900 < len(text) <= 1000
    assert ended.stderr.count("\n") == 1
    assert f"the journal {path} ends here: " in ended.stderr
