"""A persona run as a program: its tools, its user at the terminal or on a page, and a vault, if it needs one."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_mocks.personas.approval.asking import always, never
from wireproof_mocks.personas.approval.page import serving
from wireproof_mocks.personas.approval.terminal import Terminal
from wireproof_mocks.personas.chatgpt_md import write_sample
from wireproof_mocks.personas.conversation import PersonaConversation
from wireproof_mocks.personas.persona import Wishes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from wireproof_mocks.personas.approval.asking import Ask
    from wireproof_mocks.personas.conversation import ConversationOutcome
    from wireproof_mocks.personas.endpoint import EndpointAddress
    from wireproof_mocks.personas.line import Print
    from wireproof_mocks.personas.persona import Persona


@dataclass(frozen=True, kw_only=True)
class PersonaRun:
    """What a run of a persona is asked to do."""

    approve: str = "terminal"
    """Who decides on calls: the user at the terminal or on a page, or no person: `always`, `never`."""
    vault: Path | None = None
    """The folder of notes; None: a sample is written, and removed at the end."""
    tools: bool = True
    """Whether the client's tools are switched on."""
    whole: bool = False
    """Whether whole answers are asked for instead of streams."""
    say: str = ""
    """What the user asks instead of the persona's own question; then a model is behind the proxy."""


def run(
    persona: Persona, endpoint: EndpointAddress, wanted: PersonaRun, print_: Print, console: Console
) -> ConversationOutcome:
    """Hold the persona's conversation.

    Raises:
        UnreachableError: nothing listens at the endpoint.
    """
    with ExitStack() as stack:
        vault = wanted.vault or write_sample(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        ask = stack.enter_context(_asking(wanted.approve, console))
        toolbox = persona.toolbox(Wishes(vault=vault, ask=ask, tools=wanted.tools), print_)
        return PersonaConversation(
            persona=persona, toolbox=toolbox, print=print_, whole=wanted.whole, say=wanted.say
        ).hold(endpoint)  # fmt: skip


@contextmanager
def _asking(approve: str, console: Console) -> Iterator[Ask]:
    match approve:
        case "page":
            with serving(lambda url: console.print(f"approve or cancel at {url}", soft_wrap=True)) as page:
                yield page
        case "terminal":
            yield Terminal(console=console, read=console.input)
        case _:
            yield always if approve == "always" else never
