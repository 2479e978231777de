"""`wireproof replay`: the requests of a saved scenario, sent again or written as commands."""

from __future__ import annotations

import asyncio
import dataclasses
from difflib import unified_diff
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from wireproof.cli.arguments import FOLDER, seconds
from wireproof.cli.complaint import refusal
from wireproof.cli.saved import saved, transcripts
from wireproof.driving.replaying import replay
from wireproof.model.target import Target
from wireproof.model.transcript import End
from wireproof.report.curl import curl
from wireproof.report.rendering import document
from wireproof.results.certificate import ExitStatus
from wireproof.results.masking import masking
from wireproof.targets.clients import check_environment
from wireproof.targets.kinds import OptionError
from wireproof.targets.options import TargetOptions
from wireproof.targets.validity import check
from wireproof.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from wireproof.model.scenario import Form
    from wireproof.model.transcript import Transcript
    from wireproof.reading.exchange import Exchange

SHOWN = 1000
"""Lines of a difference that are printed."""


@click.command("replay")
@FOLDER
@click.argument("scenario")
@click.option("--url", metavar="URL", help="Base URL to send to, if it is not that of the saved run.")
@click.option("--api-key-env", metavar="VAR", help="Environment variable that holds the API key.")
@click.option("--curl", "as_curl", is_flag=True, help="Print the requests as curl commands, and send nothing.")
@click.option("--timeout", type=seconds(0.01), default=10.0, show_default=True, help="How long to wait.")
def replay_command(
    folder_: Path, scenario: str, url: str | None, api_key_env: str | None, timeout: float, *, as_curl: bool
) -> None:
    """Send the requests of a saved scenario again, and print what differs in the answers.

    Exit status 0 if nothing does, 1 if something does, 3 if nothing answers. A proxy that `wireproof certify` started
    has ended with it: start it again, and name its address with --url.
    """
    there = transcripts(saved(folder_))
    run = next((run for run in there.runs if run.scenario.name == scenario), None)
    if run is None or not any(run.exchanges.values()):
        why = "is not in it" if run is None else "was not driven"
        raise refusal(f"{folder_}: the scenario {scenario} {why}")
    if as_curl:
        for form, those in run.exchanges.items():
            click.echo(f"# {form}")
            click.echo("\n".join(visible(curl(one.transcript, there.target, key=api_key_env)) for one in those))
        return
    try:
        options = TargetOptions(url=url or there.target.base_url, api_key_env=api_key_env)
        check(options)
        check_environment(options.url or there.target.base_url)
        secrets = _secrets(there.target, options.api_key())
    except OptionError as error:
        raise refusal(error) from error
    changed = [_replayed(form, those, there.target, options, secrets, timeout) for form, those in run.exchanges.items()]
    raise SystemExit(ExitStatus.FAILED if any(changed) else ExitStatus.CERTIFIED)


def _secrets(target: Target, key: str | None) -> dict[str, str]:
    """What stands for the key in saved requests → the key; a request with a part of it is sent with a part, too."""
    if target.api_key is None:
        return {}
    if key is None:
        raise OptionError("the target was sent a key, which no result holds; name its variable with --api-key-env")
    return {target.api_key: key, target.api_key[:-1]: key[:-1]}


def _replayed(
    form: Form,
    those: Sequence[Exchange],
    target: Target,
    options: TargetOptions,
    secrets: Mapping[str, str],
    timeout: float,
) -> bool:
    """Send one form of a scenario again and print what differs; returns whether anything does."""
    urls = (target.base_url, (options.url or target.base_url).rstrip("/"))
    # The target may say the key that it was sent.
    mask = masking(Target(base_url=urls[1], model="", api_key=options.api_key()))
    # What went to a spare instance may go to the one that is there.
    sent = [dataclasses.replace(one.transcript, url=target.at_first(one.transcript.url)) for one in those]
    _check_hosts(sent, urls)
    came = asyncio.run(replay(sent, secrets=secrets, urls=urls, silence=timeout))
    if came[0].end is End.REFUSED and sent[0].end is not End.REFUSED:
        # Not a difference of each line of the answer: there is nothing to compare.
        click.echo(
            f"wireproof: nothing answers at {mask.text(urls[1])}; start the proxy, and name its address with --url",
            err=True,
        )
        raise SystemExit(ExitStatus.UNREACHABLE)
    there = dataclasses.replace(target, base_url=urls[1])
    again = [dataclasses.replace(one, transcript=new, target=there) for one, new in zip(those, came, strict=True)]
    # Not ndiff, which looks for likeness within lines: of what a target may send that takes hours.
    there_and_now = unified_diff(document(those).splitlines(), document(again).splitlines(), n=0, lineterm="")
    lines = [f"{line[0]} {line[1:]}" for line in islice(there_and_now, 2, None) if line[0] in "-+"]
    ends = ", ".join(
        f"{f'HTTP {one.status}' if one.status else 'no answer'}, {one.end}, {one.seconds:.2f} s" for one in came
    )
    click.echo(f"{form}: {'differs' if lines else 'the same'} ({ends})")
    for line in lines[:SHOWN]:
        click.echo(f"  {visible(mask.text(line))}")
    if len(lines) > SHOWN:
        click.echo(f"  … and {len(lines) - SHOWN} more lines")
    return bool(lines)


def _check_hosts(sent: Sequence[Transcript], urls: tuple[str, str]) -> None:
    """End the command where a request went to another host than the target's: it would get the key."""
    for one in sent:
        if urlsplit(one.url.replace(urls[0], urls[1], 1)).hostname != urlsplit(urls[1]).hostname:
            raise refusal(f"a saved request went to {visible(one.url)}, which is not the target; none is sent again")
