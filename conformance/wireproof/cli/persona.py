"""`wireproof persona`: an emulated client holds a whole conversation with a proxy, and says whether it was served.

The personas belong to the mocks.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from wireproof.cli.arguments import seconds, with_options
from wireproof.cli.complaint import driving, harmless
from wireproof.cli.console import console
from wireproof.model.dialect import MODE_HEADER
from wireproof.model.served import SERVED, SERVED_KEY
from wireproof.model.target import Target
from wireproof.model.verdict import HarnessError
from wireproof.results.certificate import ExitStatus
from wireproof.results.masking import masking
from wireproof.targets.clients import check_environment, with_remedy
from wireproof.targets.detection import NO_ROUTE
from wireproof.targets.kinds import OptionError
from wireproof.targets.launch import executable, launch
from wireproof.targets.options import TargetOptions
from wireproof.targets.validity import base_fault, usual_base
from wireproof_mocks.personas import PERSONAS
from wireproof_mocks.personas.answer import NotServedError
from wireproof_mocks.personas.endpoint import EndpointAddress, UnreachableError
from wireproof_mocks.personas.running import PersonaRun, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from wireproof_mocks.personas.conversation import ConversationOutcome
    from wireproof_mocks.personas.line import Line
    from wireproof_mocks.personas.persona import Persona

APPROVALS = ("terminal", "page", "always", "never")
"""Who decides on the calls of a persona that asks: the user, at the terminal or on a page; or always yes, or no."""
STYLES = {"sent": "cyan", "understood": "green", "tool": "yellow", "log": "dim", "notice": "magenta"}
PERSONA_STATUSES = (
    "\b\nExit status:\n  0    served\n  1    not served\n  2    wrong usage\n  3    not reached\n  130  interrupted"
)
"""The end of the help of `wireproof persona`."""


@click.command("persona", epilog=PERSONA_STATUSES)
@click.argument("name", required=False)
@click.option("--list", "as_list", is_flag=True, help="List the personas.")
@with_options(TargetOptions, fields=("url", "model", "api_key_env", "header"))
@click.option(
    "--approve",
    type=click.Choice(APPROVALS),
    default=APPROVALS[0],
    show_default=True,
    help="Who decides whether a call may see the vault: you, here or on a page for your browser; or always yes, or no.",
)
@click.option(
    "--vault",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of notes for the personas of ChatGPT MD. If omitted, a sample.",
)
@click.option("--no-tools", is_flag=True, help="Switch the tools of chatgpt-md off.")
@click.option("--whole", is_flag=True, help="Ask for whole answers instead of streams.")
@click.option(
    "--say",
    default="",
    metavar="TEXT",
    help="Ask this instead of the persona's question, which the mock answers by a script; for a model.",
)
@click.option("--timeout", type=seconds(0.1), default=120.0, show_default=True, help="Longest silence.")
def persona_command(  # noqa: PLR0913 (one for each option)
    name: str | None,
    *,
    as_list: bool,
    approve: str,
    vault: Path | None,
    no_tools: bool,
    whole: bool,
    say: str,
    timeout: float,
    **target: object,
) -> None:
    """Hold a whole conversation as a known client does, and say whether the proxy served it.

    Without --url, start the proxy that comes with Wireproof.
    """
    if as_list or name is None:
        list_personas(console())
        raise SystemExit(ExitStatus.CERTIFIED if as_list else ExitStatus.USAGE)
    try:
        given = TargetOptions.from_values(target)
        address = _address(given, timeout)
        wanted = PersonaRun(approve=approve, vault=vault, tools=not no_tools, whole=whole, say=say)
        client = _known(name, wanted)
    except OptionError as error:
        raise click.UsageError(harmless(str(error))) from error
    with driving(HarnessError):
        raise SystemExit(_hold(client, address, wanted, console(), bundled=given.url is None))


def _hold(client: Persona, address: EndpointAddress, wanted: PersonaRun, out: Console, *, bundled: bool) -> ExitStatus:
    """Hold the conversation, print it, and say how it ended.

    Raises:
        HarnessError: the proxy cannot be reached, or the bundled one not be started.
    """
    clean = _cleaning(address)

    def show(line: Line) -> None:
        out.print(Text.assemble((f"{line.kind:<11}", STYLES[line.kind]), clean(line.text)), soft_wrap=True)

    try:
        with _bundled(client, address) if bundled else _named(address) as endpoint:
            at = clean(f"at {endpoint.url}, model {endpoint.model}")
            out.print(Text(f"{client.title}\n{client.does}\n{at}\n"), soft_wrap=True)
            outcome = run(client, endpoint, wanted, show, out)
    except (HarnessError, UnreachableError) as error:
        raise HarnessError(clean(with_remedy(str(error)))) from error
    return _end(out, client, replace(outcome, why=clean(outcome.why)), scripted=not wanted.say)


def _cleaning(address: EndpointAddress) -> Callable[[str], str]:
    """What takes secrets from a text, and whatever would steer a terminal: a proxy may say both."""
    own = Target(base_url=address.url, model="", api_key=address.key or None, headers=tuple(address.headers.items()))
    mask = masking(own)
    return lambda text: harmless(mask.text(text))


def list_personas(out: Console) -> None:
    """Print the name of every persona, which client it is, and what it does."""
    for one in PERSONAS.values():
        out.print(Text.assemble((f"{one.name}\n", "bold"), f"  {one.title}: {one.does}"), soft_wrap=True)


def _address(given: TargetOptions, timeout: float) -> EndpointAddress:
    if given.url is not None and (fault := base_fault(given.url)):
        raise OptionError(f"{given.url!r} {fault}")
    if given.url is not None:
        check_environment(given.url)
    headers = dict(given.carried()["headers"])
    return EndpointAddress(
        url=given.url or "", model=given.model, key=given.api_key() or "", headers=headers, timeout=timeout
    )


def _known(name: str, wanted: PersonaRun) -> Persona:
    found = PERSONAS.get(name)
    if found is None:
        raise OptionError(f"there is no persona {name!r}; there are {', '.join(PERSONAS)}")
    if not wanted.tools and not found.without_tools:
        raise OptionError(f"the tools of {name} cannot be switched off; chatgpt-md has such a switch")
    if wanted.vault is not None and not found.vault:
        raise OptionError(f"{name} has no vault; those of ChatGPT MD have")
    return found


@contextmanager
def _bundled(client: Persona, address: EndpointAddress) -> Iterator[EndpointAddress]:
    settings = {**SERVED, "PROXY_API_KEY": SERVED_KEY, "PROXY_HOST": "127.0.0.1"}
    with launch([executable("wireproof-proxy")], env=settings, without="PROXY_") as proxy:
        # The bundled proxy speaks every dialect; a client's user sets up a proxy for the one that it needs.
        headers = {MODE_HEADER: client.mode, **address.headers}
        yield replace(address, url=proxy.base_url, model=address.model or "codex", key=SERVED_KEY, headers=headers)


@contextmanager
def _named(address: EndpointAddress) -> Iterator[EndpointAddress]:
    yield replace(address, model=address.model or _first_model(address))


def _first_model(address: EndpointAddress) -> str:
    try:
        with address.connected() as endpoint:
            return str(endpoint.models()["data"][0]["id"])
    except UnreachableError as error:
        raise HarnessError(str(error)) from error
    except (NotServedError, LookupError, TypeError) as error:
        # Of an answer with an error, the status is enough to say which option is missing.
        seen = str(error).partition(": ")[0] if isinstance(error, NotServedError) else "no list of models"
        base = usual_base(address.url) if seen in {f"HTTP {status}" for status in NO_ROUTE} else ""
        hint = f" did you mean {base}? Else" if base else ""
        raise HarnessError(
            f"{address.url.rstrip('/')}/models: {seen};{hint} name a model with --model, and a key with --api-key-env"
        ) from None


def _end(out: Console, client: Persona, outcome: ConversationOutcome, *, scripted: bool) -> ExitStatus:
    verdict = Text.assemble(("\nserved", "bold green") if outcome.served else ("\nnot served", "bold red"))
    out.print(Text.assemble(verdict, f": {client.name}: {outcome.why}"), soft_wrap=True)
    if not outcome.served and scripted and "the model" in outcome.why:
        out.print(
            "(The question is answered by a script of the mock. If a model is behind this proxy, use --say.)",
            soft_wrap=True,
        )
    return ExitStatus.CERTIFIED if outcome.served else ExitStatus.FAILED
