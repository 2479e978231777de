"""The commands of the pages run, as they stand there, and print what the page shows.

Every fenced block of shell, and every session (`$ …`), is read from the page. Each of its commands is run, page by page
and in order, in a folder that has what the pages speak of; placeholders are filled in from `FILLED`. What `LONG` names
needs `--whole`, as the nightly run gives; what is not run stands in `NOT_RUN`, with the reason. So a new command
is run without a word here, or fails.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import httpx
import pytest
from live_endpoint import KEY, MODEL, serving
from live_goods import PLAIN
from saved_recordings import save

from wireproof.cli.root import root
from wireproof.targets.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.tests.conftest import Served

ROOT = Path(__file__).parents[3]
PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for page in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
    )
}
_BLOCK = re.compile(r"^( *)```(\S*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_SHELLS = {"sh", "bash", "shell", "console"}
_CONTINUED = re.compile(r"\\\n\s*")
_ENDS = {"|", "&&", ">", "&", ";"}
DEADLINE = 60.0
"""Seconds that a command may take; one that needs `--whole` may take ten times as long."""

FILLED: Mapping[str, str] = {
    r"https://(proxy\.example|api\.example\.com)/v1 --model \S+": f"{{live}} --model {MODEL}",
    r"https://api\.openai\.com/v1": "{endpoint}",
    r"(?<=--url )URL\b": "{endpoint} --api-key-env MY_KEY",
    # A server that would listen at the port of every other test.
    r"^(wireproof serve)(?!.*--port)": r"\1 --port 8787",
    r"^(wireproof record)": r"\1 --port 8788",
    r"^(?=wireproof-proxy|.* my-proxy$)": "PROXY_PORT=8787 ",
    r"(wireproof-cursor --port) 0": r"\1 40557",
    r"(?<==)(…|sk-…)": KEY,
}
"""What stands on a page for something of the reader's → what the test has in its place."""
NOT_RUN: Mapping[str, str] = {
    r"python -m pip install|python3\.11 -m venv": "changes the Python that runs it",
    r"python -m (tox|pytest) |\.ci/run": "is what runs this test",
    r"python tools/generate\.py|python -m wireproof_fuzz record": "writes into the checkout",
    r"codex login": "needs an account",
    r"claude ": "is run by conformance/clients",
    r"wireproof certify --gateway '(litellm|node|python login_here)": "is run by conformance/gateways",
    r"wireproof certify --gateway .*--login": "needs a gateway with a login",
}
"""The beginning of a command → why it is not run here."""
LONG = re.compile(
    r"wireproof (certify|client)( |$)|pytest --pyargs|python -m wireproof_crowd|python -c .from wireproof import"
)
"""What takes seconds: the night runs it, and so does a run with `--whole`."""
STATUS = {
    "node server.js": 4,
    "finish-twice": 1,
    "my-gateway": 4,
    "--upstream 8790": 4,
    "wireproof certify --": 4,
    "pytest --pyargs": 1,
    "wireproof report": 1,
    "wireproof diff": 1,
    "wireproof replay": 1,
    "wireproof persona": 1,
    "my_agent.py": 1,
}
"""What of a command says with which status it ends; others end with 0."""
_ASSIGNED = re.compile(r"^(\w+=(\$\([^)]*\)|\S+) )*")
SERVES = re.compile(
    _ASSIGNED.pattern
    + r"(wireproof (serve|record)|wireproof-proxy|wireproof-cursor|my-proxy|gunicorn|waitress-serve|flask)\b"
)
STANDS: Mapping[str, str] = {
    "docs/personas.md": "PROXY_OUTPUT_MODE=openai-json PROXY_PORT={port} "
    "python -m wireproof_mocks.miniatures tools-stripped-after-result",
    "docs/gateways.md": "OPENAI_BASE_URL=http://127.0.0.1:8790/v1 OPENAI_API_KEY=wireproof my-gateway --port {port}",
}
"""A page that speaks of a server which runs already → that server; elsewhere it is the bundled proxy."""
PROGRAMS: Mapping[str, str] = {
    "codex": 'exec wireproof-codex "$@"',
    "my-proxy": "PROXY_BACKEND=${CURSOR_BASE_URL:+cursor} CURSOR_TOKEN=any exec wireproof-proxy",
    "node": '[ "$1" = server.js ] && exec wireproof-proxy',
    "my-gateway": "up=${OPENAI_BASE_URL%/v1} key=$OPENAI_API_KEY\n"
    "UPSTREAM_HOST=${up#http://} UPSTREAM_KEY=$key GATEWAY_KEY=$key "
    f'exec python {shlex.quote(str(ROOT / "conformance/tests/targets/passthrough.py"))} "$2"',
}
"""Programs of the reader's."""
AGENT = (
    "import sys\nfrom wireproof_mocks.clients.__main__ import main\n"
    "sys.exit(main(['--stream', '--fault', 'half-answers-kept', *sys.argv[1:]]))\n"
)


