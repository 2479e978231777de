from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from wireproof_mocks.personas.approval.asking import PRIVACY, ApprovalQuestion, Decision
from wireproof_mocks.personas.approval.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEARCH = ApprovalQuestion(
    title="Vault Search", purpose="Searches your notes.",
    arguments={"query": "machine learning", "limit": 10},
)  # fmt: skip
READ = ApprovalQuestion(
    title="File Read", purpose="Reads files.",
    arguments={"filePaths": ["path/to/one.md", "two.md", "two.md"]}, files="filePaths",
)  # fmt: skip


def asked(question: ApprovalQuestion, *typed: str) -> tuple[Decision, str]:
    """The decision after these lines and the end of the input, and all that was printed."""
    out = io.StringIO()
    lines: Iterator[str] = iter(typed)

    def read(prompt: str) -> str:
        out.write(prompt)
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    return Terminal(console=Console(file=out, width=100), read=read)(question), out.getvalue()


def test_the_window_has_name_purpose_arguments_and_the_privacy_note() -> None:
    _, printed = asked(SEARCH, "y")
    flat = " ".join(printed.replace("│", " ").split())
    for words in (
        "[ChatGPT MD] Tool Approval Request", "The AI wants to use the following tool:", "Vault Search",
        "Searches your notes.", 'Arguments: • query: "machine learning" • limit: 10', PRIVACY, "Approve and Execute",
        "Cancel",
    ):  # fmt: skip
        assert words in flat
    assert "Select" not in printed


@pytest.mark.parametrize("typed", ["y", "YES", " approve "])
def test_it_is_approved_with_its_arguments(typed: str) -> None:
    decision, _ = asked(SEARCH, typed)
    assert decision == Decision(approved=True, arguments=dict(SEARCH.arguments))


@pytest.mark.parametrize("typed", ["n", "no", "c", "Cancel", "q"])
def test_it_is_cancelled(typed: str) -> None:
    assert asked(SEARCH, typed)[0] == Decision(approved=False, arguments={})


def test_closing_cancels() -> None:
    decision, printed = asked(SEARCH)
    assert not decision.approved
    assert printed.endswith("(closed)\n")


def test_an_interrupt_closes() -> None:
    def read(_: str) -> str:
        raise KeyboardInterrupt

    assert not Terminal(console=Console(file=io.StringIO()), read=read)(SEARCH).approved


@pytest.mark.parametrize(
    ("typed", "paths"),
    [
        (["y"], ["path/to/one.md", "two.md"]),
        (["1", "y"], ["two.md"]),
        (["1", "1", "y"], ["path/to/one.md", "two.md"]),
        (["d", "y"], []),
        (["d", "2", "y"], ["two.md"]),
        (["d", "a", "y"], ["path/to/one.md", "two.md"]),
        (["3", "0", "x", "", "2", "y"], ["path/to/one.md"]),
    ],
)
def test_files_are_selected(typed: list[str], paths: list[str]) -> None:
    decision, _ = asked(READ, *typed)
    assert decision.arguments == {"filePaths": paths}


def test_what_is_selected_is_drawn() -> None:
    _, printed = asked(READ, "1", "n")
    first, second = printed.split("Tool Approval Request")[1:]
    assert "[✓] one.md" in first
    assert "[ ] one.md" in second
    assert "[✓] two.md" in second
    assert "path/to/one.md" in first
    for words in ("Select files to share with AI:", "Select All", "Deselect All"):
        assert words in first


def test_an_answer_that_is_none_is_asked_for_again() -> None:
    decision, printed = asked(SEARCH, "maybe", "y")
    assert decision.approved
    assert "'maybe' is no answer." in printed


def test_what_a_model_writes_cannot_draw_over_the_window(text: Callable[[str], ApprovalQuestion]) -> None:
    _, printed = asked(text("[red]x[/red] \x1b[2J\r\u202eback\nnext"), "n")
    assert "[red]x[/red]" in printed
    assert not {"\x1b", "\r", "\u202e"} & set(printed)


@pytest.fixture
def text() -> Callable[[str], ApprovalQuestion]:
    return lambda query: ApprovalQuestion(title="T", purpose="", arguments={"query": query})
