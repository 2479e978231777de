"""Runs `codex exec`, real or mock, as a conversation says, and keeps all that it writes."""

from __future__ import annotations

import json
import subprocess
import threading
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from wireproof_fidelity.exec_output import UUID, events, lines_of_stderr

if TYPE_CHECKING:
    import signal
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DEADLINE = 30.0
"""Seconds within which a run must end, or say what is waited for."""
_ALWAYS = ("--skip-git-repo-check", "--sandbox", "danger-full-access")
LAST = "last.txt"
"""Where the last message is written to, if it is."""
ADDED = "note.txt"
"""A file that the model may add."""
SCHEMA = "schema.json"
"""A file with a JSON schema, which is always there."""
_SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
THREAD = "{thread}"
"""Among the arguments: the session of the run before."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A command line behind `codex exec`; `given` is its standard input, and None none: the descriptor is closed.

    `signalled`: it gets this signal when it has said `BEGUN`.
    """

    arguments: Sequence[str]
    given: str | None = ""
    signalled: signal.Signals | None = None


LOST = 3.0
"""Seconds after which a process that has not ended has lost the signal: 0.89.0 does, where the turn has just begun."""
BEGUN = "Begun."
"""What the model says before it is silent."""


def written(runs: Sequence[Run], codex: Sequence[str | Path], env: Mapping[str, str], work: Path) -> list[Any]:
    """What the runs write, one after the other in the same folder: lines of stdout and stderr, the file, the status."""
    (work / SCHEMA).write_text(json.dumps(_SCHEMA))
    threads: dict[str, str] = {}
    every: list[Any] = []
    for run in runs:
        for name in (LAST, ADDED):
            (work / name).unlink(missing_ok=True)
        thread = [*threads][-1] if threads else ""
        arguments = [*_ALWAYS, *(argument.replace(THREAD, thread) for argument in run.arguments)]
        out, err, status = _ran(run, [*codex, "exec", *arguments], env, work)
        out, err = (
            UUID.sub(lambda found: threads.setdefault(found[0], f"<id {len(threads)}>"), it) for it in (out, err)
        )
        lines = out.split("\n")  # the last one is not ended, and mostly empty
        shown = [json.loads(line) for line in lines[:-1]] + lines[-1:] if "--json" in run.arguments else lines
        every += [{"out": line} for line in events(shown)]
        every += [{"err": line} for line in lines_of_stderr(err.split("\n"))]
        every += [{"last": (work / LAST).read_text(encoding="utf-8")}] if (work / LAST).exists() else []
        every += [{"status": status}]
    return every


def _ran(run: Run, command: Sequence[str | Path], env: Mapping[str, str], work: Path) -> tuple[str, str, int]:
    # A process of Python's has always a standard input; a shell takes it away.
    words = ["sh", "-c", 'exec "$@" <&-', "sh", *command] if run.given is None else command
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, env=dict(env), cwd=work, stdin=pipe, stdout=pipe, stderr=pipe)
    if run.signalled is None:
        out, err = process.communicate((run.given or "").encode(), timeout=DEADLINE)
        return out.decode(), err.decode(), process.returncode
    return _interrupted(process, run.signalled)


def _interrupted(process: subprocess.Popen[bytes], signalled: signal.Signals) -> tuple[str, str, int]:
    """Signal the process when it has begun, on whichever stream it says so."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.close()
    begun = threading.Event()
    kept: dict[str, bytes] = {"out": b"", "err": b""}

    def read(name: str, stream: IO[bytes]) -> None:
        for line in stream:
            kept[name] += line
            if BEGUN.encode() in line:
                begun.set()

    readers = [
        threading.Thread(target=read, args=("out", process.stdout)),
        threading.Thread(target=read, args=("err", process.stderr)),
    ]
    try:
        for reader in readers:
            reader.start()
        assert begun.wait(DEADLINE), f"it did not begin: {kept}"
        _signal(process, signalled)
    finally:
        process.kill()
        process.wait()
        for reader in readers:
            reader.join()
        process.stdout.close()
        process.stderr.close()
    return kept["out"].decode(), kept["err"].decode(), process.returncode


def _signal(process: subprocess.Popen[bytes], signalled: signal.Signals) -> None:
    """Signal the process until it ends, at the latest within the deadline."""
    for _ in range(int(DEADLINE / LOST)):
        process.send_signal(signalled)
        try:
            process.wait(LOST)
        except subprocess.TimeoutExpired:
            continue
        return