@dataclass(frozen=True)
class Command:
    """A command of a page, and what the page shows of its output."""

    page: str
    text: str
    shown: str = ""

    @property
    def reason(self) -> str | None:
        """Why it is not run."""
        return next((why for what, why in NOT_RUN.items() if re.match(what, self.text)), None)


def commands(page: str, text: str) -> Iterator[Command]:
    """The commands of the blocks of a page, in their order."""
    for _, language, block in _BLOCK.findall(text):
        lines = _CONTINUED.sub(" ", block)
        if re.search(r"^\$ ", lines, re.MULTILINE):
            for session in re.split(r"^\$ ", lines, flags=re.MULTILINE)[1:]:
                command, _, shown = session.partition("\n")
                yield Command(page, command, shown)
        elif language in _SHELLS:
            yield from (Command(page, line) for line in lines.splitlines() if line.strip() and line.lstrip()[0] != "#")
        elif language == "python" and re.match("from |import ", block) and "def test_" not in block:
            # A program; those that are tests are run by conformance/recipes.
            yield Command(page, f"python -c {shlex.quote(block)}")


ALL = [command for page, text in PAGES.items() for command in commands(page, text)]


def wrong(line: str) -> str | None:
    """What a command line has that the command has not; None for a right one."""
    words = shlex.split(line, comments=True)[1:]
    words = words[: next((at for at, word in enumerate(words) if word in _ENDS), None)]
    command: click.Command = root
    context = click.Context(root, info_name="wireproof")
    try:
        while isinstance(command, click.Group):
            name = words.pop(0)
            inner = command.get_command(context, name)
            if inner is None:
                return f"there is no command {name}"
            command, context = inner, click.Context(inner, parent=context, info_name=name)
        values, _, _ = command.make_parser(context).parse_args(list(words))
        for parameter in command.params:
            value = values.get(parameter.name)
            if isinstance(parameter.type, click.Choice | click.IntRange) and value is not None:
                parameter.type_cast_value(context, value)
            if parameter.required and not value:
                return f"{parameter.name} is missing"
    except click.UsageError as error:
        return error.message
    return None


@pytest.mark.each("command", [one for one in ALL if one.text.startswith("wireproof ")], ids=lambda one: one.text)
def test_a_command_of_a_page_is_one(command: Command) -> None:
    assert wrong(command.text) is None, command.page


@pytest.mark.each(
    "line",
    [
        "wireproof certifies",
        "wireproof serve --prot 8787",
        "wireproof serve --workers many",
        "wireproof report result --format yaml",
        "wireproof record -o scripts.yaml",
    ],
)
def test_what_is_none_is_seen(line: str) -> None:
    assert wrong(line) is not None


