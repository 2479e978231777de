"""The approval in the terminal, drawn as the specification of ChatGPT MD draws the window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.panel import Panel
from rich.text import Text

from wireproof_mocks.personas.approval import asking
from wireproof_mocks.personas.line import as_json, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from wireproof_mocks.personas.approval.asking import ApprovalQuestion, Decision


@dataclass(frozen=True, kw_only=True)
class Terminal:
    """Asks on a console. `read` gives the line that the user types behind a prompt, and raises EOFError at the end."""

    console: Console
    read: Callable[[str], str]

    def __call__(self, question: ApprovalQuestion) -> Decision:
        """Ask, and wait for the decision; the end of the input cancels, as closing the window does."""
        selected = set(question.paths)
        while True:
            self.console.print(_panel(question, selected))
            try:
                typed = self.read(_prompt(question)).strip().lower()
            except (EOFError, KeyboardInterrupt):
                self.console.print("(closed)")
                return question.cancelled()
            match typed:
                case "y" | "yes" | "approve":
                    return question.approved([path for path in question.paths if path in selected])
                case "n" | "no" | "c" | "cancel" | "q":
                    return question.cancelled()
                case "a" if question.files:
                    selected = set(question.paths)
                case "d" if question.files:
                    selected = set()
                case _ if typed.isdecimal() and 0 < int(typed) <= len(question.paths):
                    selected ^= {question.paths[int(typed) - 1]}
                case _:
                    self.console.print(Text(f"{typed!r} is no answer."))


def _prompt(question: ApprovalQuestion) -> str:
    select = f"1 to {len(question.paths)}: select or not, a: {asking.ALL}, d: {asking.NONE}; " if question.files else ""
    return f"{select}y: {asking.APPROVE}, n: {asking.CANCEL} > "


def _panel(question: ApprovalQuestion, selected: set[str]) -> Panel:
    # As Text: whatever the model wrote is shown, and not obeyed as markup.
    return Panel(Text("\n".join(_lines(question, selected))), title=Text(asking.TITLE), box=box.SQUARE, width=78)


def _lines(question: ApprovalQuestion, selected: set[str]) -> Iterator[str]:
    yield from (asking.INTRODUCTION, "", question.title, question.purpose, "")
    if question.shown:
        yield "Arguments:"
        yield from (f"• {visible(name)}: {as_json(value)}" for name, value in question.shown.items())
        yield ""
    if question.files:
        yield asking.SELECT
        for number, path in enumerate(question.paths, 1):
            yield f"{number:>2} [{'✓' if path in selected else ' '}] {visible(path.rpartition('/')[2])}"
            yield f"       {visible(path)}"
        yield from (f"[ a: {asking.ALL} ]  [ d: {asking.NONE} ]", "")
    yield from (f"⚠ {asking.PRIVACY}", "", f"[ y: {asking.APPROVE} ]  [ n: {asking.CANCEL} ]")
