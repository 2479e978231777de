"""A question to the user, whether a tool call may run, and the answer: what the window of ChatGPT MD holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wireproof_mocks.personas.answer import Json

TITLE = "[ChatGPT MD] Tool Approval Request"
INTRODUCTION = "The AI wants to use the following tool:"
SELECT = "Select files to share with AI:"
PRIVACY = "Privacy Note: This tool will access your vault data. Only approve if you understand and trust this action."
APPROVE, CANCEL = "Approve and Execute", "Cancel"
ALL, NONE = "Select All", "Deselect All"


@dataclass(frozen=True, kw_only=True)
class ApprovalQuestion:
    """What the user is to decide on."""

    title: str
    """The name under which the tool is shown."""
    purpose: str
    arguments: Json
    files: str = ""
    """The argument that lists files, of which the user selects some; empty: the tool shares none."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The files to select from, each once."""
        return tuple(dict.fromkeys(self.arguments[self.files])) if self.files else ()

    @property
    def shown(self) -> Json:
        """The arguments that are shown as such: files have a list of their own."""
        return {name: value for name, value in self.arguments.items() if name != self.files}

    def approved(self, selected: list[str] | None = None) -> Decision:
        """The decision that it may run, with these of its files; None: with all."""
        if not self.files:
            return Decision(approved=True, arguments=self.arguments)
        paths = [path for path in self.paths if selected is None or path in selected]
        return Decision(approved=True, arguments={**self.arguments, self.files: paths})

    def cancelled(self) -> Decision:
        """The decision that it may not run."""
        return Decision(approved=False, arguments={})


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What the user has decided."""

    approved: bool
    arguments: Json
    """The arguments as the user has changed them."""


Ask = Callable[[ApprovalQuestion], Decision]
"""Ask the user, and wait for the decision."""


def always(question: ApprovalQuestion) -> Decision:
    """Approve, with all files."""
    return question.approved()


def never(question: ApprovalQuestion) -> Decision:
    """Cancel."""
    return question.cancelled()
