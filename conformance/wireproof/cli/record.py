"""`wireproof record`: what a live endpoint answers, as scripts that `wireproof serve` plays again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wireproof.cli.complaint import complain
from wireproof.cli.listening import PortError, listening, port_option
from wireproof_endpoint import serving
from wireproof_endpoint.recording.app import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable

USAGE = 2
"""The exit status of what cannot be recorded as it is asked for, as of every command."""


@click.command("record")
@click.option("--upstream", required=True, help="Base URL of the live endpoint, as https://api.openai.com/v1.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="File that the scripts are written to, after each answer: YAML, or JSON if its name ends so.",
)
@click.option("--overwrite", is_flag=True, help="Replace the file, if there is one.")
@port_option(8788)
@click.option(
    "--api-key-env",
    help="Environment variable with the key for the upstream. Without it the client's own key is passed on.",
)
@click.option("--timed", "--pacing", "timed", is_flag=True, help="Record times, too: the silences of answers.")
@click.option(
    "--per-test",
    is_flag=True,
    help="The output is a folder, with a file for each test: of its name in the header x-wireproof-test, or in the base"
    " URL, /tests/NAME/v1.",
)
def record_command(
    upstream: str, output: Path, port: int, api_key_env: str | None, *, overwrite: bool, timed: bool, per_test: bool
) -> None:
    """Record the answers of a live endpoint as scripts, chat and Responses, until Ctrl-C.

    Point a client at the base URL that is printed, and use it. Keys are passed on, and never written.
    """
    try:
        record(
            upstream=upstream,
            output=_folder(output, overwrite=overwrite) if per_test else _free(output, overwrite=overwrite),
            port=port,
            key=_key(api_key_env),
            paced=timed,
            apart=per_test,
            say=click.echo,
        )
    except UnrecordableError as error:
        complain(error)
        raise SystemExit(USAGE) from error


class UnrecordableError(Exception):
    """It cannot be recorded; the text says why."""


def _free(output: Path, *, overwrite: bool) -> Path:
    if output.is_dir():
        raise UnrecordableError(f"{output} is a folder: name a file in it, or record with --per-test")
    if output.exists() and not overwrite:
        raise UnrecordableError(f"{output} exists; --overwrite replaces it")
    if not output.absolute().parent.is_dir():
        raise UnrecordableError(f"{output} cannot be written: there is no folder {output.parent}")
    return output


def _folder(output: Path, *, overwrite: bool) -> Path:
    if output.exists() and not output.is_dir():
        raise UnrecordableError(f"{output} is no folder, which --per-test wants")
    if output.exists() and any(output.iterdir()) and not overwrite:
        raise UnrecordableError(f"{output} is not empty; --overwrite replaces the files of the tests that are recorded")
    if not output.absolute().parent.is_dir():
        raise UnrecordableError(f"{output} cannot be written: there is no folder {output.parent}")
    output.mkdir(exist_ok=True)
    return output


def _key(name: str | None) -> str | None:
    if name is None:
        return None
    key = os.environ.get(name)
    if not key:
        raise UnrecordableError(f"the environment variable {name} is not set, which --api-key-env names")
    return key


def record(
    *,
    upstream: str,
    output: Path,
    port: int,
    key: str | None,
    paced: bool,
    say: Callable[[str], object],
    apart: bool = False,
) -> None:
    """Record until SIGINT, SIGTERM or SIGHUP.

    Raises:
        UnrecordableError: the upstream is no URL, or the port is taken.
    """
    if not upstream.startswith(("http://", "https://")):
        raise UnrecordableError(f"--upstream must be a URL that begins with http:// or https://, not {upstream!r}")
    try:
        at = listening(port)
    except PortError as error:
        raise UnrecordableError(str(error)) from error
    recorder = Recorder(upstream, output, key=key, paced=paced, apart=apart)
    serving.serve(recorder, at, lambda url: say(f"base URL  {url}\nrecords   {upstream}\ninto      {output}"))
    count = recorder.recorded
    say(
        f"{count} answers are in {output}; play them: wireproof serve --scripts {output}"
        if count
        else "nothing was asked"
    )
