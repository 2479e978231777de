"""Runs the command lines of recorded `codex exec` sessions on the mock, and makes either's output comparable.

The model that stood behind the recorded ones: the last `[[word]]` of the prompt chose what it said (`_MODEL`).
"""

from __future__ import annotations

import base64
import io
import json
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wireproof_fidelity.exec_output import UUID, events, lines_of_stderr

from wireproof_codex import __main__ as command
from wireproof_codex import settings
from wireproof_scripts.steps import (
    Call,
    Command,
    Fail,
    Finish,
    McpCall,
    Patch,
    Plan,
    Say,
    Script,
    Step,
    Think,
    Usage,
    WebSearch,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pytest

    from wireproof_codex.versions.version import Version
    from wireproof_scripts.steps import Parts

RECORDINGS = Path(__file__).parents[1] / "recordings"
_USAGE = Usage(input=120, output=30, cached=20, reasoning=5)
_UNCOUNTED = Usage(unknown=True)
_DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@dataclass(kw_only=True)
class Outcome:
    """What a run wrote and left, made comparable."""

    out: list[Any] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    status: int = 0


def recorded(version: str, scenario: str) -> tuple[dict[str, Any], Outcome]:
    """How a recorded run was started, and what came of it."""
    text = (RECORDINGS / version / f"{scenario}.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    outcome = Outcome()
    for line in lines:
        match line["dir"]:
            case "OUT":
                outcome.out.append(line.get("msg", line.get("raw")))
            case "ERR":
                outcome.err.append(line["raw"])
            case "FILES":
                outcome.files = line["data"]
            case "EXIT":
                outcome.status = line["status"]
    outcome.out, outcome.err = events(outcome.out), lines_of_stderr(outcome.err)
    return lines[0]["data"], outcome


def played(
    meta: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch, version: Version | None = None
) -> Outcome:
    """The same command line run on the mock, below `folder`; as `version`, None for the one that was recorded."""
    home, workspace = folder / "ch", folder / "ws"
    for made in (home, workspace, *(workspace / name for name in meta.get("mkdir", ()))):
        made.mkdir()
    for name, text in meta.get("write", {}).items():
        (workspace / name).write_text(text)
    for name in meta.get("png", ()):
        (workspace / name).write_bytes(_DOT)
    (home / "config.toml").write_text('model = "stub-model"\nmodel_provider = "stub"\n[model_providers.stub]\n')
    monkeypatch.chdir(workspace)
    monkeypatch.setenv("CODEX_HOME", str(home))
    monkeypatch.setenv("WIREPROOF_PACE", "0")
    monkeypatch.setattr(command, "_bundled", lambda: _LIBRARY)
    if version is not None:
        monkeypatch.setattr(settings, "VERSIONS", {meta["version"]: version})
    arguments = meta["arguments"]
    if "first" in meta:
        first = _run(meta["version"], meta["first"], "", monkeypatch)
        thread = json.loads(first[0].splitlines()[0])["thread_id"]
        arguments = [thread if UUID.fullmatch(argument) else argument for argument in arguments]
    out, err, status = _run(meta["version"], arguments, meta["stdin"], monkeypatch)
    text = [part.replace(str(workspace), "/srv/workspace").replace(str(home), "/srv/codex-home") for part in (out, err)]
    is_json = {"--json", "--experimental-json"} & set(arguments)
    shown = [json.loads(line) if is_json else line for line in text[0].split("\n")[:-1]]
    left = {name: (workspace / name).read_text() for name in ("last.txt",) if (workspace / name).exists()}
    return Outcome(out=events(shown), err=lines_of_stderr(text[1].split("\n")[:-1]), files=left, status=status)


def _run(
    version: str, arguments: Iterable[str], given: str | None, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str, int]:
    data = (given or "").encode(errors="surrogateescape")
    streams = {"stdin": data, "stdout": b"", "stderr": b""}
    made = {name: io.TextIOWrapper(io.BytesIO(it), encoding="utf-8", newline="") for name, it in streams.items()}
    for name, stream in made.items():
        monkeypatch.setattr(sys, name, stream)
    status = command.main(["--codex-version", version, *arguments])
    written = []
    for name in ("stdout", "stderr"):
        made[name].flush()
        buffer = made[name].buffer
        assert isinstance(buffer, io.BytesIO)
        written.append(buffer.getvalue().decode())
    return written[0], written[1], status


# The model

_PLAN = Plan(id="call_1", steps=("look", "write"), explanation="how")
_ECHO = McpCall(id="call_1", server="mini", tool="echo", arguments='{"text": "hi"}', output="echo: hi")
_CALL = Call(id="call_1", name="no_such_tool", arguments='{"a": 1}')
_ANSWERS: Mapping[str, tuple[tuple[Step, ...], ...]] = {
    "text": ((Say(("Hello,", " world.")),),),
    "empty": ((Say(("",), whole=True),),),
    "none": ((),),
    "two": ((Say(("Let me look.",), whole=True), Say(("Here it is.",), whole=True)),),
    "reason": ((Think("**Thinking** about it"), Say(("Thought.",))),),
    "cmd": (
        (Say(("Let me look.",)), Command(id="call_1", command="echo out; echo second", output="out\nsecond\n")),
        (Say(("Done.",)),),
    ),
    "cmdfail": (
        (Command(id="call_1", command="echo oops >&2; exit 3", output="oops\n", stderr=True, status=3),),
        (Say(("It failed.",)),),
    ),
    "cmdtwo": (
        (
            Command(id="call_1", command="echo one", output="one\n"),
            Command(id="call_2", command="echo two", output="two\n"),
        ),
        (Say(("Both.",)),),
    ),
    "patch": ((Patch(id="call_1", path="hello.txt", content="hello\nworld\n"),), (Say(("Added.",)),)),
    "unknown": ((_CALL,), (Say(("Never mind.",)),)),
    "plan": ((_PLAN,), (replace(_PLAN, id="call_2", done=1),), (Say(("Planned.",)),)),
    "search": ((WebSearch(id="ws_1", query="rust"), Say(("Found.",))),),
    "mcp": ((_ECHO,), (Say(("Called.",)),)),
    "mcperr": ((replace(_ECHO, tool="fail", failed=True),), (Say(("Failed it.",)),)),
    "json": ((Say(('{"answer":"42"}',)),),),
    "cut": ((Say(("part",), whole=True), Fail("cut")),),
    "afttext": ((Say(("Some text.",), whole=True), Fail("invalid-prompt")),),
    "incomplete": ((Say(("Not all",), whole=True), Finish("length")),),
    "usagelimit": ((Fail("usage-limit"),),),
    "utf8": ((Say(('Grüße 🙂 \u2028 é\t"q" \\ \u0001',)),),),
    "lines": ((Say(("First line.\n\n", "- a\n- b\n")),),),
    "nousage": ((Say(("No usage.",)), _UNCOUNTED),),
    "failed:server_error": ((Fail("server-error"),),),
    "failed:rate_limit_exceeded": ((Fail("rate-limit"),),),
    "failed:insufficient_quota": ((Fail("quota"),),),
    "failed:context_length_exceeded": ((Fail("context-window"),),),
    "failed:server_is_overloaded": ((Fail("overloaded"),),),
    "failed:invalid_prompt": ((Fail("invalid-prompt"),),),
    **{f"http:{status}": ((Fail(f"http-{status}"),),) for status in (400, 401, 429, 500, 503)},
}


def _priced(parts: Parts) -> Parts:
    return tuple(part if _UNCOUNTED in part else (_USAGE, *part) for part in parts)


_LIBRARY = {
    word: Script(name=word, title="", when=f"[[{word}]]", parts=_priced(parts)) for word, parts in _ANSWERS.items()
}
WORDS = frozenset(_ANSWERS)
"""What the model can be asked for."""
