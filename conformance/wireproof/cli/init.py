"""`wireproof init`: write a target file by asking the target what it is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wireproof.cli.arguments import with_options
from wireproof.cli.complaint import driving, refusal, say
from wireproof.cli.plan import USAGE_ERRORS
from wireproof.model.target import Backend, SurfaceState
from wireproof.model.verdict import HarnessError
from wireproof.results import folder
from wireproof.targets.kinds import Pair
from wireproof.targets.options import TargetOptions
from wireproof.targets.reach import reach
from wireproof.targets.target_file import NAME, OPTIONS, check_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.model.target import Target
    from wireproof.targets.option import Option

SCHEMA = "schemas/wireproof/target.json"
"""Where editors find what a target file may hold, in the source of Wireproof."""
OFFERED = ("keepalive", "idle-timeout", "body-limit", "slots", "absent", "known", "fail-on", "jobs")
"""Options that no answer shows: they stand in the file as comments, to be declared by a person."""


@click.command("init")
@click.option("--file", "path", default=NAME, show_default=True, type=click.Path(path_type=Path), help="File to write.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@with_options(TargetOptions)
def init_command(path: Path, *, force: bool, **values: object) -> None:
    """Write a target file for `wireproof certify --target`: what you say of the target, and what its answers show.

    Name the target with --url, --launch or --gateway; in a terminal you are asked for it.
    """
    _check(path, force=force)
    options = TargetOptions.from_values(values)
    if options.bundled:
        options = TargetOptions.from_values({**values, **_asked()})
    try:
        check_secrets(options)
        with driving(HarnessError), reach(options) as target:
            text = target_file(options, target)
        path.write_text(text, encoding="utf-8")
    except USAGE_ERRORS as error:
        raise refusal(error) from error
    except OSError as error:
        raise refusal(f"{path} cannot be written: {folder.why(error)}") from error
    say(f"{path} written; next: wireproof certify --target {path}")


def _check(path: Path, *, force: bool) -> None:
    try:
        there = path.exists()
    except OSError as error:
        raise refusal(f"{path} cannot be written: {folder.why(error)}") from error
    if there and not force:
        raise refusal(f"{path} exists; --force replaces it, --file names another")


def _asked() -> dict[str, str]:
    """The URL or the command of the target, from the person at the terminal."""
    if not sys.stdin.isatty():
        raise click.UsageError("name the target with --url, --launch or --gateway; here no terminal is there to ask at")
    said = click.prompt("Base URL of the proxy (http://…/v1), or the command that starts it").strip()
    return {"url" if said.startswith(("http://", "https://")) else "command": said}


def target_file(options: TargetOptions, target: Target) -> str:
    """The text of a target file: what was said of the target, and what was found out about it."""
    return "\n".join(_lines(options, target)) + "\n"


def _lines(options: TargetOptions, target: Target) -> Iterator[str]:
    said = {option.name: getattr(options, option.field) for option in TargetOptions.options()}
    given = {name: value for name, value in said.items() if value != OPTIONS[name].default}
    found = {name: value for name, value in _found(target).items() if name not in given}
    # Tables come last: what follows one belongs to it.
    tables = {name: value for name, value in given.items() if OPTIONS[name].kind.has_name}
    yield "# A target of Wireproof: `wireproof certify --target FILE`. Each key is an option of `wireproof certify`."
    yield f"#:schema {SCHEMA}"
    yield ""
    yield from (f"{name} = {_toml(value)}" for name, value in given.items() if name not in tables)
    yield ""
    yield "# What its answers show."
    yield from (f"# {line}" for line in _seen(target))
    yield from (f"{name} = {_toml(value)}" for name, value in found.items())
    yield ""
    yield "# What no answer shows: declare it, so that it is judged."
    yield from (_offer(OPTIONS[name]) for name in OFFERED if name not in given)
    for name, value in tables.items():
        yield ""
        yield f"[{name}]"
        yield from (f"{json.dumps(key)} = {_toml(one)}" for key, one in map(_pair, value))


def _found(target: Target) -> dict[str, object]:
    """The options that the target's answers give."""
    judged = tuple(one for one, report in target.surfaces.items() if report.state is SurfaceState.JUDGED)
    found = {"model": target.model, "surface": judged, "dialect": target.dialects, "arguments": target.arguments}
    return {name: value for name, value in found.items() if value}


def _seen(target: Target) -> Iterator[str]:
    behind = "a model" if target.backend is Backend.LIVE else f"the {target.backend} backend"
    yield f"Behind it: {behind}."
    for surface, report in target.surfaces.items():
        yield _comment(f"{surface}: {report.state}" + (f", {report.reason}" if report.reason else ""))
    for dialect, why in target.unspoken.items():
        yield _comment(f"{dialect}: {why}")


def _offer(option: Option) -> str:
    return f"# {option.name} = {option.kind.metavar}: {option.help}"


def _pair(value: object) -> tuple[str, str]:
    """The name and the value of an option that takes both."""
    if isinstance(value, Pair):
        return value.name, value.value
    name, _, said = str(value).partition("=")
    return name, said


def _comment(text: str) -> str:
    # What a target said may hold line ends and control characters, which no comment may.
    return "".join(one if one.isprintable() else " " for one in text)


def _toml(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    # A JSON text is a basic string of TOML, but for DEL, and for the halves of characters beyond 16 bits.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
