from __future__ import annotations

import pytest

from wireproof.reading.expected import agent_call
from wireproof_scripts.steps import Say, Step
from wireproof_scripts.steps.cursor import Delete, Fetch, Glob, Grep, Ls, Read, Shell, Write


@pytest.mark.parametrize(
    ("step", "name", "arguments"),
    [
        (Shell(id="i", command="ls", cwd="/w"), "bash", {"command": "ls"}),
        (Read(id="i", path="a", offset=3), "read", {"filePath": "a"}),
        (Write(id="i", path="a", text="b"), "write", {"filePath": "a", "content": "b"}),
        (Ls(id="i", path="a"), "list", {"path": "a"}),
        (Grep(id="i", pattern="p"), "grep", {"pattern": "p"}),
        (Grep(id="i", pattern="p", path="a"), "grep", {"pattern": "p", "path": "a"}),
        (Glob(id="i", pattern="p", path="a"), "glob", {"pattern": "p", "path": "a"}),
    ],
)
def test_what_the_service_asks_for_is_a_call_of_the_contract(step: Step, name: str, arguments: dict[str, str]) -> None:
    assert agent_call(step) == (name, arguments)


@pytest.mark.parametrize("step", [Say(("x",)), Delete(id="i", path="a"), Fetch(id="i", url="u")])
def test_what_no_tool_of_a_client_runs_is_none(step: Step) -> None:
    assert agent_call(step) is None
