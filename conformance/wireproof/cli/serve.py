"""`wireproof serve`: the scripted endpoint, for the development of clients and as the upstream of gateways.

What it serves is no part of the suite; its page shows what the suite says of the client that asks.
"""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.arguments import Measure
from wireproof.cli.complaint import complain, refusal, say
from wireproof.cli.listening import key_in, listening, port_option
from wireproof.model.served import SERVED_KEY, UNKNOWN_MODEL
from wireproof_endpoint import serving
from wireproof_endpoint.journal.entry import Bounds
from wireproof_endpoint.journal.lines import LineFile
from wireproof_endpoint.journal.ring import Journal
from wireproof_endpoint.scripts import reported, scripts_of
from wireproof_endpoint.service.latency import FORMS, TimeError, times
from wireproof_endpoint.settings import EndpointSettings, UnsendableError
from wireproof_scripts.files.errors import ScriptError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_endpoint.endpoint import Scripts
    from wireproof_endpoint.journal.entry import JournalEntry

BOUNDS = Bounds(body=2**18, sent=2**16, pieces=2000)
"""How much of a request is kept: the whole conversation of an agent, so that what it sends can be judged. Of an answer
less is: many may be under way at once."""


def _time(_context: click.Context, _option: click.Parameter, text: str) -> str:
    """The text, if it describes times."""
    try:
        if text:
            times(text)
    except TimeError as error:
        raise click.BadParameter(str(error)) from error
    return text