@pytest.mark.each("command", [one for one in ALL if not one.reason], ids=lambda one: one.text)
def test_a_command_can_be_run_here_or_is_named(command: Command) -> None:
    word = _ASSIGNED.sub("", command.text).split()[0]
    known = shutil.which(word, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    assert known or word in {*PROGRAMS, "export"}, command.page


def test_what_is_not_run_stands_on_a_page() -> None:
    assert [what for what in NOT_RUN if not any(re.match(what, one.text) for one in ALL)] == []


# Running them

_PORT = re.compile(r"(127\.0\.0\.1:|PROXY_PORT=|--port |--upstream )(\d{4,5})\b")
_LISTENS = re.compile(r"(?:PROXY_PORT=|--port |--(?:bind|listen) 127\.0\.0\.1:)(\d+)")
RESULTS: Mapping[str, str] = {
    "lm-proxy": "DIR result",
    "llmock": "BEFORE A litellm@1.80 reference-result vendors/OpenRouter",
    "mocktopus": "AFTER B litellm@1.81 vendors/Groq",
    "fakeai": "C my-proxy@2.0",
}
"""A recording → the results of the reader's that are made of it."""


@dataclass
class Reader:
    """Somebody who types the commands of a page, one after the other, in a folder."""

    page: str
    folder: Path
    endpoint: str
    """Answers for what is not on this machine, by scripts."""
    live: str
    """The same, by a small model."""
    environment: dict[str, str]
    ports: dict[str, str] = field(default_factory=dict)
    """A port of the page → the one that is used."""
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    """By their port."""

    def types(self, command: Command) -> None:
        """Run a command, or start it where it is a server: it ends as it should, and prints what the page shows."""
        text = command.text
        for what, instead in FILLED.items():
            text = re.sub(what, instead.replace("{endpoint}", self.endpoint).replace("{live}", self.live), text)
        text = _PORT.sub(self._own_port, text)
        if text.startswith("export "):
            self.environment |= dict(word.split("=", 1) for word in shlex.split(text, comments=True)[1:])
        elif SERVES.match(text):
            self._serve(text, command.shown)
        else:
            for port in re.findall(r"http://127\.0\.0\.1:(\d+)", text):
                if port in self.ports.values() and port not in self.running:
                    self._serve(STANDS.get(self.page, "PROXY_PORT={port} wireproof-proxy").replace("{port}", port))
            self._run(command, text)

    def close(self) -> None:
        """End what still runs."""
        for port in [*self.running]:
            self._stop(port)

    def _own_port(self, found: re.Match[str]) -> str:
        if found[0] in self.endpoint + self.live or found[2] in self.ports.values():
            return found[0]
        if found[2] not in self.ports:
            self.ports[found[2]] = str(free_port())
        return found[1] + self.ports[found[2]]

    def _run(self, command: Command, text: str) -> None:
        done = subprocess.run(
            ["/bin/bash", "-c", text],
            cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, encoding="utf-8", timeout=DEADLINE * 10, check=False,
        )  # fmt: skip
        status = next((number for what, number in STATUS.items() if what in command.text), 0)
        assert done.returncode == status, f"{text}\n{done.stdout}"
        assert like(command.shown, done.stdout), f"{text}\n{done.stdout}\ninstead of\n{command.shown}"

    def _serve(self, text: str, shown: str = "") -> None:
        text = _PORT.sub(self._own_port, text)
        [port] = _LISTENS.findall(text)
        self._stop(port)
        said = self.folder / f"said-{port}"
        with said.open("wb") as output:
            self.running[port] = process = subprocess.Popen(
                ["/bin/bash", "-c", text],
                cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + DEADLINE
        while not (listens(port) and like(shown, said.read_text(encoding="utf-8"))):
            assert process.poll() is None, f"{text}\n{said.read_text()}"
            assert time.monotonic() < deadline, f"{text}\n{said.read_text()}\ninstead of\n{shown}"
            time.sleep(0.05)
        if "wireproof-cursor" not in text and "my-gateway" not in text:
            self._ask(port, text)

    def _ask(self, port: str, text: str) -> None:
        root, headers = f"http://127.0.0.1:{port}/v1", {"authorization": "Bearer wireproof"}
        with httpx.Client(trust_env=False, timeout=DEADLINE, headers=headers) as client:
            [model, *_] = client.get(f"{root}/models").json()["data"]
            body = {"model": model["id"], "messages": [{"role": "user", "content": "Hello there"}]}
            answer = client.post(f"{root}/chat/completions", json=body)
        assert answer.status_code == 200, f"{text}\n{answer.text}"

    def _stop(self, port: str) -> None:
        process = self.running.pop(port, None)
        if process and process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(DEADLINE)


def listens(port: str) -> bool:
    """Whether something answers at a loopback port."""
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", int(port))) == 0


def like(shown: str, said: str) -> bool:
    """Whether what a page shows was printed: numbers and ids may be others, `…` stands for anything."""
    pattern = ""
    for part in re.split(r"((?:^|\s*\n) *…\n|…|\s+|[0-9a-f]{8,}|[0-9]+)", shown.strip()):
        if part.endswith("…\n"):
            pattern += r"\s*(?:.*\n)*?"  # lines that are left out
        elif part == "…":
            pattern += ".*"
        elif part.isspace():
            pattern += r"\s+"  # pages break long lines
        else:
            pattern += r"[0-9a-f]+" if re.fullmatch(r"[0-9a-f]{8,}|[0-9]+", part) else re.escape(part)
    return re.search(pattern, said) is not None


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with saved results, by the name of their recording."""
    folder = tmp_path_factory.mktemp("results")
    for name in RESULTS:
        save(name, folder / name)
    return folder


@pytest.fixture(scope="module")
def live() -> Iterator[str]:
    """The base URL of an endpoint with a model that obeys."""
    with serving(PLAIN) as server:
        yield server.url(PLAIN.name)


@pytest.fixture
def reader(
    page: str, served: Served, live: str, results: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Reader]:
    """A reader of a page, with the programs, scripts and results that the pages speak of."""
    whole = request.config.getoption("whole")
    made = re.findall(r"--output (\S+)", PAGES[page]) if whole else []
    for name, folders in RESULTS.items():
        for folder in folders.split():
            if folder.partition("/")[0] not in made:
                # A copy: a result has the name of its folder.
                shutil.copytree(results / name, tmp_path / folder)
    for folder in ("bin", "more"):
        (tmp_path / folder).mkdir()
    for name, text in PROGRAMS.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "conformance").symlink_to(ROOT / "conformance")
    (tmp_path / "my_agent.py").write_text(AGENT)
    [scripts, *_] = re.findall(r"```yaml\n(scripts:.*?)```", PAGES["README.md"], re.DOTALL)
    if "-o scripts.yaml" not in PAGES[page]:
        (tmp_path / "scripts.yaml").write_text(scripts)
    [hello] = re.findall(r"<!-- run: scripts.yaml -->\n```yaml\n(.*?)```", PAGES["docs/testing.md"], re.DOTALL)
    (tmp_path / "more" / "hello.yaml").write_text(hello)
    for target in (ROOT / "examples" / "targets").glob("*.toml"):
        vendor = re.sub(r"(?m)^url = .*", f'url = "{live}"', target.read_text())
        vendor = re.sub(r"(?m)^model = .*", f'model = "{MODEL}"', vendor)
        (tmp_path / target.name).write_text(vendor)
    path = os.pathsep.join([str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": path, "HOME": str(tmp_path), "CODEX_BIN": "wireproof-codex", "COLUMNS": "200"}
    keys = {"OPENROUTER_API_KEY": KEY, "GROQ_API_KEY": KEY}
    one = Reader(page, tmp_path, served.base_url, live, {**os.environ, **own, **keys})
    yield one
    one.close()


@pytest.mark.each(
    ("shown", "said", "same"),
    [
        ("at 127.0.0.1:80, id 0123abcd9\n", "at 127.0.0.1:4711, id ffff0000a", True),
        ("a…c\n…\nend", "abbc\n1\n2\nend", True),
        ("…\nFAIL x", "one\ntwo\nFAIL x", True),
        ("a\n  …\nend", "a\nend", True),
        ("a\n\n…\n\nend", "a\n\nb\n\nend", True),
        ("a long\nline", "a long line", True),
        ("a\n…\nend", "a\nb", False),
        ("4 pass", "4 fail", False),
    ],
)
def test_what_a_page_shows_is_held_against_what_is_printed(shown: str, said: str, *, same: bool) -> None:
    assert like(shown, said) == same


@pytest.mark.sampled(2)
@pytest.mark.parametrize("page", sorted({one.page for one in ALL}))
def test_the_commands_of_a_page_run(page: str, reader: Reader, request: pytest.FixtureRequest) -> None:
    whole = request.config.getoption("whole")
    left = False
    for command in (one for one in ALL if one.page == page and not one.reason):
        if LONG.match(command.text) and not whole:
            left = True
        else:
            # What was left out would have made what is looked at now.
            reader.types(replace(command, shown="") if left else command)
