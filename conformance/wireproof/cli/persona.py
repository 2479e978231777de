"""`wireproof persona`: an emulated client holds a whole conversation with a proxy, and says whether it was served.

The personas belong to the mocks. They are imported when one is run: what they need (a server, templates) is not needed
to certify, and would make every start of the command line slower.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx
from rich.text import Text

from wireproof.model.dialect import MODE_HEADER
from wireproof.model.served import SERVED_KEY
from wireproof.model.verdict import HarnessError
from wireproof.results.certificate import Exit
from wireproof.targets.address import check_url, is_local
from wireproof.targets.kinds import OptionError
from wireproof.targets.launch import executable, launch
from wireproof.targets.serving import SERVED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rich.console import Console

    from wireproof_mocks.personas.conversation import Outcome
    from wireproof_mocks.personas.endpoint import Endpoint
    from wireproof_mocks.personas.line import Line
    from wireproof_mocks.personas.persona import Persona

APPROVALS = ("terminal", "page", "always", "never")
"""Who decides on the calls of a persona that asks: the user, at the terminal or on a page, or nobody."""
STYLES = {"sent": "cyan", "understood": "green", "tool": "yellow", "log": "dim", "notice": "magenta"}
_SUCCESS = 200


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the command line asks for."""

    name: str
    url: str | None
    """The base URL; None: the bundled proxy is started."""
    model: str = ""
    key: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    approve: str = "terminal"
    vault: Path | None = None
    tools: bool = True
    whole: bool = False
    say: str = ""
    timeout: float = 120.0


def persona(asked: Asked, console: Console) -> Exit:
    """Hold the conversation, print it, and say how it ended.

    Raises:
        OptionError: there is no such persona, or what is asked for does not fit it.
        HarnessError: the proxy cannot be reached, or the bundled one not be started.
    """
    from wireproof_mocks.personas.endpoint import UnreachableError  # noqa: PLC0415 (see the head)
    from wireproof_mocks.personas.running import Run, run  # noqa: PLC0415 (see the head)

    client = _known(asked)
    with _endpoint(asked, client) as endpoint:
        console.print(
            Text(f"{client.title}\n{client.does}\nat {endpoint.url}, model {endpoint.model}\n"), soft_wrap=True
        )
        wanted = Run(
            approve=asked.approve, vault=asked.vault, tools=asked.tools, whole=asked.whole, say=asked.say
        )  # fmt: skip
        try:
            outcome = run(client, endpoint, wanted, lambda line: _print(console, line), console)
        except UnreachableError as error:
            raise HarnessError(str(error)) from error
    return _end(console, client, outcome, scripted=not asked.say)


def list_personas(console: Console) -> None:
    """Print the name of every persona, which client it is, and what it does."""
    from wireproof_mocks.personas import PERSONAS  # noqa: PLC0415 (see the head)

    for one in PERSONAS.values():
        console.print(Text.assemble((f"{one.name}\n", "bold"), f"  {one.title}: {one.does}"), soft_wrap=True)


def _known(asked: Asked) -> Persona:
    from wireproof_mocks.personas import PERSONAS  # noqa: PLC0415 (see the head)

    found = PERSONAS.get(asked.name)
    if found is None:
        raise OptionError(f"there is no persona {asked.name!r}; there are {', '.join(PERSONAS)}")
    if not asked.tools and not found.without_tools:
        raise OptionError(f"the tools of {asked.name} cannot be switched off; chatgpt-md has such a switch")
    if asked.vault is not None and not found.vault:
        raise OptionError(f"{asked.name} has no vault; those of ChatGPT MD have")
    return found


@contextmanager
def _endpoint(asked: Asked, client: Persona) -> Iterator[Endpoint]:
    from wireproof_mocks.personas.endpoint import Endpoint  # noqa: PLC0415 (see the head)

    if asked.url is not None:
        check_url(asked.url)
        model = asked.model or _first_model(asked)
        yield Endpoint(url=asked.url, model=model, key=asked.key, headers=asked.headers, timeout=asked.timeout)
        return
    settings = {**SERVED, "PROXY_API_KEY": SERVED_KEY, "PROXY_HOST": "127.0.0.1"}
    with launch(executable("wireproof-proxy"), env=settings, without="PROXY_") as proxy:
        # The bundled proxy speaks every dialect; a client's user sets up a proxy for the one that it needs.
        headers = {MODE_HEADER: client.mode, **asked.headers}
        yield Endpoint(
            url=proxy.base_url, model=asked.model or "codex", key=SERVED_KEY, headers=headers, timeout=asked.timeout
        )


def _first_model(asked: Asked) -> str:
    own = {"authorization": f"Bearer {asked.key}"} if asked.key else {}
    url = f"{str(asked.url).rstrip('/')}/models"
    try:
        with httpx.Client(timeout=asked.timeout, trust_env=not is_local(url)) as client:
            answer = client.get(url, headers={**own, **asked.headers})
    except httpx.TransportError as error:
        raise HarnessError(f"{url} cannot be reached: {error}") from error
    try:
        return str(answer.json()["data"][0]["id"])
    except (ValueError, LookupError, TypeError):
        seen = f"HTTP {answer.status_code}" if answer.status_code != _SUCCESS else "no list of models"
        raise HarnessError(
            f"{url} answered with {seen}; name a model with --model, and a key with --api-key-env"
        ) from None


def _print(console: Console, line: Line) -> None:
    console.print(Text.assemble((f"{line.kind:<11}", STYLES[line.kind]), line.text), soft_wrap=True)


def _end(console: Console, client: Persona, outcome: Outcome, *, scripted: bool) -> Exit:
    verdict = Text.assemble(("\nserved", "bold green") if outcome.served else ("\nnot served", "bold red"))
    console.print(Text.assemble(verdict, f": {client.name}: {outcome.why}"), soft_wrap=True)
    if not outcome.served and scripted and "the model" in outcome.why:
        console.print(
            "(The question is answered by a script of the mock. If a model is behind this proxy, use --say.)",
            soft_wrap=True,
        )
    return Exit.CERTIFIED if outcome.served else Exit.FAILED