@click.command("serve")
@port_option(8787)
@click.option(
    "--api-key",
    help="The API key that clients must send; without it any key does, or none. Every user of the machine sees it among"
    " the processes, so it is no secret: for one there is --api-key-env.",
)
@click.option("--api-key-env", metavar="VAR", help="Environment variable that holds the key, which is not printed.")
@click.option(
    "--model",
    "models",
    multiple=True,
    help="A model to serve, and no other; repeatable. Without it any name does.",
)
@click.option(
    "--scripts",
    "--script",
    multiple=True,
    type=click.Path(path_type=Path),
    help="YAML or JSON file with scripts of your own, or a folder of them; repeatable.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Processes that serve. Gates, nonces and stored responses belong to one of them each.",
)
@click.option(
    "--journal",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to which each request and its answer is appended as a line of JSON, keys masked.",
)
@click.option("--ttft", default="", metavar="TIME", callback=_time, help="To the first output: " + FORMS + ".")
@click.option("--itl", default="", metavar="TIME", callback=_time, help="Between two pieces of text, likewise.")
@click.option(
    "--jitter",
    type=Measure(0, 1),
    default=0.0,
    help="By how much of itself each of these times may be longer or shorter, from 0 to 1.",
)
@click.option("--rpm", type=click.IntRange(1), help="Requests a minute that each key may send; then a 429.")
@click.option("--tpm", type=click.IntRange(1), help="Tokens a minute, likewise; estimated from the request.")
@click.option(
    "--chaos",
    type=Measure(0, 1),
    default=0.0,
    help="Share of the requests that fail: 429, 500, 503, a connection that is closed or reset.",
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Another one gives other times and other failures.")
@click.option(
    "--login-instructions",
    is_flag=True,
    help="Below /backend-api/codex refuse what has no instructions, as the service behind ChatGPT did until June 2026.",
)
@click.option(
    "--threads/--no-threads",
    default=True,
    help="Hold threads of messages, which is the default, or refuse them, so that clients send whole histories.",
)
@click.option(
    "--prefill/--no-prefill",
    default=True,
    help="Take a last message of the assistant as the beginning of the answer, which is the default, or refuse it, as"
    " models from 4.6 on do.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the address as one line of JSON, for a program that starts this."
)
def serve_command(  # noqa: PLR0913 - one for each option
    port: int,
    api_key: str | None,
    api_key_env: str | None,
    models: tuple[str, ...],
    scripts: tuple[Path, ...],
    workers: int,
    journal: Path | None,
    *,
    as_json: bool,
    **service: Any,  # noqa: ANN401 - each is the setting of its name
) -> None:
    """Serve an endpoint to develop a client with, or as the upstream of a gateway.

    It answers as scripts say, chosen by your text; without one it echoes, and calls tools where you ask for that.
    """
    if api_key_env is not None:
        if api_key is not None:
            raise refusal("--api-key and --api-key-env both name the key; leave one of them out")
        api_key = key_in(api_key_env)
    if models:
        service |= {"models": models, "any_model": False}
    try:
        settings = EndpointSettings(api_key=api_key, unknown_models=(UNKNOWN_MODEL,), **service)
    except UnsendableError as error:
        raise refusal(error) from error
    library = _checked(scripts)
    noted = _journal(settings.journal, journal)
    at = listening(port)
    endpoint = serving.endpoint_of(settings, library, noted)
    introduce = _line if as_json else _introduction
    serving.serve(endpoint, at, lambda url: say(introduce(url, settings, api_key_env)), workers=workers)
    # Of several workers each knows its own requests alone.
    unchosen = endpoint.answerer.unchosen() if workers == 1 else ()
    if unchosen:
        complain(f"no request chose {', '.join(unchosen)}")


def _journal(limit: int, path: Path | None) -> Journal:
    try:
        made = Journal(limit, BOUNDS, ended=None if path is None else LineFile(path))
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        raise refusal(f"the journal {path} cannot be written: {reason}") from error
    made.judge = _judged
    return made


def _judged(entries: Sequence[JournalEntry]) -> Sequence[Mapping[str, Any]]:
    """What the client did wrong, for the page that shows the journal."""
    from wireproof.clients.passive import as_json  # noqa: PLC0415 (what judges takes its time, and few look)

    return as_json(entries)


def _checked(paths: tuple[Path, ...]) -> Scripts:
    """The scripts of the files and of the library; the files are read once here, to report an error at once."""
    scripts = scripts_of(*paths)
    found = scripts()
    if isinstance(found, ScriptError):
        raise refusal(found)
    # Only from now on: what is wrong at the start is printed once, as the error of the command.
    return reported(scripts)


def _introduction(url: str, settings: EndpointSettings, variable: str | None) -> str:
    key, model = settings.api_key or SERVED_KEY, settings.models[0]
    # A key out of a variable is not shown: the shell knows it by that name, too.
    shown = f"${variable}" if variable else key
    header = f'"Authorization: Bearer {shown}"' if variable else shlex.quote(f"Authorization: Bearer {key}")
    others = {"key": settings.api_key is None, "model": settings.any_model}
    free = " and any ".join(name for name, any_of_it in others.items() if any_of_it)
    return (
        f"base URL  {url}\nkey       {shown}\nmodel     {model}\ntry       {_curl(url, header, model)}\n"
        f"requests  {_page(url)}\n\n"
        "Answers: an echo; a call of a declared tool when your text asks for it. Ctrl-C stops.\n"
        "An upstream for gateways, too: chat, Responses, Messages"
        f"{f', any {free}' if free else ''}; see docs/gateways.md."
    )


def _line(url: str, settings: EndpointSettings, variable: str | None) -> str:
    # Whoever set the variable knows the key.
    known = {"api_key_env": variable} if variable else {"api_key": settings.api_key or SERVED_KEY}
    return json.dumps({"base_url": url, **known, "model": settings.models[0], "requests": _page(url)})


def _page(url: str) -> str:
    """Where the journal is shown."""
    return f"{url.removesuffix('/v1')}/_wireproof/"


def _curl(url: str, header: str, model: str) -> str:
    """A line for a shell; `header` is quoted for it."""
    hello = json.dumps({"model": model, "stream": True, "messages": [{"role": "user", "content": "Hello!"}]})
    address = shlex.join(["curl", "-N", f"{url}/chat/completions"])
    return f"{address} -H {header} {shlex.join(['-H', 'Content-Type: application/json', '-d', hello])}"
