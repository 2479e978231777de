"""`assay serve`: the reference proxy with the scripted mock behind it, for the development of clients and gateways."""

from __future__ import annotations

import os
import shlex
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from assay.model.verdict import HarnessError
from assay.targets.interrupts import terminable
from assay.targets.launch import executable, started
from assay.targets.options import OptionError
from assay.targets.serving import HOST, SERVED, must_be_free
from assay_scripts.files.errors import ScriptError
from assay_scripts.files.read import load_scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

HELLO = '{"model": "codex", "stream": true, "messages": [{"role": "user", "content": "Hello!"}]}'


def serve(*, port: int, api_key: str, scripts: Path | None, say: Callable[[str], object]) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP, then stop the proxy and all its children.

    Raises:
        OptionError: the scripts cannot be read, or the port is taken.
        HarnessError: the proxy cannot be started, or ended by itself.
    """
    env = {
        **os.environ,
        "CODEX_BIN": executable("assay-codex"),
        "PROXY_HOST": HOST,
        "PROXY_PORT": str(port),
        "PROXY_API_KEY": api_key,
        **SERVED,
        **_checked(scripts),
    }
    # Asked here as well, because the proxy's own message would name its variable and not --port.
    _must_be_free(port)
    # Ctrl-C is how a person ends this: no error.
    with suppress(KeyboardInterrupt), terminable(), started(lambda: _start(env)) as process:
        _watch(process, api_key, say)


def _start(env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [executable("assay-proxy")],
        # Its address is read from stdout; stderr stays the terminal's, so that a person sees what the proxy logs.
        env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def _checked(scripts: Path | None) -> dict[str, str]:
    """The setting that names the user's scripts to the mock; they are read once here, to report an error at once."""
    if scripts is None:
        return {}
    try:
        load_scripts(scripts)
    except ScriptError as error:
        raise OptionError(str(error)) from error
    return {"ASSAY_SCRIPTS": str(scripts.resolve())}  # the mock may run in another folder


def _must_be_free(port: int) -> None:
    try:
        must_be_free(port)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise OptionError(f"port {port} cannot be used: {reason}; name another with --port") from error


def _watch(process: subprocess.Popen[bytes], api_key: str, say: Callable[[str], object]) -> None:
    """Wait for the line in which the proxy prints its address, print it for the user, and stay until it ends."""
    ready = process.stdout.readline().decode() if process.stdout else ""
    if ready:
        # With port 0 only this line says which one it is.
        url = ready.split()[-1]
        say(
            f"base URL  {url}\nkey       {api_key}\nmodel     codex\ntry       {_curl(url, api_key)}\n\n"
            "Answers: an echo; a call of a declared tool when your text asks for it. Ctrl-C stops.\n"
            "An upstream for gateways, too: chat, Responses, any model name; see docs/gateways.md."
        )
    when = "" if ready else " before it was ready"
    # It never ends by itself as long as all is well; a person's Ctrl-C interrupts the wait.
    raise HarnessError(f"the proxy ended with status {process.wait()}{when} (its own output above may say why)")


def _curl(url: str, api_key: str) -> str:
    arguments = ["-H", f"Authorization: Bearer {api_key}", "-H", "Content-Type: application/json", "-d", HELLO]
    return shlex.join(["curl", "-N", f"{url}/chat/completions", *arguments])
