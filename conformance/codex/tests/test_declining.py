"""A real Codex that asks whether it may run a command or write a file: the proxy declines, and the answer goes on.

The proxy never lets its Codex ask, so `willing.py` stands between the two. That what is asked for would be done if it
were allowed is shown beside it, by a client that accepts.
"""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from app_server import talking
from binaries import NEWEST, VERSIONS, binary, furnish, surroundings

from wireproof.targets.launch import executable, launch
from wireproof_mocks.upstream.serving import serving
from wireproof_scripts.steps import Call, Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_mocks.upstream.service import ModelService

WILLING = Path(__file__).parent / "willing.py"
DEADLINE = 60.0
PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {file}\n+hello\n*** End Patch\nEOF\n"
ASKED = {"command": "item/commandExecution/requestApproval", "patch": "item/fileChange/requestApproval"}
BEGUN = {"0.89.0": "codex/event/mcp_startup_complete", NEWEST: "thread/started"}
REFUSED = {
    ("0.89.0", "command"): "exec command rejected by user",
    ("0.89.0", "patch"): "patch rejected by user",
    (NEWEST, "command"): "rejected by user",
    (NEWEST, "patch"): "rejected by user",
}
"""What the model reads of it, among other words."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """What the model asks for, and the file that is there if it is done."""

    version: str
    kind: str
    file: Path
    upstream: ModelService
    home: Path

    @property
    def prompt(self) -> str:
        return "Please: [[wireproof:ask#n]]"


def _call(version: str, kind: str, file: Path) -> Call:
    """The model's call of Codex's own shell."""
    commands = {"command": f"touch {shlex.quote(str(file))}", "patch": PATCH.format(file=file)}
    wishes = {"sandbox_permissions": "require_escalated", "justification": "It is wanted."}
    own: dict[str, tuple[str, dict[str, Any]]] = {
        "0.89.0": ("shell", {"command": ["bash", "-lc", commands[kind]]}),
        NEWEST: ("exec_command", {"cmd": commands[kind]}),
    }
    name, given = own[version]
    arguments = {**given, **(wishes if kind == "command" else {})}
    return Call(id="call_own", name=name, arguments=json.dumps(arguments))


@pytest.fixture(params=[(version, kind) for version in VERSIONS for kind in ASKED], ids="-".join)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    version, kind = request.param
    file, home = tmp_path / "work" / "made.txt", tmp_path / "home"
    file.parent.mkdir()
    script = Script(name="ask", title="", parts=((_call(version, kind, file),), (Say(("So be", " it.")),)))
    with serving({"ask": script}) as upstream:
        furnish(home, version, upstream.url)
        yield Case(version=version, kind=kind, file=file, upstream=upstream, home=home)


def _outputs(upstream: ModelService) -> list[str]:
    """What the model read of its calls."""
    items: list[dict[str, Any]] = json.loads(upstream.bodies[-1])["input"]
    return [json.dumps(item["output"]) for item in items if item["type"] == "function_call_output"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_what_codex_asks_for_is_declined_and_the_answer_goes_on(case: Case, tmp_path: Path, stream: bool) -> None:  # noqa: FBT001 (a parameter)
    journal, codex = tmp_path / "journal", tmp_path / "codex"
    words = (sys.executable, str(WILLING), str(binary(case.version)), str(journal))
    codex.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    codex.chmod(0o755)
    env = {"CODEX_BIN": str(codex), "CODEX_HOME": str(case.home), "HOME": str(case.home)}
    asked = {"model": "codex", "messages": [{"role": "user", "content": case.prompt}], "stream": stream}
    with launch([executable("wireproof-proxy")], env=env) as proxy:
        answer = httpx.post(f"{proxy.base_url}/chat/completions", json=asked, timeout=DEADLINE, trust_env=False)
    assert answer.status_code == 200
    assert _said(answer, stream=stream) == ("So be it.", "stop")
    assert journal.read_text().splitlines() == [ASKED[case.kind], '{"decision": "decline"}']
    assert not case.file.exists()
    (output,) = _outputs(case.upstream)
    assert REFUSED[case.version, case.kind] in output


def _said(answer: httpx.Response, *, stream: bool) -> tuple[str, str]:
    """The text and the finish reason."""
    if not stream:
        (choice,) = answer.json()["choices"]
        return choice["message"]["content"], choice["finish_reason"]
    *frames, done, end = answer.text.split("\n\n")
    assert (done, end) == ("data: [DONE]", "")
    choices = [json.loads(frame.removeprefix("data: "))["choices"][0] for frame in frames if frame.startswith("data: ")]
    return "".join(it["delta"].get("content") or "" for it in choices), choices[-1]["finish_reason"]


def test_what_codex_asks_for_is_done_when_it_is_accepted(case: Case) -> None:
    command: list[str | Path] = [binary(case.version), "app-server"]
    work = case.file.parent
    with talking(command, env=surroundings(case.home), cwd=work, started=BEGUN[case.version]) as talk:
        talk.begin()
        talk.turn(talk.thread(approvalPolicy="on-request", cwd=str(work)), case.prompt)
        request = talk.receive(lambda message: message.get("method") == ASKED[case.kind])
        talk.send({"id": request["id"], "result": {"decision": "accept"}})
        assert talk.over()["status"] == "completed"
    assert case.file.exists()
