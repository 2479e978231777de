"""Command line and environment of `wireproof-cursor`, the only place that reads them."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_LAST_PORT = 65_535


class CursorUsageError(Exception):
    """The command line cannot be followed; the text says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CursorMockSettings:
    """What one process was started with."""

    port: int = 0
    """The port on 127.0.0.1; any free one if it is 0."""
    scripts: Path | None = None
    """The file of the user's own scripts; None: those that Wireproof brings."""
    journal: Path | None = None
    """The file in which every message is noted; None: nowhere."""
    lenient: bool = False
    """Whether appends are taken as they come, whatever their numbers."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CursorUsageError(message)


def _parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="wireproof-cursor",
        description="A mock of Cursor's agent service that plays scripts. It prints its base URL, and serves until "
        "interrupted. A text holding [[wireproof:<script>#<nonce>]] chooses a script; without it a friendly default "
        "answers.",
    )
    parser.add_argument("--port", type=int, default=0, help="the port on 127.0.0.1; any free one if it is 0")
    parser.add_argument(
        "--scripts", "--script", type=Path, metavar="FILE", default=environment.get("WIREPROOF_SCRIPTS") or None,
        help="scripts of your own, YAML or JSON (environment: WIREPROOF_SCRIPTS)",
    )  # fmt: skip
    parser.add_argument(
        "--journal", type=Path, metavar="FILE", default=environment.get("WIREPROOF_JOURNAL") or None,
        help="write every message received and sent, one JSON object a line (environment: WIREPROOF_JOURNAL)",
    )  # fmt: skip
    parser.add_argument(
        "--lenient", action="store_true",
        help="take appends as they come, instead of by their numbers and each number once",
    )  # fmt: skip
    return parser


def read_settings(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> CursorMockSettings:
    """Settings from the command line (without the program's name), else the environment.

    Raises:
        CursorUsageError: the command line cannot be followed.
    """
    settings = CursorMockSettings(**vars(_parser(environment).parse_args(arguments)))
    if not 0 <= settings.port <= _LAST_PORT:
        raise CursorUsageError(f"--port: expected a port from 0 to {_LAST_PORT}, found {settings.port}")
    return settings
