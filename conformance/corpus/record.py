"""Record the corpus: install an endpoint, start it on loopback, drive the suite at it, keep what was sent and answered.

    python conformance/corpus/record.py NAME... [--results FOLDER]

`endpoints.toml` says what they are. They are installed into a folder that is kept between recordings (--folder)
and thrown away with it; they run without a network but loopback, so that none of them reaches a service, a telemetry or
a model of its own. What is recorded is judged by `conformance/tests/corpus/test_corpus.py`.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import tomllib
from contextlib import ExitStack, chdir
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wireproof.cli.plan import plan
from wireproof.model.dialect import Surface
from wireproof.model.served import SERVED_KEY
from wireproof.results import archive
from wireproof.scenarios import SCENARIOS
from wireproof.targets.gateway import fill, variables
from wireproof.targets.kinds import header
from wireproof.targets.launch import launch
from wireproof.targets.options import RunOptions, TargetOptions
from wireproof.targets.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.results.certificate import Certificate

HERE = Path(__file__).resolve().parent
RECORDED = HERE.parent / "tests" / "corpus"
KEY = "CORPUS_KEY"
"""The variable that holds an endpoint's key."""
QUIET = {
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "NO_PROXY": "127.0.0.1,localhost",
}
"""What keeps endpoints from looking for services that they would not find."""
START = 120.0
"""Seconds that an endpoint may take to start; some import half of PyPI."""

LARGE = frozenset({
    "auth-before-size", "call-large", "many-steps", "text-long", "tool-loop", "untouched-large", "untouched-results",
})  # fmt: skip
"""Scenarios that are left out of what is sent to gateways, since their bodies would be most of a recording."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An entry of `endpoints.toml`, whose head says what the fields mean."""

    name: str
    what: str
    command: str
    model: str
    pypi: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    overrides: Mapping[str, str] = field(default_factory=dict)
    python: str = ""
    config: str = ""
    env: tuple[str, ...] = ()
    url: str = "http://127.0.0.1:{port}/v1"
    gateway: bool = False
    headers: tuple[str, ...] = ()
    key: str = ""
    surface: tuple[str, ...] = ()
    timeout: float = 10.0

    @property
    def title(self) -> str:
        """Its name, and the version of the first of its packages."""
        first = (*self.pypi, *self.npm)[0]
        return f"{self.name}@{re.split('==|@', first)[-1]}"

    @classmethod
    def of(cls, name: str, entry: dict[str, Any]) -> Endpoint:
        """An endpoint of an entry of the file."""
        unknown = entry.keys() - {one.name for one in fields(cls)}
        if unknown:
            raise SystemExit(f"endpoints.toml: {name} has unknown fields: {', '.join(sorted(unknown))}")
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()
        }
        return cls(name=name, **values)


def main() -> None:
    """Record the endpoints that are named."""
    known = {
        name: Endpoint.of(name, entry) for name, entry in tomllib.loads((HERE / "endpoints.toml").read_text()).items()
    }
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="+", choices=known, metavar="NAME", help=", ".join(known))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "wireproof-corpus")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--only", action="append", default=[], help="a scenario, for a look; nothing is kept then")
    parser.add_argument("--results", type=Path, help="write results there, NAME@VERSION each, and record nothing")
    parser.add_argument("--installed", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not given.installed:
        for name in given.names:
            install(known[name], given.folder / name)
        # A network of its own, with loopback alone: what is installed is not trusted to stay at home.
        alone = ["unshare", "--map-root-user", "--net", sys.executable, *sys.argv, "--installed"]
        raise SystemExit(subprocess.run(alone, check=False).returncode)
    loopback_up()
    for name in given.names:
        output = given.results.resolve() / known[name].title if given.results else None
        certificate = drive(known[name], given.folder / name, jobs=given.jobs, only=tuple(given.only), output=output)
        show(certificate)
        if not given.only and output is None:
            archive.save(RECORDED / f"{name}.gz", certificate.target, certificate.runs)


def install(endpoint: Endpoint, folder: Path) -> None:
    """Install the packages of an endpoint, unless they are there."""
    overrides = json.dumps({"overrides": dict(endpoint.overrides)})
    wanted = "\n".join((*endpoint.pypi, *endpoint.npm, endpoint.python, overrides))
    mark = folder / "installed"
    if mark.exists() and mark.read_text() == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if endpoint.pypi:
        run(endpoint.python or sys.executable, "-m", "venv", folder / "venv")
        run(folder / "venv/bin/python", "-m", "pip", "install", "--quiet", *endpoint.pypi)
    if endpoint.npm:
        (folder / "package.json").write_text(overrides)
        run("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, *endpoint.npm)
    mark.write_text(wanted)


def run(*words: str | Path) -> None:
    """Run a command that must succeed."""
    subprocess.run(list(map(str, words)), check=True)


def loopback_up() -> None:
    """Switch on the loopback interface of a new network namespace, as `ip link set lo up` does."""
    set_flags, up = 0x8914, 0x1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh14x", b"lo", up))


def drive(
    endpoint: Endpoint, folder: Path, *, jobs: int, only: tuple[str, ...], output: Path | None = None
) -> Certificate:
    """Start an endpoint and run the suite at it; a result that is written is of all scenarios, also of the large."""
    os.environ |= QUIET | {KEY: endpoint.key}
    port = free_port()
    values = {
        "{bin}": str(folder / ("venv/bin" if endpoint.pypi else "node_modules/.bin")),
        "{folder}": str(folder),
        "{corpus}": str(HERE),
        "{upstream_url}": f"http://127.0.0.1:{port}/v1",
        "{upstream_port}": str(port),
        "{upstream_key}": SERVED_KEY,
    }
    options: dict[str, Any] = {
        "model": endpoint.model,
        "api_key_env": KEY if endpoint.key else None,
        "header": tuple(header(fill(one, values)) for one in endpoint.headers),
        "timeout": endpoint.timeout,
        "wanted": tuple(map(Surface, endpoint.surface)),
        "start_timeout": START,
    }
    with ExitStack() as stack:
        # Some write logs and caches where they are started.
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(chdir(scratch))
        own = str(free_port())
        values |= {"{port}": own}
        if endpoint.config:
            file = scratch / endpoint.config
            file.write_text(fill((HERE / "config" / endpoint.config).read_text(), values))
            values["{config}"] = str(file)
        started = launch(
            fill(endpoint.command, values),
            env=variables(endpoint.env, values),
            url=fill(endpoint.url, values),
            timeout=START,
            below=600,
        )
        options["url"] = stack.enter_context(started).base_url
        options |= {"upstream": port} if endpoint.gateway else {}
        # A model's service is sent the scenarios for models whatever is selected here, if nothing is.
        small = tuple(one.name for one in SCENARIOS if one.name not in LARGE) if endpoint.gateway and not output else ()
        # What these endpoints send costs nothing; a gateway's run has no bound of its own.
        bounds: dict[str, Any] = {} if endpoint.gateway else {"max_requests": 300, "max_tokens": 200_000, "yes": True}
        planned = plan(TargetOptions(**options), RunOptions(jobs=jobs, only=only or small, output=output, **bounds))
        certificate = planned.certify()
        planned.write(certificate)
        return certificate


def show(certificate: Certificate) -> None:
    """Print what was found, as a start for `findings.toml`."""
    target = certificate.target
    print(
        target.backend,
        {surface.value: report.state.value for surface, report in target.surfaces.items()},
        f"{certificate.seconds:.0f} s",
    )
    print({verdict.value: count for verdict, count in certificate.counts.items()})


if __name__ == "__main__":
    main()
