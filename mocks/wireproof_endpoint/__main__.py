"""`python -m wireproof_endpoint`: an endpoint with every setting as an option, for tests and benchmarks."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_endpoint.scripts import reported, scripts_of
from wireproof_endpoint.serving import endpoint_of, listen, serve
from wireproof_endpoint.settings import EndpointSettings, UnsendableError
from wireproof_scripts.files.regular import content_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_DEFAULTS = EndpointSettings()
LONGEST_KEY = 1 << 16
"""Bytes that the file of a key may have; no head of a request could hold more."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m wireproof_endpoint", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--scripts", type=Path, action="append", default=[])
    parser.add_argument("--workers", type=int, default=1, help="processes that serve at the port")
    parser.add_argument("--api-key-file", type=Path, help="file with the key: a command line is shown to every user")
    for field in fields(EndpointSettings):
        parser.add_argument(
            f"--{field.name.replace('_', '-')}", type=_reader(getattr(_DEFAULTS, field.name), field.name)
        )
    given = vars(parser.parse_args(arguments))
    workers = given.pop("workers")
    key_file: Path | None = given.pop("api_key_file")
    if key_file is not None:
        given["api_key"] = _key_in(key_file, parser)
    at, scripts = listen(given.pop("host"), given.pop("port")), reported(scripts_of(*given.pop("scripts")))
    try:
        settings = EndpointSettings(**{name: value for name, value in given.items() if value is not None})
    except UnsendableError as error:
        parser.error(str(error))
    serve(endpoint_of(settings, scripts), at, _say, workers)
    return 0


def _key_in(file: Path, parser: argparse.ArgumentParser) -> str:
    try:
        return content_of(file, LONGEST_KEY).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        parser.error(f"the key in {file} cannot be read: {error}")


def _say(url: str) -> None:
    print(f"wireproof-endpoint listening on {url}", flush=True)  # noqa: T201 - whoever started it waits for this


def _reader(default: object, name: str) -> Callable[[str], object]:
    match default:
        case bool():
            return lambda text: text == "true"
        case tuple():
            return lambda text: tuple(filter(None, text.split(",")))
        case int() | float():
            return type(default)
        case None if name in {"max_streams", "rpm", "tpm"}:
            return int
        case _:
            return str


if __name__ == "__main__":
    sys.exit(main())
