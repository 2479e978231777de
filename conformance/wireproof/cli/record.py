"""`wireproof record`: what a live endpoint answers, as scripts that `wireproof serve` plays again."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile

import click

from wireproof.cli.complaint import refusal, say
from wireproof.cli.listening import key_in, listening, port_option
from wireproof.report.grouping import counted
from wireproof.results import folder
from wireproof.targets.clients import check_environment
from wireproof.targets.kinds import OptionError
from wireproof.targets.validity import url_fault
from wireproof_endpoint import serving
from wireproof_endpoint.recording.app import Recorder


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
        (_check_folder if per_test else _check_file)(output, overwrite=overwrite)
    except OSError as error:
        raise refusal(f"{output} cannot be written: {folder.why(error)}") from error
    key = None if api_key_env is None else key_in(api_key_env)
    if fault := url_fault(upstream):
        raise refusal(f"--upstream: {upstream!r} is no base URL: {fault}; one is https://api.openai.com/v1")
    try:
        check_environment(upstream)
    except OptionError as error:
        raise refusal(f"--upstream: {error}") from error
    at = listening(port)
    recorder = Recorder(upstream, output, key=key, paced=timed, apart=per_test)
    serving.serve(recorder, at, lambda url: say(f"base URL  {url}\nrecords   {upstream}\ninto      {output}"))
    count = recorder.recorded
    say(
        f"{counted(count, 'answer')} recorded in {output}; to play: wireproof serve --scripts {output}"
        if count
        else "nothing was recorded"
    )


def _check_file(output: Path, *, overwrite: bool) -> None:
    if output.is_dir():
        raise refusal(f"{output} is a folder: name a file in it, or record with --per-test")
    if output.exists() and not overwrite:
        raise refusal(f"{output} exists; --overwrite replaces it")
    if not output.absolute().parent.is_dir():
        raise refusal(f"{output} cannot be written: there is no folder {output.parent}")
    _try(output.absolute().parent)


def _check_folder(output: Path, *, overwrite: bool) -> None:
    if output.exists() and not output.is_dir():
        raise refusal(f"{output} is no folder, which --per-test wants")
    if output.exists() and any(output.iterdir()) and not overwrite:
        raise refusal(f"{output} is not empty; --overwrite replaces the files of the tests that are recorded")
    if not output.absolute().parent.is_dir():
        raise refusal(f"{output} cannot be written: there is no folder {output.parent}")
    output.mkdir(exist_ok=True)
    _try(output)


def _try(there: Path) -> None:
    """Write to a folder, as each recording does beside its file; OSError: it cannot be done."""
    with TemporaryFile(dir=there) as file:
        file.write(b" ")
