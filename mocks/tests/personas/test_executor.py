from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_mocks.personas.answer import ClientCall
from wireproof_mocks.personas.approval.asking import ApprovalQuestion, Decision, always, never
from wireproof_mocks.personas.chatgpt_md import both, write_sample
from wireproof_mocks.personas.executor import Executor, PersonaTool, as_text
from wireproof_mocks.personas.line import Line, LineKind
from wireproof_mocks.personas.vault.tools import VaultTools
from wireproof_mocks.personas.vault.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wireproof_mocks.personas.approval.asking import Ask

SEARCH = ClientCall(id="call_1", name="vault_search", arguments={"query": "release"})
READ = ClientCall(
    id="call_2", name="file_read", arguments={"filePaths": ["Inbox.md", "Daily/2026-11-20.md", "Inbox.md"]}
)


@pytest.fixture
def lines() -> list[Line]:
    return []


@pytest.fixture
def make(tmp_path: Path, lines: list[Line]) -> Callable[[Ask], Executor]:
    tools = VaultTools(vault=Vault(folder=write_sample(tmp_path)), print=lines.append)
    return lambda ask: Executor(tools=both(tools), enabled=True, ask=ask, print=lines.append)


def values(executor: Executor, *calls: ClientCall) -> list[Any]:
    return [json.loads(result.text) for result in executor.run(calls)]


def logged(lines: list[Line]) -> list[str]:
    return [line.text.removeprefix("[ChatGPT MD] ") for line in lines if line.kind is LineKind.LOG]


def notices(lines: list[Line]) -> list[str]:
    return [line.text for line in lines if line.kind is LineKind.NOTICE]


def test_tools_are_declared_only_while_they_are_switched_on(make: Callable[[Ask], Executor]) -> None:
    executor = make(always)
    assert [tool["name"] for tool in executor.declared()] == ["vault_search", "file_read"]
    assert replace(executor, enabled=False).declared() == []


def test_the_switch_is_off_at_first() -> None:
    assert Executor(tools=(), ask=always, print=print).enabled is False


def test_what_is_approved_runs_in_order_and_is_logged(make: Callable[[Ask], Executor], lines: list[Line]) -> None:
    found, read = values(make(always), SEARCH, READ)
    assert [one["path"] for one in found] == ["Daily/2026-11-20.md", "Projects/Release plan.md"]
    assert [one["path"] for one in read] == ["Inbox.md", "Daily/2026-11-20.md"]
    assert logged(lines) == [
        "Registered tool: vault_search",
        "Registered tool: file_read",
        "AI requested 2 tool call(s)",
        "Handling 2 tool call(s)",
        "Requesting approval for tool: vault_search",
        "Tool approved by user: vault_search",
        'Executing tool: vault_search {"query": "release"}',
        'Vault search: "release" found 2 results',
        "Tool execution completed: vault_search",
        "Requesting approval for tool: file_read",
        "Tool approved by user: file_read",
        'Executing tool: file_read {"filePaths": ["Inbox.md", "Daily/2026-11-20.md"]}',
        "Read 2 files",
        "Tool execution completed: file_read",
    ]
    assert notices(lines) == []


def test_what_is_cancelled_does_not_run(make: Callable[[Ask], Executor], lines: list[Line]) -> None:
    assert values(make(never), SEARCH) == [{"error": "User cancelled tool execution"}]
    assert logged(lines)[-1] == "Tool cancelled by user: vault_search"
    assert notices(lines) == ["Tool execution cancelled: vault_search"]


def test_the_files_that_the_user_has_selected_are_read(make: Callable[[Ask], Executor]) -> None:
    (read,) = values(make(lambda question: question.approved(["Daily/2026-11-20.md"])), READ)
    assert [one["path"] for one in read] == ["Daily/2026-11-20.md"]
    assert values(make(lambda question: question.approved([])), READ) == [[]]


def test_a_note_that_is_gone_between_approval_and_reading_is_reported(
    make: Callable[[Ask], Executor], tmp_path: Path
) -> None:
    def approve(question: ApprovalQuestion) -> Decision:
        (tmp_path / "Inbox.md").unlink()
        return question.approved()

    (read,) = values(make(approve), READ)
    assert read[0] == {"path": "Inbox.md", "content": "File not found: Inbox.md", "size": 0}
    assert read[1]["content"].startswith("Asked about the release.")


def test_an_unknown_tool_is_said_to_be_one(make: Callable[[Ask], Executor], lines: list[Line]) -> None:
    assert values(make(always), ClientCall(name="rm", arguments={})) == [{"error": "Unknown tool: rm"}]
    assert notices(lines) == ["Unknown tool: rm"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (ClientCall(name="vault_search", arguments={}), '"query" is a required property'),
        (ClientCall(name="vault_search", arguments={"query": 1}), '1 is not of type "string"'),
        (ClientCall(name="file_read", arguments={"filePaths": "x"}), '"x" is not of type "array"'),
    ],
)
def test_wrong_arguments_are_never_asked_about(make: Callable[[Ask], Executor], call: ClientCall, words: str) -> None:
    def fail(question: ApprovalQuestion) -> Decision:
        raise AssertionError(question)

    (value,) = values(make(fail), call)
    assert words in value["error"]


def test_a_tool_that_fails_says_why_and_the_next_one_runs(make: Callable[[Ask], Executor], lines: list[Line]) -> None:
    executor = make(always)

    def fail(_: object) -> None:
        raise ZeroDivisionError("nothing to divide by")

    broken = PersonaTool(name="fails", description="", parameters={}, title="Fails", purpose="", execute=fail)
    executor = replace(executor, tools=(*executor.tools, broken))
    failed, found = values(executor, ClientCall(name="fails", arguments={}), SEARCH)
    assert failed == {"error": "nothing to divide by"}
    assert len(found) == 2
    assert notices(lines) == ["Tool execution error: nothing to divide by"]
    assert any("Traceback" in text for text in logged(lines))


def test_half_a_character_in_a_path_can_still_be_sent(make: Callable[[Ask], Executor]) -> None:
    (result,) = make(always).run([ClientCall(name="file_read", arguments={"filePaths": ["\ud800.md"]})])
    assert result.text.encode()
    assert json.loads(result.text)[0]["content"] == "File not found: \ud800.md"


def test_arguments_that_are_nested_by_the_hundred_are_wrong(make: Callable[[Ask], Executor]) -> None:
    nested: list[Any] = []
    for _ in range(500):
        nested = [nested]
    (value,) = values(make(always), ClientCall(name="file_read", arguments={"filePaths": nested}))
    assert value == {"error": "the arguments of file_read: lists or objects are nested more than 127 deep"}


def test_text_is_sent_as_it_reads_best() -> None:
    assert as_text({"a": "é"}) == '{"a": "é"}'
