"""Rubbish as the value of each argument and option: it is refused in a line, or taken; none of it ends in a traceback.

The commands and their options are those that there are, so a new one is tried, too.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click
import pytest
from commands import wireproof

from wireproof.cli.root import root
from wireproof.results.certificate import ExitStatus
from wireproof_endpoint import serving

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

pytestmark = pytest.mark.sampled(12)

NOWHERE = "http://127.0.0.1:9/v1"
"""An address at which nothing listens."""
RUBBISH = (
    "", " ", "'", '"x', "{", "{port}", "http://", "http://[::1", "http://h:99999/v1", "http://h/v1?a=b",
    "\x1b[2J\u202e", "\udcff", "a\nb", "x" * 5000, "9" * 5000, "-1", "0", "nan", "1e999", "\u00b2", "=", "a=b", "a={",
    "/", ".", "..", "/dev/null", "/dev/full", "nowhere/x", "binary", "pipe", "circle", "folder", "null.json",
)  # fmt: skip
BESIDE: Mapping[str, Sequence[str]] = {
    "certify": ("--url", NOWHERE),
    "init": ("--url", NOWHERE),
    "persona": ("chatgpt-md", "--url", NOWHERE, "--say", "Hello."),
    "record": ("--upstream", NOWHERE, "-o", "recorded.yaml"),
    "serve": ("--port", "0"),
    "client": ("--only", "client-text", "--", "true"),
    "replay": ("result", "text-hello", "--url", NOWHERE),
    "judge": ("result",),
    "report": ("result",),
    "known-failing write": ("result",),
    "compare": ("result", "result"),
    "diff": ("result", "result"),
    "site": ("result", "-o", "site"),
    "certificate write": ("result", "-o", "written"),
}
"""What each command needs beside an option."""
PLACES: Mapping[str, int] = {"client command": 3, "replay scenario": 1, "diff after": 1}
"""Which of those words an argument stands for, where it is not the first."""


def _commands(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        within = click.Context(command)
        for each in command.list_commands(within):
            found = command.get_command(within, each)
            assert found is not None
            yield from _commands(found, f"{name} {each}".strip())
    else:
        yield name, command


VALUES = [
    pytest.param(name, one, id=f"{name} {one.opts[0]}")
    for name, command in _commands(root)
    for one in command.params
    if not getattr(one, "is_flag", False)
]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small result."""
    there = tmp_path_factory.mktemp("results") / "result"
    assert wireproof("certify", "--only", "text-hello", "--allow-partial", "--output", there).exit_code == 0
    return there


@pytest.fixture
def here(result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a result and with what is no file of ours, as the working directory."""
    (tmp_path / "result").symlink_to(result)
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "report.json").write_text("{}")
    (tmp_path / "null.json").write_text("null")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(serving, "serve", _introduced)
    return tmp_path


def _introduced(_app: object, at: socket.socket, introduce: Callable[[str], object], **_: Any) -> None:
    """Serve nothing: what a command that could serve says of itself is enough."""
    at.close()
    introduce(NOWHERE)


def _words(command: str, one: click.Parameter, value: str) -> list[str]:
    """A command line with this value."""
    given = [*BESIDE.get(command, ())]
    if isinstance(one, click.Argument):
        given = given or [""]
        given[PLACES.get(f"{command} {one.name}", 0)] = value
        return [*command.split(), *given]
    option = one.opts[0]
    if option in given:
        del given[given.index(option) : given.index(option) + 2]
    return [*command.split(), *([f"{option}={value}"] if option.startswith("--") else [option, value]), *given]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("command", "one"), VALUES)
def test_it_is_taken_or_refused_in_a_line(command: str, one: click.Parameter) -> None:
    for value in RUBBISH:
        words = _words(command, one, value)
        done = wireproof(*words)
        assert done.exception is None or isinstance(done.exception, SystemExit), (words, done.exception)
        assert done.exit_code in {*ExitStatus}, (words, done.output)
        assert "report this" not in done.output, (words, done.output)
        assert "\x1b[2J" not in done.output, words
        assert "\u202e" not in done.output, words
