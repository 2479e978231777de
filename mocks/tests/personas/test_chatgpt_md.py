"""What ChatGPT MD shows to models and users, held against the words of its specification."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wireproof_mocks.personas.answer import CallResult, ClientCall, UnderstoodAnswer
from wireproof_mocks.personas.approval import asking
from wireproof_mocks.personas.approval.asking import ApprovalQuestion, always
from wireproof_mocks.personas.chatgpt_md import CHATGPT_MD, write_sample
from wireproof_mocks.personas.executor import CANCELLED
from wireproof_mocks.personas.persona import Wishes
from wireproof_mocks.personas.vault.tools import VaultTools
from wireproof_mocks.personas.vault.vault import Vault

if TYPE_CHECKING:
    from wireproof_mocks.personas.line import Line

SPECIFICATION = (Path(__file__).parents[3] / "conformance/tests/sources/chatgpt-md.txt").read_text(encoding="utf-8")
DECLARED, TODAY, DECLINED = CHATGPT_MD
CALL = ClientCall(id="call_1", name="vault_search", arguments={"query": "x"}, raw='{"query": "x"}')
ANSWER = UnderstoodAnswer(text="Let me look.", calls=(CALL,))
RESULTS = [CallResult(call=CALL, text="[]")]


@pytest.fixture
def lines() -> list[Line]:
    return []


def test_the_tools_are_declared_in_the_words_of_the_specification(tmp_path: Path, lines: list[Line]) -> None:
    search, read = DECLARED.toolbox(Wishes(vault=tmp_path, ask=always), lines.append).declared()
    assert [search["name"], read["name"]] == ["vault_search", "file_read"]
    query, limit = search["parameters"]["properties"].values()
    (paths,) = read["parameters"]["properties"].values()
    for words in (search, read, query, limit, paths):
        assert f'"{words["description"]}"' in SPECIFICATION
    assert (search["parameters"]["required"], read["parameters"]["required"]) == (["query"], ["filePaths"])
    assert (query["type"], limit["type"], limit["default"]) == ("string", "number", 10)
    assert (paths["type"], paths["items"]) == ("array", {"type": "string"})


@pytest.mark.parametrize(
    "words",
    [
        asking.TITLE,
        asking.INTRODUCTION,
        asking.SELECT,
        asking.APPROVE,
        asking.CANCEL,
        asking.ALL,
        asking.NONE,
        CANCELLED,
    ],
)
def test_the_window_is_in_the_words_of_the_specification(words: str) -> None:
    assert words in SPECIFICATION


def test_the_privacy_note_is_that_of_the_specification() -> None:
    drawn = " ".join(re.sub(r"[│⚠️]", " ", SPECIFICATION).split())
    assert asking.PRIVACY in drawn


def test_the_example_of_a_search(tmp_path: Path, lines: list[Line]) -> None:
    write_sample(tmp_path)
    (found,) = VaultTools(vault=Vault(folder=tmp_path), print=lines.append).search("typescript", 5)
    assert found == {
        "path": "Programming/TypeScript Basics.md",
        "basename": "TypeScript Basics",
        "matches": 1,
        "preview": "TypeScript is a typed superset of JavaScript.\n",
    }


def test_the_example_of_a_selection(tmp_path: Path, lines: list[Line]) -> None:
    (tmp_path / "Notes").mkdir()
    for name in ("React", "Vue"):
        (tmp_path / "Notes" / f"{name}.md").write_text(f"# {name}\n", encoding="utf-8")

    def react(question: ApprovalQuestion) -> asking.Decision:
        return question.approved(["Notes/React.md"])

    toolbox = DECLARED.toolbox(Wishes(vault=tmp_path, ask=react), lines.append)
    (result,) = toolbox.run([ClientCall(name="file_read", arguments={"filePaths": ["Notes/React.md", "Notes/Vue.md"]})])
    assert json.loads(result.text) == [{"path": "Notes/React.md", "content": "# React\n", "size": 8}]


def test_the_specification_sends_results_as_messages_for_tools() -> None:
    assert DECLARED.goes_on is None
    assistant, tool = DECLARED.way.history(ANSWER, RESULTS)
    assert [call["id"] for call in assistant["tool_calls"]] == ["call_1"]
    assert tool == {"role": "tool", "tool_call_id": "call_1", "content": "[]"}


def test_today_it_sends_them_as_text_without_calls_and_without_tools() -> None:
    assert TODAY.goes_on is not None
    assert TODAY.goes_on(ANSWER, RESULTS) == [
        {"role": "assistant", "content": "Let me look."},
        {"role": "user", "content": "[vault_search result] []"},
    ]
    assert TODAY.tools_later is False


def test_a_declined_call_is_never_answered() -> None:
    assert DECLINED.goes_on is not None
    messages = DECLINED.goes_on(ANSWER, RESULTS)
    assert [message["role"] for message in messages] == ["assistant", "user"]
    assert "call_1" not in json.dumps(messages)
